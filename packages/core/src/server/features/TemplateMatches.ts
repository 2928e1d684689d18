/**
 * Finds the resource templates that match a URI. The most specific template comes first: the template with the most literal text.
 * `Resources` reads through these templates, and `Completion` completes their variables. `UriTemplate` does the matching.
 */
import * as Option from "effect/Option"
import * as UriTemplate from "../../definition/UriTemplate.js"
import * as UriKey from "../../protocol/rules/UriKey.js"
import type { RegisteredTemplate, RegistryService } from "../Registry.js"

export interface TemplateMatch {
  readonly template: RegisteredTemplate
  readonly variables: UriTemplate.Match
}

export const find = (registry: RegistryService, uri: string): ReadonlyArray<TemplateMatch> => {
  let found: string | undefined
  const key = () => found ??= UriKey.of(uri)
  return [...registry.templates.values()].flatMap((template) =>
    Option.match(template.template[UriTemplate.TypeId].match(uri, key), {
      onNone: () => [],
      onSome: (variables) => [{ template, variables }]
    })
  ).sort((a, b) => bySpecificity(a.template, b.template))
}

// Compares the length of the literal text, and then the name. So the order does not depend on the order of registration.
const bySpecificity = ({ advertised: a }: RegisteredTemplate, { advertised: b }: RegisteredTemplate): number =>
  literalLength(b.uriTemplate) - literalLength(a.uriTemplate) || (a.uriTemplate < b.uriTemplate ? -1 : 1)

const literalLength = (template: string): number => template.replace(/\{[^}]*\}/g, "").length
