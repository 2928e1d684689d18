/**
 * Tells whether a text has one of the formats of JSON Schema, for the keyword `format` (`SchemaKeywords`) of tools whose schema the
 * application has written. Each check takes time linear in the text. A check reads only the text, so it does not tell whether an email
 * address exists, for example.
 *
 * An unknown format is not checked. `idn-hostname` is not checked either, because its rules need tables of Unicode.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3
 */
import * as Either from "effect/Either"
import * as TextFormat from "../../protocol/schema/TextFormat.js"

type Matches = (text: string) => boolean

const hostname = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i
const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const scheme = /^[a-z][a-z\d+.-]*:/i
const period =
  /^P(?!$)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?!$)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const pointer = /^(?:\/(?:[^~/]|~[01])*)*$/
const relativePointer = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/
const name = String.raw`(?:\w|%[\da-f]{2})+(?:\.(?:\w|%[\da-f]{2})+)*(?::[1-9]\d{0,3}|\*)?`
const template = new RegExp(
  String.raw`^(?:[^\s"%<>\\^${"`"}{|}\p{Cc}]|%[\da-f]{2}|\{[+#./;?&=,!@|]?${name}(?:,${name})*\})*$`,
  "iu"
)

const isDateTime: Matches = (text) => !text.includes(" ") && TextFormat.matches("date-time", text) && isRealSecond(text)

/** Whether the second exists. Only the last second of a day in UTC can be a leap second. */
const isRealSecond: Matches = (text) => {
  const [, hour, minute, second, sign, zoneHour = "0", zoneMinute = "0"] =
    /(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text) ?? []
  const offset = (sign === "-" ? -1 : 1) * (60 * Number(zoneHour) + Number(zoneMinute))
  return Number(second) < 60 || (60 * Number(hour) + Number(minute) - offset + 1440) % 1440 === 1439
}

const isEmail: Matches = (text) => {
  const domain = text.slice(text.lastIndexOf("@") + 1)
  const local = text.slice(0, -domain.length - 1)
  return text.length <= 320 &&
    (/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(local) ||
      /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u.test(local)) &&
    (hostname.test(domain) || isAddress(domain))
}

/** Whether a text is an IP address in brackets, in place of a domain. */
const isAddress: Matches = (domain) => {
  const [, ipv6, other = ""] = /^\[(IPv6:)?([^\]]*)\]$/i.exec(domain) ?? []
  return ipv6 === undefined ? ipv4.test(other) : isIpv6(other)
}

const isIpv6: Matches = (text) => /^[\da-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]`)

/** Makes the check of a reference. `others` are the allowed characters outside of ASCII. */
const referenceOf = (others: string): Matches => {
  const character = String.raw`[\w\-.~!$&'()*+,;=${others}]|%[\da-f]{2}`
  const authority = String
    .raw`(?:(?:${character}|:)*@)?(?:\[(v[\da-f]+\.(?:[\w\-.~!$&'()*+,;=:])+|[\da-f:.]+)\]|(?:${character})*)(?::\d*)?`
  const expression = new RegExp(
    // Without an authority the path does not begin with two slashes; without a scheme its first segment has no colon.
    String.raw`^(?:[a-z][a-z\d+.-]*:|(?![^/?#]*:))(?:\/\/${authority}(?=[/?#]|$)|(?!\/\/))` +
      String.raw`(?:${character}|[:@/])*(?:\?(?:${character}|[:@/?])*)?(?:#(?:${character}|[:@/?])*)?$`,
    "iu"
  )
  return (text) => {
    const found = expression.exec(text)
    return found !== null && (found[1] === undefined || /^v/i.test(found[1]) || isIpv6(found[1]))
  }
}

const isUriReference = referenceOf("")
const isIriReference = referenceOf(String.raw`\u{A0}-\u{10FFFD}`)

const checks: Readonly<Record<string, Matches>> = {
  date: (text) => TextFormat.matches("date", text),
  time: (text) => isDateTime(`2000-01-01T${text}`),
  "date-time": isDateTime,
  duration: (text) => period.test(text),
  email: isEmail,
  "idn-email": (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => hostname.test(text),
  ipv4: (text) => ipv4.test(text),
  ipv6: isIpv6,
  uri: (text) => scheme.test(text) && isUriReference(text),
  "uri-reference": isUriReference,
  iri: (text) => scheme.test(text) && isIriReference(text),
  "iri-reference": isIriReference,
  "uri-template": (text) => template.test(text),
  uuid: (text) => uuid.test(text),
  "json-pointer": (text) => pointer.test(text),
  "relative-json-pointer": (text) => relativePointer.test(text),
  regex: (text) => Either.isRight(Either.try(() => new RegExp(text, "u")))
}

/** Returns the check of a format; `undefined` for a format that is not checked. */
export const find = (format: string): Matches | undefined => Object.hasOwn(checks, format) ? checks[format] : undefined
