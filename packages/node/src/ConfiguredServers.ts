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
import * as Remote from "@effect-mcp/client/Remote"
import * as ServersConfig from "@effect-mcp/client/ServersConfig"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as StdioClient from "./StdioClient.js"

export interface Options extends Omit<ServersConfig.Options<HttpClient>, "connector"> {
  /** The values of `${NAME}` in the configuration. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Where the stderr of programs goes. Default: `forward`, to the stderr of this process. */
  readonly stderr?: StdioClient.Options["stderr"]
}

/** The connector of one server of a configuration. */
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
 * All servers of a configuration, given as parsed JSON, as one group. Fails with a `ParseError` when the value is not a
 * configuration.
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
