/**
 * The media type in a Content-Type header, without its parameters and in lower case. What a body of that type means is
 * decided by the modules that read bodies.
 */

export const JSON = "application/json"

export const EVENTS = "text/event-stream"

/** The media type that a Content-Type names; empty when there is none. */
export const of = (contentType: string | undefined): string => {
  // Nearly every server sends exactly one of these.
  if (contentType === JSON || contentType === EVENTS) return contentType
  const semicolon = contentType?.indexOf(";") ?? -1
  return (semicolon === -1 ? contentType ?? "" : contentType!.slice(0, semicolon)).trim().toLowerCase()
}
