/**
 * The same server as `own.ts` with the official SDK, version 1, as its documentation shows. `startup.ts` starts it, unbundled and
 * bundled.
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"

const server = new McpServer({ name: "bench", version: "1.0.0" })
const inputSchema = { a: z.number(), b: z.number() }
server.registerTool("add", { inputSchema, outputSchema: { sum: z.number() } }, ({ a, b }) => {
  const structuredContent = { sum: a + b }
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
})
await server.connect(new StdioServerTransport())
