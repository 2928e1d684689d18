/**
 * What may stand between the braces of a URI template: an operator and the variables it is for, how the operator writes
 * them, and how a value is written into an address. The whole of RFC 6570, level 4.
 *
 * How an address is read back is in `UriPlan`; the template around the braces in `UriTemplate`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3.2
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/**
 * @since 0.1.0
 * @category models
 */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&"

/**
 * A variable as an expression names it: `name`, `name*` or `name:3`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Spec {
  readonly name: string
  readonly explode: boolean
  readonly prefix: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Expression {
  readonly operator: Operator
  readonly specs: ReadonlyArray<Spec>
}

/**
 * How an operator writes its variables.
 *
 * @since 0.1.0
 * @category models
 */
export interface Style {
  readonly first: string
  readonly separator: string
  readonly named: boolean
  readonly ifEmpty: string
  /** Whether what is reserved in an address stays as it is. */
  readonly reserved: boolean
}

/**
 * @since 0.1.0
 * @category constants
 */
export const styles: Readonly<Record<Operator, Style>> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false }
}

const varname = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/
const maxLength = /^[1-9][0-9]{0,3}$/

const spec = (text: string): Either.Either<Spec, string> => {
  const explode = text.endsWith("*")
  const colon = explode ? -1 : text.indexOf(":")
  const name = explode ? text.slice(0, -1) : colon === -1 ? text : text.slice(0, colon)
  const prefix = colon === -1 ? undefined : text.slice(colon + 1)
  return !varname.test(name) || (prefix !== undefined && !maxLength.test(prefix))
    ? Either.left(`"${text}" is no variable`)
    : Either.right({ name, explode, prefix: prefix === undefined ? undefined : Number(prefix) })
}

/**
 * Reads what stands between braces, or says what is wrong with it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (text: string): Either.Either<Expression, string> => {
  const operator = /^[+#./;?&]/.test(text) ? text.charAt(0) as Operator : ""
  return Either.map(
    Either.all(text.slice(operator.length).split(",").map(spec)),
    (specs) => ({ operator, specs })
  )
}

/**
 * A value of a variable. A map can be expanded, and is never found.
 *
 * @since 0.1.0
 * @category models
 */
export type Value = string | ReadonlyArray<string> | { readonly [key: string]: string }

/**
 * What an expression becomes with these values; a variable without one leaves nothing behind.
 *
 * @since 0.1.0
 * @category conversions
 */
export const expand = (
  { operator, specs }: Expression,
  values: { readonly [name: string]: Value | undefined }
): string => {
  const { first, separator } = styles[operator]
  const told = specs.flatMap((spec) => {
    const value = Object.hasOwn(values, spec.name) ? values[spec.name] : undefined
    return value === undefined ? [] : written(spec, value, styles[operator])
  })
  return told.length === 0 ? "" : first + told.join(separator)
}

const written = ({ explode, name, prefix }: Spec, value: Value, style: Style): ReadonlyArray<string> => {
  const { ifEmpty, named, reserved } = style
  const withName = (text: string, key = name): string => !named ? text : `${key}${text === "" ? ifEmpty : `=${text}`}`
  if (typeof value === "string") {
    return [withName(encode(prefix === undefined ? value : [...value].slice(0, prefix).join(""), reserved))]
  }
  if (Array.isArray(value)) {
    const items = (value as ReadonlyArray<string>).map((item) => encode(item, reserved))
    return items.length === 0 ? [] : explode ? items.map((item) => withName(item)) : [withName(items.join(","))]
  }
  const entries = Object.entries(value).map(([key, one]) => [encode(key, reserved), encode(one, reserved)] as const)
  return entries.length === 0
    ? []
    : explode
    ? entries.map(([key, one]) => named ? withName(one, key) : `${key}=${one}`)
    : [withName(entries.flat().join(","))]
}

const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/**
 * A text as it stands in an address. With `reserved`, what is reserved there, and what is percent-encoded already, stays.
 *
 * @since 0.1.0
 * @category conversions
 */
export const encode = (text: string, reserved: boolean): string => {
  const encoded = Either.getOrElse(Encoding.encodeUriComponent(text.replace(lone, "\uFFFD")), () => "")
  return reserved
    ? encoded
      .replace(
        /%25([0-9A-Fa-f]{2})|%(?:2[346BCF]|3[ABDF]|40|5[BD])/g,
        (triplet, digits: string | undefined) =>
          digits === undefined ? String.fromCharCode(Number.parseInt(triplet.slice(1), 16)) : `%${digits}`
      )
    : encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
