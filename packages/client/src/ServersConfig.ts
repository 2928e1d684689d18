/**
 * The configuration in which hosts name their servers: `mcpServers`, each a program to launch or an address to reach.
 *
 * How a server is reached is said by who knows how: this room makes no connector.
 *
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 * @since 0.1.0
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { ConnectError } from "./ClientError.js"
import * as ClientSessionGroup from "./ClientSessionGroup.js"
import type { DuplicateEntry, DuplicateServer } from "./GroupError.js"

const strings = Schema.Record({ key: Schema.String, value: Schema.String })

/**
 * @since 0.1.0
 * @category models
 */
export interface Program extends Schema.Schema.Type<typeof Program> {}

/**
 * A program that speaks over its standard streams.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Program = Schema.Struct({
  type: Schema.optional(Schema.Literal("stdio")),
  command: Schema.NonEmptyString,
  args: Schema.optional(Schema.Array(Schema.String)),
  env: Schema.optional(strings),
  cwd: Schema.optional(Schema.String),
  disabled: Schema.optional(Schema.Boolean)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface Address extends Schema.Schema.Type<typeof Address> {}

/**
 * A server that is reached over HTTP: "sse" by the transport of 2024-11-05.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Address = Schema.Struct({
  type: Schema.optional(Schema.Literal("http", "streamable-http", "streamableHttp", "sse")),
  url: Schema.NonEmptyString,
  headers: Schema.optional(strings),
  disabled: Schema.optional(Schema.Boolean)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ServersConfig extends Schema.Schema.Type<typeof ServersConfig> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ServersConfig = Schema.Struct({
  mcpServers: Schema.Record({ key: Schema.String, value: Schema.Union(Program, Address) })
})

/**
 * @since 0.1.0
 * @category guards
 */
export const isAddress = (server: Program | Address): server is Address => "url" in server

/**
 * The same configuration with what it takes from the environment filled in: `${NAME}`, `${env:NAME}`, and
 * `${NAME:-otherwise}`. What is not there, and has no otherwise, becomes nothing.
 *
 * @since 0.1.0
 * @category combinators
 */
export const expand = (
  config: ServersConfig,
  environment: Readonly<Record<string, string | undefined>>
): ServersConfig => {
  const filledIn = (value: unknown): unknown =>
    typeof value === "string"
      ? value.replace(variable, (_, name: string, otherwise: string | undefined) =>
        (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? otherwise ?? "")
      : Array.isArray(value)
      ? value.map(filledIn)
      : Predicate.isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner)]))
      : value
  // Strings stay strings, and so the whole what it was.
  return { mcpServers: filledIn(config.mcpServers) as ServersConfig["mcpServers"] }
}

const variable = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * @since 0.1.0
 * @category models
 */
export interface Options<R> extends ClientSessionGroup.Options {
  /** How a server is reached. */
  readonly connector: (server: Program | Address, name: string) => Connector<R>
  /** What each connection is made with: what the client can do, when to come back to a server that has gone. */
  readonly server?: ClientSessionGroup.ServerOptions | undefined
  /**
   * What becomes of a server that cannot be reached, or whose names are taken: the layer fails, or goes on without it and
   * logs why. Default: it goes on.
   */
  readonly onFailure?: "fail" | "skip" | undefined
}

/**
 * Why a server is not in the group.
 *
 * @since 0.1.0
 * @category errors
 */
export type JoinError = ConnectError | DuplicateEntry | DuplicateServer

/**
 * The group of all servers that are not disabled, connected beside one another.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R>(
  config: ServersConfig,
  options: Options<R>
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  JoinError,
  Exclude<R, Scope.Scope>
> =>
  ClientSessionGroup.layer(options, (group) =>
    Effect.forEach(
      Object.entries(config.mcpServers).filter(([, { disabled }]) => disabled !== true),
      ([name, server]) => {
        const connecting = group.connect(name, options.connector(server, name), options.server)
        return options.onFailure === "fail"
          ? connecting
          : Effect.catchAll(connecting, (error) =>
            Effect.logWarning(`The server "${name}" is left out: ${error.message}`))
      },
      { concurrency: "unbounded", discard: true }
    ))
