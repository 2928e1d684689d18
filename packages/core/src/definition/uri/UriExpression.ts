/**
 * One expression of a URI template (RFC 6570, level 4): the text between two braces. `parse` parses this text into an operator and
 * variables, and `expand` expands the expression with the values of its variables.
 *
 * `UriTemplate` splits a template into literals and expressions. `UriPattern` and `UriMatcher` do the reverse of expanding: they find the
 * values in a URI.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3.2
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&"

/** A variable and its modifier: `name`, `name*` (explode), or `name:3` (prefix: at most so many characters). */
export interface Varspec {
  readonly name: string
  readonly explode: boolean
  readonly prefix: number | undefined
}

export interface Expression {
  readonly operator: Operator
  readonly variables: ReadonlyArray<Varspec>
}

/** How an operator expands its variables: one row of the table in appendix A of the RFC. */
export interface Expansion {
  readonly first: string
  readonly separator: string
  readonly named: boolean
  readonly ifEmpty: string
  /** Whether reserved characters and percent-encoded triplets are copied as they are. */
  readonly allowReserved: boolean
}

export const expansions: Readonly<Record<Operator, Expansion>> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", allowReserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", allowReserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", allowReserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", allowReserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", allowReserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", allowReserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", allowReserved: false }
}

const varname = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/
const maxLength = /^[1-9][0-9]{0,3}$/

const varspec = (text: string): Either.Either<Varspec, string> => {
  const explode = text.endsWith("*")
  const colon = explode ? -1 : text.indexOf(":")
  const name = explode ? text.slice(0, -1) : colon === -1 ? text : text.slice(0, colon)
  const prefix = colon === -1 ? undefined : text.slice(colon + 1)
  return !varname.test(name) || (prefix !== undefined && !maxLength.test(prefix))
    ? Either.left(`"${text}" is not a variable`)
    : Either.right({ name, explode, prefix: prefix === undefined ? undefined : Number(prefix) })
}

/** Parses the text between the braces. Left: what is wrong with the text. */
export const parse = (text: string): Either.Either<Expression, string> => {
  const operator = /^[+#./;?&]/.test(text) ? text.charAt(0) as Operator : ""
  return Either.map(
    Either.all(text.slice(operator.length).split(",").map(varspec)),
    (variables) => ({ operator, variables })
  )
}

/** A string, a list or an associative array. Matching never gives an associative array. */
export type Value = string | ReadonlyArray<string> | { readonly [key: string]: string }

/** Expands an expression. A variable without a value expands to nothing. */
export const expand = (
  { operator, variables }: Expression,
  values: { readonly [name: string]: Value | undefined }
): string => {
  const expansion = expansions[operator]
  const expanded = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    return value === undefined ? [] : expandVariable(variable, value, expansion)
  })
  return expanded.length === 0 ? "" : expansion.first + expanded.join(expansion.separator)
}

const expandVariable = (
  { explode, name, prefix }: Varspec,
  value: Value,
  { allowReserved, ifEmpty, named }: Expansion
): ReadonlyArray<string> => {
  const withName = (text: string, key = name): string => !named ? text : `${key}${text === "" ? ifEmpty : `=${text}`}`
  if (typeof value === "string") {
    return [withName(encode(prefix === undefined ? value : [...value].slice(0, prefix).join(""), allowReserved))]
  }
  if (Array.isArray(value)) {
    const items = (value as ReadonlyArray<string>).map((item) => encode(item, allowReserved))
    return items.length === 0 ? [] : explode ? items.map((item) => withName(item)) : [withName(items.join(","))]
  }
  const pairs = Object.entries(value).map(([key, item]) =>
    [encode(key, allowReserved), encode(item, allowReserved)] as const
  )
  return pairs.length === 0
    ? []
    : explode
    ? pairs.map(([key, item]) => named ? withName(item, key) : `${key}=${item}`)
    : [withName(pairs.flat().join(","))]
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/** Percent-encodes a text. With `allowReserved`, reserved characters and percent-encoded triplets stay as they are. */
export const encode = (text: string, allowReserved: boolean): string => {
  const encoded = Either.getOrElse(Encoding.encodeUriComponent(text.replace(loneSurrogate, "\uFFFD")), () => "")
  return allowReserved
    ? encoded
      .replace(
        /%25([0-9A-Fa-f]{2})|%(?:2[346BCF]|3[ABDF]|40|5[BD])/g,
        (triplet, digits: string | undefined) =>
          digits === undefined ? String.fromCharCode(Number.parseInt(triplet.slice(1), 16)) : `%${digits}`
      )
    : encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
