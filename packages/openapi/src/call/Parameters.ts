/**
 * Writes the values of parameters as text, in the styles of OpenAPI, for `Request`. This module percent-encodes values in a path, a query
 * or a cookie. So a "/" in the value of a path parameter does not begin a new segment, and an "&" in the value of a query parameter does
 * not begin a new parameter.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html#style-values
 */
import * as ForeignJson from "../document/ForeignJson.js"
import type { Parameter } from "../document/Operations.js"

/** Percent-encodes a text. First replaces lone surrogates, which a model may write and which cannot be encoded. */
export const encode = (text: string): string =>
  encodeURIComponent(ForeignJson.wellFormed(text)).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  )

const scalar = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)

const text = (value: unknown): string => encode(scalar(value))

const pairs = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(value).filter(([, inner]) => inner !== undefined)

/** Writes the value of a path parameter as text, with the prefix and the separators of the parameter's style. */
export const path = ({ explode, isJson, name, style }: Parameter, value: unknown): string => {
  const prefix = style === "label" ? "." : style === "matrix" ? ";" : ""
  if (isJson || typeof value !== "object" || value === null) {
    const one = isJson ? encode(JSON.stringify(value)) : text(value)
    return style === "matrix" ? `;${encode(name)}=${one}` : `${prefix}${one}`
  }
  const separator = explode && style !== "simple" ? prefix : ","
  if (Array.isArray(value)) {
    const items = value.map(text)
    return style === "matrix"
      ? explode ? items.map((item) => `;${encode(name)}=${item}`).join("") : `;${encode(name)}=${items.join(",")}`
      : prefix + items.join(separator)
  }
  const members = pairs(value)
  const joined = explode
    ? members.map(([key, inner]) => `${encode(key)}=${text(inner)}`).join(separator)
    : members.flatMap(([key, inner]) => [encode(key), text(inner)]).join(",")
  return style === "matrix" && !explode ? `;${encode(name)}=${joined}` : prefix + joined
}

/** Writes the value of a parameter as parts `name=value` of a query or of cookies, percent-encoded. */
export const query = ({ explode, isJson, name, style }: Parameter, value: unknown): ReadonlyArray<string> => {
  if (isJson) return [`${encode(name)}=${encode(JSON.stringify(value))}`]
  if (typeof value !== "object" || value === null) return [`${encode(name)}=${text(value)}`]
  if (style === "deepObject") return deep(name, value)
  const separator = style === "spaceDelimited" ? "%20" : style === "pipeDelimited" ? "%7C" : ","
  if (Array.isArray(value)) {
    return explode
      ? value.map((item) => `${encode(name)}=${text(item)}`)
      : [`${encode(name)}=${value.map(text).join(separator)}`]
  }
  return explode
    ? pairs(value).map(([key, inner]) => `${encode(key)}=${text(inner)}`)
    : [`${encode(name)}=${pairs(value).flatMap(([key, inner]) => [encode(key), text(inner)]).join(separator)}`]
}

const deep = (name: string, value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap((item, index) => deep(`${name}[${typeof item === "object" ? index : ""}]`, item))
    : ForeignJson.isObject(value)
    ? pairs(value).flatMap(([key, inner]) => deep(`${name}[${key}]`, inner))
    : [`${encode(name)}=${text(value)}`]

/** Writes the value of a header as text. Percent-encodes only characters that a header cannot contain. */
export const header = ({ explode, isJson }: Parameter, value: unknown): string => {
  const flat = isJson || typeof value !== "object" || value === null
    ? isJson ? JSON.stringify(value) : scalar(value)
    : Array.isArray(value)
    ? value.map(scalar).join(",")
    : pairs(value).map(([key, inner]) => explode ? `${key}=${scalar(inner)}` : `${key},${scalar(inner)}`).join(",")
  return ForeignJson.wellFormed(flat).replace(/[^\t\x20-\x7e]/gu, encodeURIComponent)
}
