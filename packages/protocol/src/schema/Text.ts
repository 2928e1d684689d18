/**
 * Strings whose form the specification names: addresses, templates of addresses, base64. They stay the strings they are
 * on the wire, and their form is not checked here: a peer may put anything into them. The schemas tell the kinds apart for
 * whoever reads them, and give test data of the right form.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An address, as in RFC 3986.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Uri: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) =>
    fc.tuple(fc.constantFrom("file:///notes/", "https://example.com/", "notes://"), fc.nat(), fc.nat(9)).map(
      ([base, n, m]) => `${base}${n}?page=${m}`
    )
})

/**
 * A template of addresses, as in RFC 6570.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UriTemplate: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.tuple(fc.nat(), fc.nat(9)).map(([n, m]) => `notes://${n}/{id}{?page${m}}`)
})

/**
 * Bytes, as in RFC 4648.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Base64: Schema.Schema<string> = Schema.String.annotations({
  arbitrary: () => (fc) => fc.base64String({ maxLength: 32 })
})
