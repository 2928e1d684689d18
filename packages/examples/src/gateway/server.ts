/**
 * A gateway over standard streams: it passes an upstream on, the notes server of the examples, with other names and without
 * one of its tools, and has a tool of its own beside it. Clients of every revision may use it.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"

const Upstream = StdioClient.connector({
  command: process.execPath,
  args: [fileURLToPath(new URL("../notes/server.js", import.meta.url))],
  stderr: "ignore"
})

const Notes = Proxy.layer(Upstream, {
  name: "notes",
  rename: ({ name }) => name === "search" ? "find_in_notes" : `notes_${name}`,
  filter: ({ name }) => name !== "outline"
})

const Hello = Tool.make("hello", { description: "Greets the client." })
const HelloLive = McpServer.tool(Hello, () => Effect.succeed("Hello from the gateway"))

const Gateway = McpServer.layer({ name: "gateway", version: "1.0.0" }, Layer.merge(Notes, HelloLive))

StdioServer.layer.pipe(Layer.provide(Gateway), Layer.launch, StdioServer.runMain)
