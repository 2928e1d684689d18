/**
 * Schemas of strings for which the specification names a format: URIs, URI templates, base64. Other modules of `protocol` use these
 * schemas, such as `Resources`, `Content`, `Completion` and `Roots`. The schemas do not check the format, because a peer may send any text.
 * They document the format and generate test data in that format.
 */
import * as Schema from "effect/Schema"

/** A URI of RFC 3986. */
export const Uri: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) =>
    fc.tuple(fc.constantFrom("file:///notes/", "https://example.com/", "notes://"), fc.nat(), fc.nat(9)).map(
      ([base, n, m]) => `${base}${n}?page=${m}`
    )
})

/** A URI template of RFC 6570. */
export const UriTemplate: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.tuple(fc.nat(), fc.nat(9)).map(([n, m]) => `notes://${n}/{id}{?page${m}}`)
})

/** Base64 text of RFC 4648. */
export const Base64: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.base64String({ maxLength: 32 })
})
