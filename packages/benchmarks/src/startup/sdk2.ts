/**
 * The same server as `own.ts` with the official SDK, version 2, as its documentation shows. `startup.ts` starts it, unbundled and
 * bundled.
 */
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

const inputSchema = z.object({ a: z.number(), b: z.number() })

serveStdio(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool("add", { inputSchema, outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => {
    const structuredContent = { sum: a + b }
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
  })
  return server
})
