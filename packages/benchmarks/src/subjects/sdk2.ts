/**
 * The official TypeScript SDK, version 2: client and server over its pair of transports, as its documentation
 * shows.
 */
import { Client, type ClientOptions } from "@modelcontextprotocol/client"
import { type CallToolResult, InMemoryTransport, McpServer, type ServerContext } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"
import * as Parked from "../Parked.js"
import { BURST, calling, type Holder, offered, reporting, type Subject } from "../Workload.js"

const inputSchema = z.object({ a: z.number(), b: z.number() })
const outputSchema = z.object({ sum: z.number() })

interface Arguments {
  readonly a: number
  readonly b: number
}

type Handler = (input: Arguments, context: ServerContext) => CallToolResult | Promise<CallToolResult>

const add = ({ a, b }: Arguments): CallToolResult => {
  const structuredContent = { sum: a + b }
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
}

const progress = async ({ mcpReq }: ServerContext, progress: number, total: number): Promise<void> => {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } })
}

const handlers: Readonly<Record<string, Handler>> = {
  report: async (input, context) => {
    for (let n = 1; n <= input.a; n++) await progress(context, n, input.a)
    return add(input)
  },
  park: async (_, context) => {
    await progress(context, 1, 2)
    return Parked.untilAborted(context.mcpReq.signal)
  }
}

export const makeServer = (): McpServer => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  for (const name of offered) server.registerTool(name, { inputSchema, outputSchema }, handlers[name] ?? add)
  return server
}

const connect = async (
  options: ClientOptions,
  serve: (transport: InMemoryTransport) => Promise<{ readonly close: () => Promise<void> }>
) => {
  const client = new Client({ name: "bench", version: "1.0.0" }, options)
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = await serve(far)
  await client.connect(near)
  return {
    client,
    close: async () => {
      await client.close()
      await server.close()
    }
  }
}

const connectLegacy = () =>
  connect({}, async (transport) => {
    const server = makeServer()
    await server.connect(transport)
    return server
  })

const ofPair = ({ client, close }: Awaited<ReturnType<typeof connect>>): Subject => calling(client, close)

export const legacy = async (): Promise<Subject> => ofPair(await connectLegacy())

/** For 2026-07-28 over a pipe the SDK has `serveStdio`, which takes any transport. */
export const modern = async (): Promise<Subject> =>
  ofPair(
    await connect(
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
      (transport) => Promise.resolve(serveStdio(makeServer, { transport }))
    )
  )

export const progressOfPair = async (): Promise<Subject> => {
  const { client, close } = await connectLegacy()
  const call = { name: "report", arguments: { a: BURST, b: 1 } }
  return { ...reporting((onprogress) => client.callTool(call, { onprogress })), close }
}

const park = (client: Client): Parked.Park =>
  Parked.parkWith((signal) => client.callTool({ name: "park", arguments: { a: 1, b: 1 } }, { signal }))

export const cancel = async (): Promise<Subject> => {
  const { client, close } = await connectLegacy()
  return Parked.cancelling(park(client), close)
}

export const hold = async (): Promise<Holder> => {
  const { client, close } = await connectLegacy()
  return Parked.holding(park(client), close)
}
