/**
 * The URIs of resources on both sides of a proxy that renames them. A template is renamed with its variables, so a URI that it
 * matches on one side is expanded by its counterpart on the other.
 */
import * as UriTemplate from "@effect-mcp/definition/UriTemplate"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** The names of one resource or template: at the upstream, and at the proxy. */
export interface Renamed {
  readonly upstream: string
  readonly own: string
}

export interface Uris {
  /** The URI that clients know for one of the upstream. */
  readonly toOwn: (uri: string) => string
  /** The URI of the upstream for one that a client has read through a template. */
  readonly toUpstream: (template: Renamed) => (uri: string) => string
  /** A result of the upstream with the URIs that clients know. */
  readonly inResult: (result: JsonObject) => JsonObject
}

/** The same URIs on both sides. */
export const same: Uris = { toOwn: (uri) => uri, toUpstream: () => (uri) => uri, inResult: (result) => result }

export const make = (resources: ReadonlyArray<Renamed>, templates: ReadonlyArray<Renamed>): Uris => {
  const own = new Map(resources.map(({ own, upstream }) => [upstream, own]))
  const converters = templates.map(({ own, upstream }) => converter(upstream, own))
  const toOwn = (uri: string): string => {
    const renamed = own.get(uri)
    if (renamed !== undefined) return renamed
    for (const convert of converters) {
      const converted = convert(uri)
      if (converted !== undefined) return converted
    }
    return uri
  }
  return {
    toOwn,
    toUpstream: ({ own, upstream }) => {
      const convert = converter(own, upstream)
      return (uri) => convert(uri) ?? uri
    },
    inResult: (result) => inResult(result, toOwn)
  }
}

/** Converts the URIs that a template matches to those of another template with the same variables. */
const converter = (from: string, to: string): (uri: string) => string | undefined =>
  Either.match(Either.all([UriTemplate.parse(from), UriTemplate.parse(to)]), {
    onLeft: () => () => undefined,
    onRight: ([source, target]) => (uri) =>
      Option.getOrUndefined(Option.map(UriTemplate.match(source, uri), (values) =>
        // A prefix is added or cut off, so that the rest stays as it is.
        from.endsWith(to)
          ? uri.slice(from.length - to.length)
          : to.endsWith(from)
          ? to.slice(0, to.length - from.length) + uri
          : UriTemplate.expand(target, values)))
  })

/** The contents of a resource, and the resources and links of tools and prompts. */
const inResult = (result: JsonObject, convert: (uri: string) => string): JsonObject => {
  const content = (one: unknown): unknown => {
    if (!isObject(one)) return one
    if (one.type === "resource_link") return withUri(one, convert)
    return one.type === "resource" && isObject(one.resource)
      ? { ...one, resource: withUri(one.resource, convert) }
      : one
  }
  const { contents, messages } = result
  return {
    ...result,
    ...(Array.isArray(result.content) ? { content: result.content.map(content) } : undefined),
    ...(Array.isArray(contents)
      ? { contents: contents.map((one) => isObject(one) ? withUri(one, convert) : one) }
      : undefined),
    ...(Array.isArray(messages)
      ? { messages: messages.map((one) => isObject(one) ? { ...one, content: content(one.content) } : one) }
      : undefined)
  }
}

const withUri = (one: JsonObject, convert: (uri: string) => string): JsonObject =>
  typeof one.uri === "string" ? { ...one, uri: convert(one.uri) } : one

const isObject = (value: unknown): value is JsonObject => Predicate.isRecord(value)
