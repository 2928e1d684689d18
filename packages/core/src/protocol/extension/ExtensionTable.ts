/**
 * Makes the tables of the extensions that the application gave to a client or a server. The tables find methods, filters and types of
 * results by name. Each server (`server/dispatch/Build`) and each client (`client/Client`) makes its tables once. A side without extensions
 * has empty tables. This module also logs a warning when a side uses an extension that it was not given, and encodes the parameters of
 * messages of extensions.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { ClientCapabilities } from "../Capabilities.js"
import type * as Extension from "../Extension.js"
import * as Issue from "../Issue.js"
import type { JsonObject } from "../Json.js"
import * as LegacyMethods from "../legacy/Methods.js"
import type * as Method from "../Method.js"
import * as ModernMethods from "../modern/Methods.js"
import * as ResultType from "../modern/ResultType.js"
import * as Subscriptions from "../modern/Subscriptions.js"
import type { Version } from "../Version.js"

/** A member that an extension adds to the filter of `subscriptions/listen`. */
export interface Filter extends Extension.Revisions {
  readonly extension: string
  readonly name: string
  /** Whether the member is a list of keys. Otherwise the member is a flag. */
  readonly hasKeys: boolean
}

export interface ExtensionTable {
  readonly byId: ReadonlyMap<string, Extension.Extension.Any>
  /** The methods of all extensions, by the names of the methods. */
  readonly methods: ReadonlyMap<string, Extension.Request | Extension.Notification>
  /** The parameters whose value the HTTP header `Mcp-Name` repeats, by the names of the methods. */
  readonly nameParameters: ReadonlyMap<string, string>
  /** The types of results, first by the name of the method and then by type. */
  readonly resultTypes: ReadonlyMap<string, ReadonlyMap<string, Extension.ResultType>>
  readonly filters: ReadonlyMap<string, Filter>
  /** The decoded settings of this side, by the identifiers of the extensions. */
  readonly own: ReadonlyMap<string, unknown>
  /** Returns the extensions, with their settings, that this side declares with a revision; `undefined` when this side declares none. */
  readonly declared: (version: Version) => { readonly [id: string]: JsonObject } | undefined
}

/**
 * The methods of the specification, of both protocol eras. An extension must not add a method with the name of one of these methods in a
 * revision that has that method. The table has the methods of both eras for every side, because a client may support both eras and learns
 * the era of its server only later.
 */
export const coreMethods: ReadonlyMap<string, Method.Method> = new Map<string, Method.Method>([
  ...LegacyMethods.table,
  ...ModernMethods.table
])

export const isIn = ({ since, until }: Extension.Revisions, version: Version): boolean =>
  version >= since && (until === undefined || version <= until)

type Window = Pick<Extension.Revisions, "since"> & { readonly until?: Version | undefined }

const overlap = (one: Window, other: Window): boolean =>
  (other.until === undefined || one.since <= other.until) && (one.until === undefined || other.since <= one.until)

/** Whether the table has the extension to which the part belongs, and the revision has the part. */
export const has = (
  { byId }: ExtensionTable,
  part: Extension.Revisions & { readonly extension: string },
  version: Version
): boolean => byId.has(part.extension) && isIn(part, version)

/** The capability that a client must declare for an extension. */
export const capability = (id: string): ClientCapabilities => ({ extensions: { [id]: {} } })

/**
 * Makes the table of a side. Throws when two extensions add the same name, when an extension adds a name of the core protocol, or when the
 * settings of this side do not conform to their schema.
 */
