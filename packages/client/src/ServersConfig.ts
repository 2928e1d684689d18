/**
 * The `mcpServers` configuration of hosts: each server is a program to launch or a URL. The application gives the function
 * that makes connectors from it; this module decodes it, fills in variables, and connects a group.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 * @since 0.1.0
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import { all as concurrently } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import * as Version from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { ConnectError } from "./ClientError.js"
import * as ClientSessionGroup from "./ClientSessionGroup.js"
import { Features, roots as rootsFeature } from "./Features.js"
import type { DuplicateEntry, DuplicateServer } from "./GroupError.js"

const strings = Schema.Record({ key: Schema.String, value: Schema.String })

/** Whether a value is a duration: a number, or a text such as "30 seconds". */
const isDuration = (value: number | string): boolean =>
  typeof value === "number"
    ? value > 0
    : Option.exists(Duration.decodeUnknown(value), Duration.greaterThan(Duration.zero))

/** What a server of either kind may have. */
const shared = {
  disabled: Schema.optional(Schema.Boolean),
  /** The revisions that the client may speak with this server. */
  versions: Schema.optional(Schema.NonEmptyArray(Schema.Literal(...Version.all))),
  /**
   * How long a call may take: a text such as "30 seconds", or a number. Hosts differ in what a number counts: up to 600 it is seconds,
   * above milliseconds.
   */
  timeout: Schema.optional(
    Schema.Union(Schema.Number, Schema.String).pipe(Schema.filter(isDuration, { message: () => "Expected a duration" }))
  ),
  /** The `file://` URIs of the folders that this server may work in. */
  roots: Schema.optional(Schema.Array(Schema.String))
}

/** @category models */
export interface Program extends Schema.Schema.Type<typeof Program> {}

/**
 * A server that is launched as a program and talks over its standard streams.
 *
 * @category schemas
 */
export const Program = Schema.Struct({
  type: Schema.optional(Schema.Literal("stdio")),
  command: Schema.NonEmptyString,
  args: Schema.optional(Schema.Array(Schema.String)),
  env: Schema.optional(strings),
  cwd: Schema.optional(Schema.String),
  ...shared
}).annotations({ identifier: "Program" })

/** @category models */
export interface Address extends Schema.Schema.Type<typeof Address> {}

/**
 * A server that is reached over HTTP; "sse" is the transport of 2024-11-05. Deprecated since 2025-03-26 (SEP-2596).
 *
 * @category schemas
 */
export const Address = Schema.Struct({
  type: Schema.optional(Schema.Literal("http", "streamable-http", "streamableHttp", "sse")),
  url: Schema.NonEmptyString,
  headers: Schema.optional(strings),
  ...shared
}).annotations({ identifier: "Address" })

/** @category models */
export interface ServersConfig extends Schema.Schema.Type<typeof ServersConfig> {}

/** @category schemas */
export const ServersConfig = Schema.Struct({
  mcpServers: Schema.Record({ key: Schema.String, value: Schema.Union(Program, Address) })
}).annotations({ identifier: "ServersConfig" })

/** @category guards */
export const isAddress = (server: Program | Address): server is Address => "url" in server

/**
 * Replaces variables by the environment's values: `${NAME}`, `${env:NAME}`, and `${NAME:-default}`. A variable without
 * value and default becomes the empty string.
 *
 * @category utils
 */
export const expand = (
  config: ServersConfig,
  environment: Readonly<Record<string, string | undefined>>
): ServersConfig => {
  const expanded = (value: unknown): unknown =>
    typeof value === "string"
      ? value.replace(variable, (_, name: string, byDefault: string | undefined) =>
        valueOf(environment, name) ?? byDefault ?? "")
      : Array.isArray(value)
      ? value.map(expanded)
      : Predicate.isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expanded(inner)]))
      : value
  // Strings stay strings, so the type stays the same.
  return { mcpServers: expanded(config.mcpServers) as ServersConfig["mcpServers"] }
}

/**
 * The variables of the servers that are not disabled which have neither a value nor a default.
 *
 * @category utils
 */
export const unset = (
  config: ServersConfig,
  environment: Readonly<Record<string, string | undefined>>
): ReadonlyArray<string> => {
  const names = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === "string") {
      for (const [, name = "", byDefault] of value.matchAll(variable)) {
        if (byDefault === undefined && valueOf(environment, name) === undefined) names.add(name)
      }
    } else if (Array.isArray(value)) value.forEach(collect)
    else if (Predicate.isRecord(value)) Object.values(value).forEach(collect)
  }
  for (const server of Object.values(config.mcpServers)) {
    if (server.disabled !== true) collect(server)
  }
  return [...names]
}

