/**
 * Contains the error of an OpenAPI document that cannot be used. The error names the wrong part of the document. `OpenApi.make` and
 * `OpenApi.layer` fail with this error when the whole document cannot be used. When only one operation cannot be used, they skip this
 * operation and do not fail.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The error of a document, or of a part of a document, that cannot be read.
 *
 * @category errors
 */
export class OpenApiError extends Data.TaggedError("OpenApiError")<{
  /** The JSON pointer of the part, for example `/paths/~1pets/get/parameters/0`. The pointer of the document itself is "". */
  readonly pointer: string
  /** A text that says what is wrong with the part. The text completes a sentence that begins with the name of the part. */
  readonly problem: string
}> {
  override get message(): string {
    return `The OpenAPI document${this.pointer === "" ? "" : `, at "${this.pointer}",`} ${this.problem}`
  }
}
