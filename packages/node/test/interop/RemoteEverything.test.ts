import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import { Chunk, Effect, Fiber, Schedule, Stream } from "effect"
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { node } from "../Fixture.js"

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")

/** Tells on stderr which port is listened on: the server knows only the one that it was given, which is 0 for any. */
const telling = `data:text/javascript,${
  encodeURIComponent(`
    import { Server } from "node:net"
    const { listen } = Server.prototype
    Server.prototype.listen = function (...args) {
      this.once("listening", () => console.error("<" + this.address().port + ">"))
      return listen.apply(this, args)
    }
  `)
}`

/** The official everything server over HTTP. */
const launched = (mode: "streamableHttp" | "sse") =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(node, ["--import", telling, program, mode], { env: { ...process.env, PORT: "0" }, stdio: "pipe" })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    child.stdout.resume()
    const port = yield* Effect.async<string>((resume) => {
      let text = ""
      child.stderr.on("data", (data) => {
        text += String(data)
        const [, port] = /<(\d+)>/.exec(text) ?? []
        if (port !== undefined) resume(Effect.succeed(port))
      })
    })
    return `http://127.0.0.1:${port}/${mode === "sse" ? "sse" : "mcp"}`
  })

for (const mode of ["streamableHttp", "sse"] as const) {
  describe(`A client of Effect MCP and the official everything server over ${mode}`, () => {
    it.scopedLive("list and call tools, with progress", () =>
      Effect.gen(function*() {
        const url = yield* launched(mode)
        const client = yield* Effect.retry(Client.make(Remote.connector(url)), Schedule.recurs(3))
        assert.strictEqual(client.serverInfo.name, "mcp-servers/everything")
        const tools = Chunk.toArray(yield* Stream.runCollect(client.tools))
        assert.include(tools.map(({ name }) => name), "echo")
        const echoed = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, n) => String(n)),
          (message) => client.callTool("echo", { message }),
          { concurrency: 10 }
        )
        assert.deepStrictEqual(echoed[7]!.content, [{ type: "text", text: "Echo: 7" }])
        const seen: Array<number> = []
        const calling = yield* Effect.fork(
          client.callTool("trigger-long-running-operation", { duration: 0.2, steps: 4 }, {
            onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
          })
        )
        yield* Fiber.join(calling)
        assert.deepStrictEqual(seen, [1, 2, 3, 4])
      }).pipe(Effect.provide(NodeHttpClient.layerUndici)))
  })
}