export const make = (
  extensions: ReadonlyArray<Extension.Extension.Any>,
  side: Extension.Side
): ExtensionTable => {
  const all = <Part>(parts: "requests" | "notifications" | "results"): ReadonlyArray<Part> =>
    extensions.flatMap((extension) => Object.values(extension[parts]) as ReadonlyArray<Part>)
  const byId = unique(extensions, ({ id }) => id, "the extension")
  const methods = [
    ...all<Extension.Request>("requests"),
    ...all<Extension.Notification>("notifications")
  ]
  const results = all<Extension.ResultType>("results")
  const filters = all<Extension.Notification>("notifications").flatMap(
    ({ extension, filter: name, since, subscribed, until }) =>
      name === undefined ? [] : [{ extension, name, hasKeys: subscribed === "keys", since, until }]
  )
  const resultTypes = new Map<string, Map<string, Extension.ResultType>>()
  for (const result of results) {
    const { method, type } = result
    const types = resultTypes.get(method) ?? new Map<string, Extension.ResultType>()
    resultTypes.set(method, types)
    if (ResultType.core.has(type) || types.has(type)) throw twice(`the type "${type}" of results of "${method}"`)
    types.set(type, result)
  }
  const byFilter = new Map<string, Filter>()
  for (const filter of filters) {
    const { extension, hasKeys, name } = filter
    const same = byFilter.get(name)
    const isSame = same === undefined || (same.extension === extension && same.hasKeys === hasKeys)
    if (Subscriptions.filterNames.has(name) || !isSame) throw twice(`the filter "${name}"`)
    byFilter.set(name, filter)
  }
  const declared = new Map<Version, { readonly [id: string]: JsonObject } | undefined>()
  return {
    byId,
    methods: unique(methods, ({ name }) => name, "the method", (method) => {
      const known = coreMethods.get(method.name)
      return known !== undefined && overlap(known, method)
    }),
    nameParameters: nameParameters(extensions),
    resultTypes,
    filters: byFilter,
    own: new Map(extensions.map((extension) => [extension.id, settings(extension, side)])),
    declared: (version) => {
      if (!declared.has(version)) {
        const entries = extensions.flatMap((extension) =>
          isIn(extension, version) ? [[extension.id, extension.declared[side]] as const] : []
        )
        declared.set(version, entries.length === 0 ? undefined : Object.fromEntries(entries))
      }
      return declared.get(version)
    }
  }
}

/** Returns the parameters whose value the HTTP header `Mcp-Name` repeats, by the names of the methods. */
export const nameParameters = (extensions: ReadonlyArray<Extension.Extension.Any>): ReadonlyMap<string, string> =>
  new Map(
    extensions.flatMap(({ requests }) => Object.values(requests) as ReadonlyArray<Extension.Request>).flatMap(
      ({ name, nameParameter }) => nameParameter === undefined ? [] : [[name, nameParameter]]
    )
  )

const settings = ({ declared, id, settings }: Extension.Extension.Any, side: Extension.Side): unknown =>
  Either.getOrThrowWith(
    Schema.decodeUnknownEither(settings[side])(declared[side]),
    ({ issue }) =>
      new Error(
        `The ${side} needs settings for the extension "${id}"; give it the result of Extension.declare: ${
          Issue.sentence(issue)
        }`
      )
  )

const unique = <A>(
  values: ReadonlyArray<A>,
  key: (value: A) => string,
  what: string,
  isTaken: (value: A) => boolean = () => false
): ReadonlyMap<string, A> => {
  const found = new Map<string, A>()
  for (const value of values) {
    const name = key(value)
    if (isTaken(value) || found.has(name)) throw twice(`${what} "${name}"`)
    found.set(name, value)
  }
  return found
}

const twice = (what: string): Error =>
  new Error(
    `${what[0]!.toUpperCase()}${
      what.slice(1)
    } exists already, in another extension or in the core: rename it, or pass ` +
      "each extension once"
  )

/**
 * Logs a warning for each extension that a feature of a side uses but that the application did not give to the side. The side does not
 * serve the methods of this extension.
 */
export const warnOfMissing = (
  { byId }: ExtensionTable,
  side: Extension.Side,
  used: Iterable<string | undefined>
): Effect.Effect<void> =>
  Effect.forEach(
    new Set(used),
    (id) =>
      id === undefined || byId.has(id) ? Effect.void : Effect.logWarning(
        `Features of this ${side} use the extension "${id}", which the ${side} was not given: add it to the option \`extensions\``
      ),
    { discard: true }
  )

/**
 * Encodes the parameters of a message of an extension. When the parameters do not conform to their schema, the effect dies, because this is
 * a bug of the caller.
 */
export const encodeParams = (
  { name, params: schema }: Extension.Request | Extension.Notification,
  params: unknown
): Effect.Effect<JsonObject> =>
  Effect.catchAll(
    Schema.encodeUnknown(schema)(params),
    ({ issue }) =>
      Effect.dieMessage(`The parameters of "${name}" do not conform to their schema: ${Issue.sentence(issue)}`)
  )
