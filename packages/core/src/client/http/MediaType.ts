/**
 * The media type in a Content-Type header, without parameters and in lower case, and the charset among the parameters. `ResponseBody`
 * decodes a text by its charset. The modules that read bodies, such as `legacy/Post` and `modern/Http`, decide what to do with a body of a
 * media type.
 */

export const JSON = "application/json"

export const EVENTS = "text/event-stream"

/** Returns the media type that a Content-Type header names; the empty string when there is none. */
export const of = (contentType: string | undefined): string => {
  // Nearly every server sends exactly one of these two values.
  if (contentType === JSON || contentType === EVENTS) return contentType
  const semicolon = contentType?.indexOf(";") ?? -1
  return (semicolon === -1 ? contentType ?? "" : contentType!.slice(0, semicolon)).trim().toLowerCase()
}

/** Returns the charset that a Content-Type header names, at most 40 characters. `undefined` when it names no charset, or UTF-8. */
export const charsetOf = (contentType: string | undefined): string | undefined => {
  if (contentType === undefined || !contentType.includes(";")) return undefined
  const charset = /;\s*charset\s*=\s*"?([^\s";,]{1,40})/i.exec(contentType)?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset
}
