/**
 * The resource templates that match a URI, the most specific first: the one with the most literal text. `Resources` reads
 * with them, and `Completion` completes their variables.
 */
import * as Option from "effect/Option"
import * as UriTemplate from "../../definition/UriTemplate.js"
import type { RegisteredTemplate, RegistryService } from "../Registry.js"

export interface TemplateMatch {
  readonly template: RegisteredTemplate
  readonly variables: UriTemplate.Match
}

export const find = (registry: RegistryService, uri: string): ReadonlyArray<TemplateMatch> =>
  [...registry.templates.values()].flatMap((template) =>
    Option.match(UriTemplate.match(template.template, uri), {
      onNone: () => [],
      onSome: (variables) => [{ template, variables }]
    })
  ).sort((a, b) => bySpecificity(a.template, b.template))

// By the length of the literal text, then by name, so that the order does not depend on the order of registration.
const bySpecificity = ({ advertised: a }: RegisteredTemplate, { advertised: b }: RegisteredTemplate): number =>
  literalLength(b.uriTemplate) - literalLength(a.uriTemplate) || (a.uriTemplate < b.uriTemplate ? -1 : 1)

const literalLength = (template: string): number => template.replace(/\{[^}]*\}/g, "").length
