/**
 * The message of an error, for a model. `ToolCodec` takes the message of a declared failure from here, and package `openapi` takes the
 * message of an error of an `HttpApi`.
 */

/**
 * The message that the author of an error gave it; `undefined` when there is none. Where the author gave none, Effect writes `{ "field":
 * value }`.
 */
export const of = (failure: unknown): string | undefined =>
  failure instanceof Error && failure.message.trim() !== "" && !/^\{ .* \}$/s.test(failure.message)
    ? failure.message
    : undefined
