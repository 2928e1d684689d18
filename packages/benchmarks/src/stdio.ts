/**
 * One server over stdio in a process of its own: `stdio.js <server>` serves its tools on its standard streams, and answers each
 * message of its parent process with the processor time so far.
 */
import * as NodeStdio from "node:process"
import { createInterface } from "node:readline"
import type { Message } from "./servers/node.js"

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
  "effect-ai": async () => (await import("./servers/others.js")).stdio.effectAi(),
  fastmcp: async () => (await import("./servers/others.js")).stdio.fastmcp(),
  tmcp: async () => (await import("./servers/others.js")).stdio.tmcp(),
  /** The floor: reads lines, parses them, and answers with the same JSON. It checks only that the arguments are numbers. */
  node: async () => {
    const { answerTo, progress, progressOf } = await import("./servers/node.js")
    const write = (message: object) => NodeStdio.stdout.write(`${JSON.stringify(message)}\n`)
    createInterface({ input: NodeStdio.stdin }).on("line", (line) => {
      const message: Message = JSON.parse(line)
      if (message.id === undefined) return
      const notifications = progressOf(message)
      for (let n = 1; n <= notifications; n++) write(progress(message, n))
      write(answerTo(message.id, message))
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
