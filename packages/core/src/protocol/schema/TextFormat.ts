/**
 * Checks whether a text has one of the formats that a field of a form may require: an email address, a URI, a date, a date with time.
 * `rules/ElicitationForm` checks forms with this module, `definition/schema/SchemaFormat` checks the formats of JSON Schema, and
 * `definition/Resource`, `server/Ask` and `server/runtime/HandlerOutcome` check URIs. The checks find typing mistakes. The time of a check
 * grows at most linearly with the length of the text. The checks do not prove that an address exists.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3
 */

export type TextFormat = "email" | "uri" | "date" | "date-time"

const blank = /[\s\p{Cc}]/u
const domain = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/

const isEmail = (text: string): boolean => {
  const at = text.lastIndexOf("@")
  return text.length <= 254 && at > 0 && at <= 64 && !blank.test(text) && domain.test(text.slice(at + 1))
}

const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]+$/
const brokenEscape = /%(?![0-9A-Fa-f]{2})/

const isUri = (text: string): boolean => uri.test(text) && !brokenEscape.test(text)

const date = /^(\d{4})-(\d{2})-(\d{2})$/

const isDate = (text: string): boolean => {
  const found = date.exec(text)
  if (found === null) return false
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
}

const daysOf = (year: number, month: number): number =>
  month === 2
    ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
    : [4, 6, 9, 11].includes(month)
    ? 30
    : 31

const time = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

const isDateTime = (text: string): boolean => {
  const found = time.exec(text.slice(11))
  if (found === null || !/[Tt ]/.test(text.charAt(10)) || !isDate(text.slice(0, 10))) return false
  const [hour, minute, second, zoneHour = 0, zoneMinute = 0] = found.slice(1).map((n) => Number(n ?? 0))
  return hour! <= 23 && minute! <= 59 && second! <= 60 && zoneHour <= 23 && zoneMinute <= 59
}

const checks: Record<TextFormat, (text: string) => boolean> = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  "date-time": isDateTime
}

export const matches = (format: TextFormat, text: string): boolean => checks[format](text)
