/**
 * The official TypeScript SDK, version 1: client and server over its pair of transports, as its documentation
 * shows.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { z } from "zod"
import { check, type Subject } from "../Workload.js"

export const makeServer = (): McpServer => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => {
      const structuredContent = { sum: a + b }
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
    }
  )
  server.registerTool(
    "addSlowly",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    async ({ a, b }, { _meta, sendNotification }) => {
      const progressToken = _meta!.progressToken!
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } })
      const structuredContent = { sum: a + b }
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
    }
  )
  return server
}

export const start = async (): Promise<Subject> => {
  const server = makeServer()
  const client = new Client({ name: "bench", version: "1.0.0" })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  await client.connect(near)
  const calls = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const { structuredContent } = await client.callTool({ name: "add", arguments: { a: i, b: 1 } })
      check((structuredContent as { readonly sum?: unknown } | undefined)?.sum, i, 1)
    }
  }
  return {
    run: async (count, inFlight) => {
      await Promise.all(Array.from({ length: inFlight }, () => calls(Math.ceil(count / inFlight))))
    },
    close: async () => {
      await client.close()
      await server.close()
    }
  }
}
