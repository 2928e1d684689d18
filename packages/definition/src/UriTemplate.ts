/**
 * A URI template of RFC 6570, read once: expanded with the values of its variables, and matched against an address to find
 * them. What was expanded is found again; a template for which that cannot be promised says why, and finds nothing.
 *
 * What a variable means, and whether a path in one is safe, is not known here: see `FileUri` of `@effect-mcp/protocol`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as UriExpression from "./uri/UriExpression.js"
import * as UriPlan from "./uri/UriPlan.js"

/**
 * How long a template may be, how many variables it may have, and how long an address may be that is matched.
 *
 * @since 0.1.0
 * @category limits
 */
export const limits = { template: 8192, variables: 256, uri: 65_536 } as const

/**
 * @since 0.1.0
 * @category models
 */
export interface Variable {
  readonly name: string
  /** Written `{name*}`: any number of values. */
  readonly isList: boolean
  /** A variable of a query, or of path parameters, need not be there. */
  readonly isOptional: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface UriTemplate {
  readonly template: string
  /** In the order in which they stand. */
  readonly variables: ReadonlyArray<Variable>
  /** Why nothing is ever found with it, though it can be expanded; `undefined` for one that can be matched. */
  readonly ambiguity: string | undefined
  /** @internal */
  readonly parts: ReadonlyArray<string | UriExpression.Expression>
  /** @internal */
  readonly plan: UriPlan.Plan
}

/**
 * What was found: a text, or the values of a list. An optional variable that is not there is left out.
 *
 * @since 0.1.0
 * @category models
 */
export type Found = Readonly<Record<string, string | ReadonlyArray<string>>>

/**
 * Reads a template, or says what is wrong with it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (template: string): Either.Either<UriTemplate, string> => {
  if (template.length > limits.template) return Either.left(`longer than ${limits.template} characters`)
  const parts: Array<string | UriExpression.Expression> = []
  let at = 0
  while (at < template.length) {
    const open = template.indexOf("{", at)
    const text = template.slice(at, open === -1 ? undefined : open)
    if (text.includes("}")) return Either.left(`"}" without "{"`)
    if (text !== "") parts.push(UriExpression.encode(text, true))
    if (open === -1) break
    const close = template.indexOf("}", open)
    if (close === -1) return Either.left(`"{" without "}"`)
    const expression = UriExpression.parse(template.slice(open + 1, close))
    if (Either.isLeft(expression)) return Either.left(expression.left)
    parts.push(expression.right)
    at = close + 1
  }
  const specs = parts.flatMap((part) =>
    typeof part === "string" ? [] : part.specs.map((spec) => ({ ...spec, operator: part.operator }))
  )
  if (specs.length > limits.variables) return Either.left(`more than ${limits.variables} variables`)
  const plan = UriPlan.make(parts)
  return Either.right({
    template,
    variables: specs.map(({ explode, name, operator }) => ({
      name,
      isList: explode,
      isOptional: UriExpression.styles[operator].named
    })),
    ambiguity: new Set(specs.map(({ name }) => name)).size < specs.length
      ? "a variable stands twice"
      : specs.some(({ prefix }) => prefix !== undefined)
      ? "a variable is cut short"
      : plan.ambiguity,
    parts,
    plan
  })
}

/**
 * The address that a template becomes with these values; a variable without one leaves nothing behind.
 *
 * @since 0.1.0
 * @category conversions
 */
export const expand = (
  self: UriTemplate,
  values: { readonly [name: string]: UriExpression.Value | undefined }
): string => self.parts.map((part) => typeof part === "string" ? part : UriExpression.expand(part, values)).join("")

/**
 * The values with which a template becomes an address, decoded once; none when it cannot become that, or the template is
 * ambiguous. Parameters of a query may come in any order, and those that the template does not name are not looked at.
 *
 * @since 0.1.0
 * @category conversions
 */
export const match = (self: UriTemplate, uri: string): Option.Option<Found> =>
  self.ambiguity !== undefined || uri.length > limits.uri
    ? Option.none()
    : Option.map(Option.fromNullable(UriPlan.follow(self.plan, uri)), Object.fromEntries)