const valueOf = (environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined =>
  Object.hasOwn(environment, name) ? environment[name] : undefined

const variable = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** @category models */
export interface Options<RC, E = never, R = never> extends ClientSessionGroup.Options {
  /** Makes the connector of a server. */
  readonly connector: (server: Program | Address, name: string) => Connector<RC>
  /**
   * The options of every connection, or of those with one server: the client's features, its revisions, the schedule for
   * reconnecting. What the configuration says of a server comes first. Features are built for each connection; the layer fails when
   * they cannot be built.
   */
  readonly server?:
    | ClientSessionGroup.ServerOptions<E, R>
    | ((name: string, server: Program | Address) => ClientSessionGroup.ServerOptions<E, R>)
    | undefined
  /**
   * What to do when a server cannot be reached, or is refused because of `onCollision: "fail"`: fail the layer, or leave the
   * server out and log the error. A server that is left out because it cannot be reached is tried again as the `reconnect` of its
   * options says. Default: leave it out.
   */
  readonly onFailure?: "fail" | "skip" | undefined
}

/**
 * How adding a server to the group can fail.
 *
 * @category errors
 */
export type JoinError = ConnectError | DuplicateEntry | DuplicateServer

/**
 * The group of all servers that are not disabled. They are connected concurrently; where two have an entry of the same name,
 * the server that stands first in the configuration keeps the name. A server that a later attempt connects comes last.
 *
 * @category layers
 */
export const layer = <RC, E = never, R = never>(
  config: ServersConfig,
  options: Options<RC, E, R>
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  JoinError | E,
  Exclude<Exclude<R, Features> | RC, Scope.Scope>
> =>
  ClientSessionGroup.layer(options, (group) =>
    concurrently(
      Object.entries(config.mcpServers).filter(([, { disabled }]) => disabled !== true).map(([name, server]) => {
        const given = typeof options.server === "function" ? options.server(name, server) : options.server ?? {}
        const { reconnect } = given
        const connecting: Effect.Effect<unknown, ConnectingError<E>, Exclude<Exclude<R, Features> | RC, Scope.Scope>> =
          group.connect(name, options.connector(server, name), optionsOf(server, given))
        const leaveOut = (error: ConnectingError<E>) =>
          Effect.logWarning(`The server "${name}" is left out: ${error.message}`)
        return Effect.catchAll(connecting, (error): Effect.Effect<unknown, JoinError | E, any> => {
          if ("ofFeatures" in error) return Effect.fail(error.ofFeatures)
          if (options.onFailure === "fail") return Effect.fail(error)
          if (reconnect === undefined || !mayCome(error)) return leaveOut(error)
          return Effect.logWarning(`The server "${name}" is not there yet: ${error.message}`).pipe(
            Effect.zipRight(Ref.make(true)),
            Effect.flatMap((isFirst) =>
              // The attempt that has failed is the first of the schedule.
              Effect.flatMap(Ref.getAndSet(isFirst, false), (is) => is ? Effect.fail(error) : connecting).pipe(
                Effect.retry({ schedule: reconnect, while: mayCome }),
                Effect.catchAll(leaveOut),
                Effect.interruptible,
                Effect.forkScoped
              )
            )
          )
        })
      })
    )) as never

type ConnectingError<E> = JoinError | { readonly ofFeatures: E; readonly message: string }

/** Whether the server may be reached later. */
const mayCome = (error: ConnectingError<unknown>): boolean =>
  !("ofFeatures" in error) && error._tag !== "DuplicateEntry" && error._tag !== "DuplicateServer" &&
  error._tag !== "NoCommonVersion"

/** The options of a connection, with what the configuration says of its server. */
const optionsOf = <E, R>(
  { roots, timeout, versions }: Program | Address,
  options: ClientSessionGroup.ServerOptions<E, R>
): ClientSessionGroup.ServerOptions<{ readonly ofFeatures: E; readonly message: string }, R> => {
  const features = Layer.mapError(
    options.features ?? Layer.empty as Layer.Layer<never, E, R>,
    (ofFeatures) => ({ ofFeatures, message: "its features cannot be built" })
  )
  return {
    ...options,
    ...(versions === undefined ? undefined : { versions }),
    ...(timeout === undefined ? undefined : { timeout: durationOf(timeout) }),
    // The roots of the configuration take the place of those of the application.
    features: roots === undefined ? features : Layer.flatMap(features, () => rootsOf(roots)) as typeof features
  }
}

const rootsOf = (roots: ReadonlyArray<string>): Layer.Layer<never, never, Features> =>
  Layer.unwrapEffect(Effect.map(Features, (features) => {
    delete features.roots
    return rootsFeature(Effect.succeed(roots.map((uri) => ({ uri }))))
  }))

const durationOf = (timeout: number | string): Duration.Duration =>
  typeof timeout === "string"
    ? Option.getOrThrow(Duration.decodeUnknown(timeout))
    : Duration.millis(timeout <= 600 ? 1000 * timeout : timeout)
