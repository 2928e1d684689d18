/**
 * The message of an error for a model: `ToolCodec` writes the message of a declared failure, and package `openapi` the message of an error of
 * an `HttpApi`.
 */

/** The message that the author of an error gave it. Effect writes `{ "field": value }` where there is none. */
export const of = (failure: unknown): string | undefined =>
  failure instanceof Error && failure.message.trim() !== "" && !/^\{ .* \}$/s.test(failure.message)
    ? failure.message
    : undefined
