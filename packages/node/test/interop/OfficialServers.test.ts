import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Definition from "@effect-mcp/core/Definition"
import type { Progress } from "@effect-mcp/core/Progress"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Deferred, Effect, Fiber, Queue, Schema, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { fixture, node, until } from "../Fixture.js"
import { pidsOf } from "../Processes.js"

class OutOfRange extends Schema.TaggedError<OutOfRange>()("OutOfRange", { n: Schema.Number }) {}

const Root = Tool.make("root", {
  parameters: { n: Schema.Number },
  success: Schema.Struct({ root: Schema.Number }),
  failure: OutOfRange
})
const Tools = Definition.make(Root)

const blocks = (text: string) => [{ type: "text" as const, text }]

interface Talk {
  readonly client: ClientSessionService
  readonly mark: string
  readonly stderr: () => string
  /** The notifications of the server from now on. */
  readonly received: Queue.Dequeue<{ readonly method: string; readonly params?: unknown }>
}

const talk = (server: string): Effect.Effect<Talk, never, Scope.Scope> =>
  Effect.gen(function*() {
    const mark = randomUUID()
    const lines: Array<string> = []
    const client = yield* Effect.orDie(Client.make(
      StdioClient.connector({
        command: node,
        args: [fixture(server), mark],
        stderr: (line) => Effect.sync(() => lines.push(line)).pipe(Effect.asVoid),
        closeTimeouts: { grace: "1 minute" }
      }),
      { versions: Version.legacy }
    ))
    const received = yield* Queue.unbounded<{ readonly method: string; readonly params?: unknown }>()
    const listening = yield* Effect.forkScoped(
      Stream.runForEach(client.notifications, (one) => Queue.offer(received, one))
    )
    yield* untilSuspended(listening)
    return { client, mark, stderr: () => lines.join("\n"), received }
  })

const servers = { "1.32": "officialServer1.mjs", "2.4": "officialServer2.mjs" }

