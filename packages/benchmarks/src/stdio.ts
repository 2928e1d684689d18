/**
 * One server over stdio in a process of its own: `stdio.js <server>` serves the tool "add" on its standard streams, and answers each
 * message of its parent process with the processor time so far.
 */
import * as NodeStdio from "node:process"
import { createInterface } from "node:readline"

const servers: Readonly<Record<string, () => Promise<void>>> = {
  own: async () => {
    const [StdioServer, { Effect, Layer }, { Server }] = await Promise.all([
      import("@effect-mcp/node/StdioServer"),
      import("effect"),
      import("./AddServer.js")
    ])
    Effect.runFork(Layer.launch(Layer.provide(StdioServer.layer, Server)))
  },
  sdk1: async () => {
    const [{ StdioServerTransport }, { makeServer }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("./subjects/sdk1.js")
    ])
    await makeServer().connect(new StdioServerTransport())
  },
  sdk2: async () => {
    const [{ StdioServerTransport }, { makeServer }] = await Promise.all([
      import("@modelcontextprotocol/server/stdio"),
      import("./subjects/sdk2.js")
    ])
    await makeServer().connect(new StdioServerTransport())
  },
  /** The floor: reads lines, parses them, and answers with the same JSON. It checks nothing. */
  node: async () => {
    const { answer } = await import("./servers/node.js")
    createInterface({ input: NodeStdio.stdin }).on("line", (line) => {
      const call = JSON.parse(line) as Parameters<typeof answer>[0]
      if (call.id !== undefined) NodeStdio.stdout.write(`${JSON.stringify(answer(call))}\n`)
    })
  }
}

process.on("message", () => {
  const { system, user } = process.cpuUsage()
  process.send!({ microseconds: user + system })
})
process.on("disconnect", () => process.exit(0))

await servers[process.argv[2] ?? ""]!()
// A client that launches the server by itself has no channel.
process.send?.({ microseconds: 0 })
