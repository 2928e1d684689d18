/**
 * Why an OpenAPI document cannot be used, and where in it. `OpenApi.make` and `OpenApi.layer` fail with it; operations that cannot
 * become tools do not fail, they are skipped.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The document, or a part of it, cannot become tools.
 *
 * @category errors
 */
export class OpenApiError extends Data.TaggedError("OpenApiError")<{
  /** The JSON pointer of the part: `/paths/~1pets/get/parameters/0`. Empty for the document itself. */
  readonly pointer: string
  /** What is wrong with the part, as the end of a sentence whose subject is the part. */
  readonly problem: string
}> {
  override get message(): string {
    return `The OpenAPI document${this.pointer === "" ? "" : `, at "${this.pointer}",`} ${this.problem}`
  }
}
