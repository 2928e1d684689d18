/**
 * Content-Type, as far as a client looks at it: the type itself, whatever its parameters and its case. What is made of a
 * body of that type is not known here.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category constants
 */
export const JSON = "application/json"

/**
 * @since 0.1.0
 * @category constants
 */
export const EVENTS = "text/event-stream"

/**
 * The type that a Content-Type names; empty when there is none.
 *
 * @since 0.1.0
 * @category parsing
 */
export const of = (contentType: string | undefined): string => {
  // What nearly every server says.
  if (contentType === JSON || contentType === EVENTS) return contentType
  const semicolon = contentType?.indexOf(";") ?? -1
  return (semicolon === -1 ? contentType ?? "" : contentType!.slice(0, semicolon)).trim().toLowerCase()
}
