/**
 * URI templates of RFC 6570: `parse` reads a template once, `expand` makes a URI from values, `match` finds the values in a URI. Matching
 * an expanded URI gives the same values, with one exception: `{name*}` writes a list of one empty value like an empty list, and `match`
 * finds the empty list. If `match` could not find the values of an expanded URI with certainty, the template has an `ambiguity`, and
 * `match` finds no values in any URI.
 *
 * Values are strings here. `uri/UriExpression` expands templates, and `uri/UriMatcher` matches URIs. `ResourceTemplate` adds schemas for
 * the values. The application must check whether a path in a value is safe to open.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as UriKey from "../protocol/rules/UriKey.js"
import * as UriExpression from "./uri/UriExpression.js"
import * as UriMatcher from "./uri/UriMatcher.js"
import * as UriPattern from "./uri/UriPattern.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/UriTemplate")

/** @category models */
export type TypeId = typeof TypeId

/**
 * The most characters that a template may have, the most variables that a template may have, and the most characters that a URI may have to
 * be matched.
 *
 * @category constants
 */
export const limits = { template: 8192, variables: 256, uri: 65_536 } as const

/** @category models */
export interface Variable {
  readonly name: string
  /** Whether the template writes the variable as `{name*}`. Then the value of the variable is a list of strings. */
  readonly isList: boolean
  /** Whether the variable belongs to a query or to `;` parameters. Then a URI without this variable also matches. */
  readonly isOptional: boolean
}

/**
 * A template that has been parsed.
 *
 * @category models
 */
export interface UriTemplate {
  /** The functions that `expand` and `match` call. */
  readonly [TypeId]: {
    readonly expand: (values: Values) => string
    /** `key` returns the normal form of the URI. A search in many templates computes this form only once. */
    readonly match: (uri: string, key: () => string) => Option.Option<Match>
  }
  readonly template: string
  /** The variables in the order in which the template names them. */
  readonly variables: ReadonlyArray<Variable>
  /** The reason why `match` finds no values with this template, although `expand` works; `undefined` when `match` works, too. */
  readonly ambiguity: string | undefined
}

/**
 * The values to expand a template with: a string, a list, or an associative array for each variable. A variable without a value expands to
 * nothing.
 *
 * @category models
 */
export type Values = {
  readonly [name: string]: string | ReadonlyArray<string> | { readonly [key: string]: string } | undefined
}

/**
 * The decoded values of a URI: a string for each variable, and an array of strings for a list. An optional variable that the URI does not
 * have is left out.
 *
 * @category models
 */
export type Match = Readonly<Record<string, string | ReadonlyArray<string>>>

/**
 * Parses a template. Left: what is wrong with the template.
 *
 * @category utils
 */
export const parse = (template: string): Either.Either<UriTemplate, string> =>
  Either.flatMap(split(template), (parts) => {
    const variables = parts.flatMap((part) =>
      typeof part === "string" ? [] : part.variables.map((variable) => ({ ...variable, operator: part.operator }))
    )
    if (variables.length > limits.variables) return Either.left(`more than ${limits.variables} variables`)
    const pattern = UriPattern.make(parts)
    const normal = UriPattern.make(
      parts.map((part, index) =>
        typeof part === "object" ? part : index === 0 ? UriKey.ofStart(part) : UriKey.ofPart(part)
      )
    )
    const ambiguity = new Set(variables.map(({ name }) => name)).size < variables.length
      ? "the same variable appears twice"
      : variables.some(({ prefix }) => prefix !== undefined)
      ? "a prefix modifier such as {name:3} drops the rest of the value"
      : pattern.ambiguity
    return Either.right({
      [TypeId]: {
        expand: (values) =>
          parts.map((part) => typeof part === "string" ? part : UriExpression.expand(part, values)).join(""),
        match: (uri, key) =>
          ambiguity !== undefined || uri.length > limits.uri
            ? Option.none()
            : Option.map(
              Option.fromNullable(UriMatcher.match(pattern, uri) ?? UriMatcher.match(normal, key())),
              Object.fromEntries
            )
      },
      template,
      variables: variables.map(({ explode, name, operator }) => ({
        name,
        isList: explode,
        isOptional: UriExpression.expansions[operator].named
      })),
      ambiguity
    })
  })

/** Splits a template into its literals, percent-encoded where needed, and its expressions. */
const split = (template: string): Either.Either<ReadonlyArray<string | UriExpression.Expression>, string> => {
  if (template.length > limits.template) return Either.left(`longer than ${limits.template} characters`)
  const parts: Array<string | UriExpression.Expression> = []
  let at = 0
  while (at < template.length) {
    const open = template.indexOf("{", at)
    const literal = template.slice(at, open === -1 ? undefined : open)
    if (literal.includes("}")) return Either.left(`"}" without "{"`)
    if (literal !== "") parts.push(UriExpression.encode(literal, true))
    if (open === -1) break
    const close = template.indexOf("}", open)
    if (close === -1) return Either.left(`"{" without "}"`)
    const expression = UriExpression.parse(template.slice(open + 1, close))
    if (Either.isLeft(expression)) return Either.left(expression.left)
    parts.push(expression.right)
    at = close + 1
  }
  return Either.right(parts)
}

/**
 * Makes the URI of a template and these values.
 *
 * @category utils
 */
export const expand = (self: UriTemplate, values: Values): string => self[TypeId].expand(values)

/**
 * Finds the values with which a template expands to this URI, or to an equal URI: `NOTE:///caf%c3%a9` equals `note:///café`. `None` when
 * there are no such values, when the template is ambiguous, or when the URI is longer than `limits.uri`. The parameters of a query may come
 * in any order. Parameters that the template does not name are ignored.
 *
 * @category utils
 */
export const match = (self: UriTemplate, uri: string): Option.Option<Match> =>
  self[TypeId].match(uri, () => UriKey.of(uri))
