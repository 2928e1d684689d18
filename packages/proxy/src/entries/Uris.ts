/**
 * Converts URIs of resources, for a proxy whose option `rename` changes URIs. A client uses the renamed URI, and the upstream uses its own
 * URI. A renamed URI template has the same variables as the template of the upstream. So this module reads the values of the variables from
 * a URI that matches one template, and puts the values into the other template. `Naming` chooses the names, `Mirror` makes the `Uris` of
 * the present entries, and `EntryRegistration` converts the URIs in requests and results.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as UriKey from "@effect-mcp/core/unstable/protocol/UriKey"
import * as UriTemplate from "@effect-mcp/core/UriTemplate"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** The URI, or the URI template, at the upstream and at the proxy. */
export interface Renamed {
  readonly upstream: string
  readonly own: string
}

export interface Uris {
  /** Converts a URI of the upstream to the URI that clients get. */
  readonly toOwn: (uri: string) => string
  /** Returns a function that converts the URIs that clients read to URIs of the upstream, for URIs that match one template. */
  readonly toUpstream: (template: Renamed) => (uri: string) => string
  /** Converts all URIs in a result of the upstream to the URIs that clients get. */
  readonly inResult: (result: JsonObject) => JsonObject
}

/** The `Uris` of a proxy that does not rename resources. All URIs stay unchanged. */
export const same: Uris = { toOwn: (uri) => uri, toUpstream: () => (uri) => uri, inResult: (result) => result }

export const make = (resources: ReadonlyArray<Renamed>, templates: ReadonlyArray<Renamed>): Uris => {
  const own = new Map(resources.map(({ own, upstream }) => [UriKey.of(upstream), own]))
  const converters = templates.map(({ own, upstream }) => converter(upstream, own))
  const toOwn = (uri: string): string => {
    const renamed = own.get(UriKey.of(uri))
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

/** Converts URIs that match the template `from` to URIs of the template `to`, which has the same variables. */
const converter = (from: string, to: string): (uri: string) => string | undefined =>
  Either.match(Either.all([UriTemplate.parse(from), UriTemplate.parse(to)]), {
    onLeft: () => () => undefined,
    onRight: ([source, target]) => (uri) =>
      Option.getOrUndefined(Option.map(UriTemplate.match(source, uri), (values) =>
        // When the templates differ only by a prefix, the rest of the URI stays unchanged.
        from.endsWith(to) && uri.startsWith(from.slice(0, from.length - to.length))
          ? uri.slice(from.length - to.length)
          : to.endsWith(from)
          ? to.slice(0, to.length - from.length) + uri
          : UriTemplate.expand(target, values)))
  })

/** Converts the URIs of contents, embedded resources and resource links in a result. */
const inResult = (result: JsonObject, convert: (uri: string) => string): JsonObject => {
  const content = (one: unknown): unknown => {
    if (!Predicate.isRecord(one)) return one
    if (one.type === "resource_link") return withUri(one, convert)
    return one.type === "resource" && Predicate.isRecord(one.resource)
      ? { ...one, resource: withUri(one.resource, convert) }
      : one
  }
  const { contents, messages } = result
  return {
    ...result,
    ...(Array.isArray(result.content) ? { content: result.content.map(content) } : undefined),
    ...(Array.isArray(contents)
      ? { contents: contents.map((one) => Predicate.isRecord(one) ? withUri(one, convert) : one) }
      : undefined),
    ...(Array.isArray(messages)
      ? { messages: messages.map((one) => Predicate.isRecord(one) ? { ...one, content: content(one.content) } : one) }
      : undefined)
  }
}

const withUri = (one: JsonObject, convert: (uri: string) => string): JsonObject =>
  typeof one.uri === "string" ? { ...one, uri: convert(one.uri) } : one