for (const [version, server] of Object.entries(servers)) {
  describe(`A client of Effect MCP and a server of the official SDK ${version}`, () => {
    it.scopedLive("complete the handshake, and list and call tools", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        assert.strictEqual(client.version, "2025-11-25")
        assert.strictEqual(client.serverInfo.name, "official")
        assert.strictEqual(client.instructions, "Call them.")
        assert.deepStrictEqual(client.serverCapabilities.tools, { listChanged: true })
        yield* client.ping()
        const tools = Chunk.toArray(yield* Stream.runCollect(client.tools))
        assert.lengthOf(tools, 10)
        assert.deepStrictEqual(tools[0], {
          name: "echo",
          description: "The tool echo.",
          inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
          annotations: { readOnlyHint: true }
        })
        assert.deepStrictEqual((yield* client.callTool("echo", { text: "ä€😀" })).content, blocks("ä€😀"))
      }))

    it.scopedLive("exchange typed results: success, declared failure, invalid arguments", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const { root } = Client.of(client, Tools)
        assert.deepStrictEqual(yield* root({ n: 9 }), { root: 3 })
        const failure = yield* Effect.flip(root({ n: -1 }))
        assert.instanceOf(failure, OutOfRange)
        assert.strictEqual((yield* Effect.flip(root({ n: "9" as never })))._tag, "InvalidParams")
      }))

    it.scopedLive("call many tools concurrently", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const texts = Array.from({ length: 100 }, (_, n) => String(n))
        const results = yield* Effect.forEach(texts, (text) => client.callTool("echo", { text }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(results.map(({ content }) => content), texts.map(blocks))
      }))

    it.scopedLive("send progress in order, all of it before the result", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const seen: Array<Progress | string> = []
        yield* client.callTool("slow", { steps: 100 }, {
          onProgress: (progress) => Effect.zipRight(Effect.yieldNow(), Effect.sync(() => seen.push(progress)))
        })
        seen.push("result")
        assert.deepStrictEqual(seen, [
          ...Array.from({ length: 100 }, (_, n) => ({ progress: n + 1, total: 100 })),
          "result"
        ])
      }))

    it.scopedLive("cancel a call: the handler sees its signal, and its response is ignored", () =>
      Effect.gen(function*() {
        const { client, received, stderr } = yield* talk(server)
        const began = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(client.callTool("wait", {}, {
          onProgress: () => Deferred.succeed(began, undefined)
        }))
        yield* Deferred.await(began)
        assert.notInclude(stderr(), "stopped")
        yield* Fiber.interrupt(calling)
        yield* until(() => stderr().includes("wait stopped"))
        assert.deepStrictEqual((yield* client.callTool("echo", { text: "on" })).content, blocks("on"))
        assert.strictEqual(yield* Queue.size(received), 0)
      }))

    it.scopedLive("cancel a call that times out", () =>
      Effect.gen(function*() {
        const { client, stderr } = yield* talk(server)
        yield* client.ping()
        const error = yield* Effect.flip(client.callTool("wait", {}, { timeout: "200 millis" }))
        assert.strictEqual(error._tag, "RequestTimeout")
        yield* until(() => stderr().includes("wait stopped"))
        yield* client.ping()
      }))

    it.scopedLive("distinguish errors of the tool, of the protocol and of the server", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const tool = yield* client.callTool("root", { n: -1 })
        assert.isTrue(tool.isError)
        const refused = yield* Effect.flip(client.callTool("refuse", { why: "because" }))
        assert.strictEqual(refused._tag, "InvalidParams")
        assert.include(refused.message, "because")
        const unknown = yield* Effect.flip(client.callTool("forget"))
        assert.strictEqual(unknown._tag, "InvalidParams")
        const thrown = yield* Effect.flip(client.callTool("throw"))
        assert.strictEqual(thrown._tag, "InternalError")
        const method = yield* Effect.flip(client.request("ours/do"))
        assert.strictEqual(method._tag, "MethodNotFound")
        yield* client.ping()
      }))

    it.scopedLive("send logs from the level that the client has set", () =>
      Effect.gen(function*() {
        const { client, received } = yield* talk(server)
        yield* client.setLoggingLevel("warning")
        yield* client.callTool("log", { levels: ["debug", "error", "info", "warning"] })
        const logs = yield* Queue.takeBetween(received, 2, 2)
        assert.deepStrictEqual(Chunk.toArray(logs).map(({ params }) => params), [
          { level: "error", logger: "official", data: { value: "error" } },
          { level: "warning", logger: "official", data: { value: "warning" } }
        ])
        assert.strictEqual(yield* Queue.size(received), 0)
      }))

    it.scopedLive("answer the server's requests: a ping, and an error for an unknown method", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const ask = (method: string) => Effect.map(client.callTool("ask", { method }), ({ content }) => content)
        assert.deepStrictEqual(yield* ask("ping"), blocks("{}"))
        const [refused] = yield* ask("roots/list")
        assert.include(JSON.stringify(refused), "-32601")
      }))

    it.scopedLive("close: the server exits by itself when the client closes", () =>
      Effect.gen(function*() {
        const mark = yield* Effect.scoped(Effect.map(talk(server), ({ mark }) => {
          assert.lengthOf(pidsOf(mark), 1)
          return mark
        }))
        assert.deepStrictEqual(pidsOf(mark), [])
      }))

    it.scopedLive("close: a server that crashes during a call fails it with the exit code and stderr", () =>
      Effect.gen(function*() {
        const { client } = yield* talk(server)
        const beside = yield* Effect.fork(Effect.flip(client.callTool("wait")))
        const last = "Cannot open the database\n  at line 7\n"
        const error = yield* Effect.flip(client.callTool("die", { code: 3, last }))
        assert.strictEqual(error._tag, "ConnectionClosed")
        assert.strictEqual(
          error.message,
          `Connection closed: "${node}" exited with code 3; the last lines of its stderr:\nCannot open the database\n  at line 7`
        )
        assert.strictEqual((yield* Fiber.join(beside)).message, error.message)
        assert.strictEqual((yield* Effect.flip(client.ended))._tag, "TransportError")
      }))

    it.scopedLive("close: a server that is killed during a call fails it with the signal", () =>
      Effect.gen(function*() {
        const { client, mark } = yield* talk(server)
        const began = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(Effect.flip(
          client.callTool("wait", {}, { onProgress: () => Deferred.succeed(began, undefined) })
        ))
        yield* Deferred.await(began)
        const [pid] = pidsOf(mark)
        process.kill(pid!, "SIGKILL")
        const error = yield* Fiber.join(calling)
        assert.strictEqual(error._tag, "ConnectionClosed")
        assert.strictEqual(error.message, `Connection closed: "${node}" was ended by SIGKILL`)
      }))
  })
}
