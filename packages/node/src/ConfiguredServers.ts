/**
 * The servers of a host's configuration (`mcpServers`) as one group: launches programs, and connects to URLs over HTTP.
 *
 * `@effect-mcp/client/ServersConfig` describes the configuration and makes the `ClientSessionGroup`; this module provides
 * the connectors for Node.
 *
 * @since 0.1.0
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type * as ClientSessionGroup from "@effect-mcp/client/ClientSessionGroup"
import type { Features } from "@effect-mcp/client/Features"
import * as Remote from "@effect-mcp/client/Remote"
import type * as RemoteOptions from "@effect-mcp/client/RemoteOptions"
import * as ServersConfig from "@effect-mcp/client/ServersConfig"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Tap from "@effect-mcp/jsonrpc/Tap"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as StdioClient from "./StdioClient.js"

/** @category models */
export interface Options<RA = never, E = never, R = never>
  extends Omit<ServersConfig.Options<HttpClient, E, R>, "connector">
{
  /**
   * Authorizes the client at the servers with a URL, except servers whose headers in the configuration have `Authorization`.
   * For OAuth, pass `Authorization.authorize` of `@effect-mcp/auth`. Default: no authorization.
   */
  readonly authorize?: RemoteOptions.Options<RA>["authorize"]
  /** The values of `${NAME}` in the configuration. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Where the stderr of programs goes; a function gets the name of the server with each line. Default: `forward`, to the stderr of
   * this process.
   */
  readonly stderr?: StdioClient.Options["stderr"] | ((line: string, server: string) => Effect.Effect<void>)
  /** Receives every message of every server, without secrets, with the name of the server: `Tap.log`, for example. Default: none. */
  readonly tap?: Tap.Tap | undefined
  /** More options for the connection with a program. What the configuration says comes first. Default: none. */
  readonly program?:
    | ((name: string, server: ServersConfig.Program) => Omit<StdioClient.Options, "command" | "name">)
    | undefined
  /** More options for the connection with a URL. What the configuration says comes first. Default: none. */
  readonly address?: ((name: string, server: ServersConfig.Address) => RemoteOptions.Options<RA>) | undefined
}

/**
 * The connector of one server of a configuration. Without a name, logs and errors name a program by its command, and another server by its
 * URL.
 *
 * @category constructors
 */
export const connector = <R = never>(
  server: ServersConfig.Program | ServersConfig.Address,
  options: Pick<Options<R>, "address" | "authorize" | "program" | "stderr"> = {},
  name?: string
): Connector<HttpClient | Exclude<R, Scope.Scope>> => {
  const key = name ?? "server"
  if (ServersConfig.isAddress(server)) {
    const { headers, type, url } = server
    const { authorize = options.authorize, ...more } = options.address?.(key, server) ?? {}
    const made = Remote.connector<R>(url, {
      ...more,
      ...(headers === undefined ? undefined : { headers }),
      ...(hasAuthorization(headers) ? undefined : { authorize }),
      ...(type === "sse" ? { transport: "sse" as const } : undefined)
    })
    return name === undefined ? made : { ...made, name }
  }
  const { args, command, cwd, env } = server
  const more = options.program?.(key, server)
  const stderr = more?.stderr ?? options.stderr
  return StdioClient.connector({
    ...more,
    name,
    command,
    args: args ?? more?.args,
    env: { ...more?.env, ...env },
    cwd: cwd ?? more?.cwd,
    stderr: typeof stderr === "function" ? (line) => stderr(line, key) : stderr
  })
}

const hasAuthorization = (headers: Readonly<Record<string, string>> = {}): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === "authorization")

/**
 * All servers of a configuration, given as parsed JSON, as one group. Fails with a `ParseError` when the value is not a
 * configuration. Variables without a value are empty; a warning in the log names them.
 *
 * @example
 * ```ts
 * import * as ClientSessionGroup from "@effect-mcp/client/ClientSessionGroup"
 * import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
 * import { FetchHttpClient } from "@effect/platform"
 * import { Effect, Layer } from "effect"
 *
 * const Servers = ConfiguredServers.layer({
 *   mcpServers: {
 *     files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}"] },
 *     search: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer ${TOKEN}" } }
 *   }
 * })
 *
 * export const main = Effect.flatMap(ClientSessionGroup.ClientSessionGroup, (group) => group.callTool("list_files")).pipe(
 *   Effect.provide(Servers.pipe(Layer.provide(FetchHttpClient.layer)))
 * )
 * ```
 * @category layers
 */
export const layer = <RA = never, E = never, R = never>(
  config: unknown,
  options: Options<RA, E, R> = {}
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  ParseResult.ParseError | ServersConfig.JoinError | E,
  HttpClient | Exclude<RA | Exclude<R, Features>, Scope.Scope>
> =>
  Layer.unwrapEffect(Effect.flatMap(
    Schema.decodeUnknown(ServersConfig.ServersConfig)(config),
    (decoded) => {
      const environment = options.environment ?? process.env
      const servers = ServersConfig.layer(ServersConfig.expand(decoded, environment), {
        ...options,
        connector: (server, name) => {
          const made = connector(server, options, name)
          return options.tap === undefined ? made : Tap.connector(made, options.tap)
        }
      })
      return Effect.as(warnOf(ServersConfig.unset(decoded, environment)), servers)
    }
  ))

const warnOf = (names: ReadonlyArray<string>): Effect.Effect<void> =>
  names.length === 0 ? Effect.void : Effect.logWarning(
    `The configuration of the servers has variables without a value: ${names.join(", ")}. ` +
      "Set them in the environment, or write defaults, as in ${NAME:-default}"
  )
