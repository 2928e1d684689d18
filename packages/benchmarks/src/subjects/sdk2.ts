/**
 * The official TypeScript SDK, version 2: client and server over its pair of transports, as its documentation
 * shows.
 */
import { Client, type ClientOptions } from "@modelcontextprotocol/client"
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"
import { check, type Subject } from "../Workload.js"

const inputSchema = z.object({ a: z.number(), b: z.number() })
const outputSchema = z.object({ sum: z.number() })

export const makeServer = (): McpServer => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool("add", { inputSchema, outputSchema }, ({ a, b }) => {
    const structuredContent = { sum: a + b }
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
  })
  return server
}

const start = async (
  options: ClientOptions,
  serve: (transport: InMemoryTransport) => Promise<{ readonly close: () => Promise<void> }>
): Promise<Subject> => {
  const client = new Client({ name: "bench", version: "1.0.0" }, options)
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = await serve(far)
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

export const legacy = (): Promise<Subject> =>
  start({}, async (transport) => {
    const server = makeServer()
    await server.connect(transport)
    return server
  })

/** For 2026-07-28 over a pipe the SDK has `serveStdio`, which takes any transport. */
export const modern = (): Promise<Subject> =>
  start(
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    (transport) => Promise.resolve(serveStdio(makeServer, { transport }))
  )
