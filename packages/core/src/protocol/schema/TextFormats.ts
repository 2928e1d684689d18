/**
 * Strings whose format the specification names (URIs, URI templates, base64), for the schemas of `protocol`, such as `Resources`,
 * `Content`, `Completion` and `Roots`. The format is not checked, because a peer may send anything; the schemas document the format and
 * generate test data that has the format.
 */
import * as Schema from "effect/Schema"

/** As in RFC 3986. */
export const Uri: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) =>
    fc.tuple(fc.constantFrom("file:///notes/", "https://example.com/", "notes://"), fc.nat(), fc.nat(9)).map(
      ([base, n, m]) => `${base}${n}?page=${m}`
    )
})

/** As in RFC 6570. */
export const UriTemplate: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.tuple(fc.nat(), fc.nat(9)).map(([n, m]) => `notes://${n}/{id}{?page${m}}`)
})

/** As in RFC 4648. */
export const Base64: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.base64String({ maxLength: 32 })
})
