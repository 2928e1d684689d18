/**
 * A request to the API that failed: in words for the model, and for the log. The error holds the whole request, with the
 * credentials of the application and what a user wrote, and loggers write every member of an error: the log has neither.
 */
import type { HttpClientError } from "@effect/platform/HttpClientError"

export const toModel = (error: HttpClientError): string =>
  error._tag === "RequestError" && error.reason === "Transport"
    ? "The API could not be reached."
    : error._tag === "RequestError"
    ? NOT_SENT
    : "The answer of the API could not be read."

export const NOT_SENT = "The request to the API could not be sent."

export const toLog = ({ _tag, cause, reason }: HttpClientError): string =>
  [`${_tag} (${reason})`, causes(cause, MAX_CAUSES).join(", ")].filter((text) => text !== "").join(": ")

const MAX_CAUSES = 5

/** The outermost first. */
const causes = (cause: unknown, left: number): ReadonlyArray<string> => {
  if (left === 0 || !(cause instanceof Error)) return []
  // Errors with a code tell of connections. Others quote their input: `fetch` does so with an invalid header.
  const isCoded = "code" in cause && typeof cause.code === "string"
  return [isCoded ? `${cause.name}: ${cause.message}` : cause.name, ...causes(cause.cause, left - 1)]
}
