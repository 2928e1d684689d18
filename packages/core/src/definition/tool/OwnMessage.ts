/**
 * Finds the message of an error, for a model. `ToolCodec` takes the message of a declared failure from this module, and package `openapi`
 * takes the message of an error of an `HttpApi`.
 */

/**
 * Returns the message that the author of an error wrote; `undefined` when there is none. For an error without a message of its author,
 * Effect writes `{ "field": value }`, which does not count as a message.
 */
export const of = (failure: unknown): string | undefined =>
  failure instanceof Error && failure.message.trim() !== "" && !/^\{ .* \}$/s.test(failure.message)
    ? failure.message
    : undefined
