/**
 * Other libraries, as their documentation shows: `McpServer` of `@effect/ai`, `fastmcp` and `tmcp`, each over HTTP and over stdio.
 * `fastmcp` runs on the official SDK, version 1.
 */
import { McpServer as AiServer, Tool, Toolkit } from "@effect/ai"
import { HttpRouter } from "@effect/platform"
import * as NodeSink from "@effect/platform-node/NodeSink"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { HttpTransport } from "@tmcp/transport-http"
import { StdioTransport } from "@tmcp/transport-stdio"
import { Effect, Layer, Logger, Schema } from "effect"
import { FastMCP } from "fastmcp"
import { createServer } from "node:net"
import { McpServer } from "tmcp"
import { z } from "zod"
import { onPlatform } from "./platform.js"
import * as Start from "./Start.js"

const info = { name: "bench", version: "1.0.0" }

const Adding = Toolkit.make(Tool.make("add", {
  description: "Adds two numbers",
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
}))

const AiFeatures = AiServer.toolkit(Adding).pipe(
  Layer.provide(Adding.toLayer({ add: ({ a, b }) => Effect.succeed({ sum: a + b }) }))
)

const inputs = z.object({ a: z.number(), b: z.number() })

const makeFast = (): FastMCP => {
  const server = new FastMCP({ name: "bench", version: "1.0.0" })
  server.addTool({
    name: "add",
    description: "Adds two numbers",
    parameters: inputs,
    // `fastmcp` has no structured content.
    execute: ({ a, b }) => Promise.resolve(JSON.stringify({ sum: a + b }))
  })
  return server
}

const makeTmcp = () => {
  const adapter = new ZodJsonSchemaAdapter()
  const server = new McpServer(
    { ...info, description: "Adds" },
    { adapter, capabilities: { tools: { listChanged: true } } }
  )
  server.tool(
    { name: "add", description: "Adds two numbers", schema: inputs, outputSchema: z.object({ sum: z.number() }) },
    ({ a, b }) => {
      const structuredContent = { sum: a + b }
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
    }
  )
  return server
}

/** A port that nothing listens on: `fastmcp` does not tell which port the system has chosen. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        address === null || typeof address === "string" ? reject(new Error("No port")) : resolve(address.port)
      )
    })
  })

export const effectAi: Start.Start = onPlatform(
  Layer.merge(AiFeatures, HttpRouter.Default.serve()).pipe(
    Layer.provide(AiServer.layerHttp({ ...info, path: "/mcp" }))
  )
)

export const fastmcp: Start.Start = (onListening) =>
  void (async () => {
    const port = await freePort()
    await makeFast().start({
      transportType: "httpStream",
      httpStream: { port, host: "127.0.0.1", enableJsonResponse: true }
    })
    onListening(Start.urlOf(port))
  })()

const transport = new HttpTransport(makeTmcp(), { path: "/mcp" })

export const tmcp: Start.Start = Start.onWeb(async (request) =>
  await transport.respond(request) ?? new Response(null, { status: 404 })
)

/** The same servers over stdio. */
export const stdio = {
  effectAi: (): void => {
    const server = AiServer.layerStdio({ ...info, stdin: NodeStream.stdin, stdout: NodeSink.stdout })
    AiFeatures.pipe(
      Layer.provide(server),
      Layer.provide(Logger.add(Logger.prettyLogger({ stderr: true }))),
      Layer.launch,
      Effect.runFork
    )
  },
  fastmcp: (): Promise<void> => makeFast().start({ transportType: "stdio" }),
  tmcp: (): void => {
    new StdioTransport(makeTmcp()).listen()
  }
}
