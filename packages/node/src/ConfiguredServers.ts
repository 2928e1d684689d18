/**
 * The servers that a host's configuration names, as one group: programs are launched, addresses reached over HTTP.
 *
 * What the configuration says is the business of `@effect-mcp/client/ServersConfig`, what a group is that of
 * `ClientSessionGroup`; this room only knows how a server is reached from Node.
 *
 * @since 0.1.0
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type * as ClientSessionGroup from "@effect-mcp/client/ClientSessionGroup"
import * as Remote from "@effect-mcp/client/Remote"
import * as ServersConfig from "@effect-mcp/client/ServersConfig"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as StdioClient from "./StdioClient.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<ServersConfig.Options<HttpClient>, "connector"> {
  /** What `${NAME}` in the configuration stands for. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Where programs write what they log. Default: to our stderr. */
  readonly stderr?: StdioClient.Options["stderr"]
}

/**
 * How a server of a configuration is reached.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connector = (
  server: ServersConfig.Program | ServersConfig.Address,
  options: Pick<Options, "stderr"> = {}
): Connector<HttpClient> =>
  ServersConfig.isAddress(server)
    ? Remote.connector(server.url, {
      ...(server.headers === undefined ? undefined : { headers: server.headers }),
      ...(server.type === "sse" ? { transport: "sse" as const } : undefined)
    })
    : StdioClient.connector({
      command: server.command,
      args: server.args,
      env: server.env,
      cwd: server.cwd,
      stderr: options.stderr
    })

/**
 * All servers of a configuration that was read as JSON, as one group. Fails with a `ParseError` when it is none.
 *
 * @example
 * ```ts
 * import { ClientSessionGroup } from "@effect-mcp/client"
 * import { ConfiguredServers } from "@effect-mcp/node"
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
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: unknown,
  options: Options = {}
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  ParseResult.ParseError | ServersConfig.JoinError,
  HttpClient
> =>
  Layer.unwrapEffect(Effect.map(
    Schema.decodeUnknown(ServersConfig.ServersConfig)(config),
    (decoded) =>
      ServersConfig.layer(ServersConfig.expand(decoded, options.environment ?? process.env), {
        ...options,
        connector: (server) => connector(server, options)
      })
  ))
