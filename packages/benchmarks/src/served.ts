/**
 * One HTTP server in a process of its own, to measure its processor time alone: `served.js <subject>` sends its URL to the
 * parent process, and answers each message with the processor time so far. `subjects/http` calls it.
 */
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Tool } from "@effect-mcp/definition"
import { HttpServer } from "@effect-mcp/node"
import { McpServer } from "@effect-mcp/server"
import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
import { McpServer as OfficialServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { Effect, Layer, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { z } from "zod"

const Add = Tool.make("add", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})

const Server = McpServer.layer(
  { name: "bench", version: "1.0.0" },
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
)

const report = (message: unknown) => process.send!(message)

const raw = Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => report({ url }))).pipe(
  Effect.zipRight(Effect.never),
  Effect.provide(HttpServer.layer({ port: 0 }).pipe(Layer.provide(Server)))
)

const app = Effect.flatMap(
  PlatformServer.HttpServer,
  ({ address }) =>
    Effect.sync(() => report({ url: `http://127.0.0.1:${(address as { readonly port: number }).port}/mcp` }))
).pipe(
  Effect.zipRight(Effect.never),
  Effect.provide(HttpEndpoint.serve({ path: "/mcp" })),
  Effect.provide(Server),
  Effect.provide(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
)

/** As the documentation of the SDK shows: a transport and a server for each session. */
const official = () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => {
        sessions.set(id, transport)
      }
    })
    const server = new OfficialServer({ name: "bench", version: "1.0.0" })
    server.registerTool(
      "add",
      { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
      ({ a, b }) => {
        const structuredContent = { sum: a + b }
        return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
      }
    )
    await server.connect(transport as never)
    return transport
  }
  const listener = createServer((request, response) => {
    void (async () => {
      const transport = sessions.get(String(request.headers["mcp-session-id"])) ?? await begin()
      await transport.handleRequest(request, response)
    })()
  })
  listener.listen(
    0,
    "127.0.0.1",
    () => report({ url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp` })
  )
}

process.on("message", () => {
  const { system, user } = process.cpuUsage()
  report({ microseconds: user + system })
})
process.on("disconnect", () => process.exit(0))

const servers: Readonly<Record<string, () => unknown>> = {
  "own-http": () => Effect.runFork(raw),
  "own-app": () => Effect.runFork(app),
  "sdk1-http": official
}

servers[process.argv[2] ?? ""]!()
