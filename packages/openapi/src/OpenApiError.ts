/**
 * The error of an OpenAPI document that cannot be used. It names the place in the document. `OpenApi.make` and `OpenApi.layer` fail with
 * this error. For a single operation that cannot become a tool they do not fail: `OpenApi` skips this operation.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The document, or a part of the document, cannot be read.
 *
 * @category errors
 */
export class OpenApiError extends Data.TaggedError("OpenApiError")<{
  /** The JSON pointer of the part, for example `/paths/~1pets/get/parameters/0`. "" for the document itself. */
  readonly pointer: string
  /** What is wrong with the part. The text completes a sentence whose subject is the part. */
  readonly problem: string
}> {
  override get message(): string {
    return `The OpenAPI document${this.pointer === "" ? "" : `, at "${this.pointer}",`} ${this.problem}`
  }
}
