/**
 * The official TypeScript SDK, version 1: client and server over its pair of transports, as its documentation
 * shows.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js"
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js"
import { z } from "zod"
import * as Parked from "../Parked.js"
import { BURST, calling, type Holder, offered, reporting, type Subject } from "../Workload.js"

interface Arguments {
  readonly a: number
  readonly b: number
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

type Handler = (input: Arguments, extra: Extra) => CallToolResult | Promise<CallToolResult>

const add = ({ a, b }: Arguments): CallToolResult => {
  const structuredContent = { sum: a + b }
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
}

const progress = async ({ _meta, sendNotification }: Extra, progress: number, total: number): Promise<void> => {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total } })
}

const handlers: Readonly<Record<string, Handler>> = {
  addSlowly: async (input, extra) => {
    await progress(extra, 1, 2)
    return add(input)
  },
  report: async (input, extra) => {
    for (let n = 1; n <= input.a; n++) await progress(extra, n, input.a)
    return add(input)
  },
  park: async (_, extra) => {
    await progress(extra, 1, 2)
    return Parked.untilAborted(extra.signal)
  }
}

export const makeServer = (): McpServer => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  for (const name of offered) {
    server.registerTool(
      name,
      { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
      handlers[name] ?? add
    )
  }
  return server
}

const connect = async () => {
  const server = makeServer()
  const client = new Client({ name: "bench", version: "1.0.0" })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  await client.connect(near)
  return {
    client,
    close: async () => {
      await client.close()
      await server.close()
    }
  }
}

export const start = async (): Promise<Subject> => {
  const { client, close } = await connect()
  return calling(client, close)
}

export const progressOfPair = async (): Promise<Subject> => {
  const { client, close } = await connect()
  const call = { name: "report", arguments: { a: BURST, b: 1 } }
  return { ...reporting((onprogress) => client.callTool(call, undefined, { onprogress })), close }
}

const park = (client: Client): Parked.Park =>
  Parked.parkWith((signal) => client.callTool({ name: "park", arguments: { a: 1, b: 1 } }, undefined, { signal }))

export const cancel = async (): Promise<Subject> => {
  const { client, close } = await connect()
  return Parked.cancelling(park(client), close)
}

export const hold = async (): Promise<Holder> => {
  const { client, close } = await connect()
  return Parked.holding(park(client), close)
}
