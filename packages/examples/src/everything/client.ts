/**
 * A client that does what the official conformance suite asks of one: an example of what a client can do for its server,
 * and what the suite is run with. `node client.js <url>`; the scenario is in `MCP_CONFORMANCE_SCENARIO`, the revision in
 * `MCP_CONFORMANCE_PROTOCOL_VERSION`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/client/Client"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import * as Features from "@effect-mcp/client/Features"
import * as Remote from "@effect-mcp/client/Remote"
import * as Version from "@effect-mcp/protocol/Version"
import { Effect, Stream } from "effect"

type Scenario = (client: ClientSessionService) => Effect.Effect<unknown, unknown>

const tools = (client: ClientSessionService) => Stream.runCollect(client.tools)

const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: tools,
  tools_call: (client) => Effect.zipRight(tools(client), client.callTool("add_numbers", { a: 5, b: 3 })),
  "elicitation-sep1034-client-defaults": (client) =>
    Effect.zipRight(tools(client), client.callTool("test_client_elicitation_defaults", {})),
  // The stream ends without an answer; the transport comes back for it by itself.
  "sse-retry": (client) => Effect.zipRight(tools(client), client.callTool("test_reconnection", {})),
  "json-schema-2020-12-preservation": (client) =>
    Effect.flatMap(tools(client), (listed) => {
      const tool = Array.from(listed).find(({ name }) => name === "json_schema_2020_12_tool")
      return tool === undefined
        ? Effect.fail(new Error("The server does not list json_schema_2020_12_tool"))
        : client.callTool("json_schema_echo", { schema: tool.inputSchema })
    })
}

// A person who agrees to everything and fills in nothing: the form's defaults do.
const agreeing = Features.elicitation(() => Effect.succeed({ action: "accept" }))

const program = Effect.gen(function*() {
  const url = process.argv.at(-1) ?? ""
  const name = process.env.MCP_CONFORMANCE_SCENARIO ?? "initialize"
  const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? Version.latestLegacy
  const scenario = scenarios[name]
  if (scenario === undefined) return yield* Effect.fail(new Error(`There is no scenario "${name}"`))
  if (!Version.isLegacy(version)) return yield* Effect.fail(new Error(`Revision ${version} is not spoken`))
  const client = yield* Client.make(Remote.connector(url), { versions: [version], features: agreeing })
  yield* scenario(client)
})

program.pipe(
  Effect.scoped,
  Effect.provide(NodeHttpClient.layerUndici),
  NodeRuntime.runMain
)
