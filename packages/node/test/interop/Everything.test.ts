import { assert, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { createRequire } from "node:module"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { node } from "../Fixture.js"
import { pidsOf } from "../Processes.js"
import { suite } from "./Ways.js"

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js")

const launching = (mark: string) =>
  StdioClient.connector({
    command: node,
    args: [program, "stdio", mark],
    stderr: "ignore",
    // It does not exit at the end of its input while it works.
    closeTimeouts: { grace: "100 millis" }
  })

/** Definitions of its tools, written from the list that it returns. */
const Echo = Tool.make("echo", { parameters: { message: Schema.String } })
const Sum = Tool.make("get-sum", { parameters: { a: Schema.Number, b: Schema.Number } })
const Weather = Tool.make("get-structured-content", {
  parameters: { location: Schema.Literal("New York", "Chicago", "Los Angeles") },
  success: Schema.Struct({ temperature: Schema.Number, conditions: Schema.String, humidity: Schema.Number })
})
const Long = Tool.make("trigger-long-running-operation", {
  parameters: {
    duration: Schema.Number,
    steps: Schema.optionalWith(Schema.Int, { default: () => 5 })
  }
})
const Everything = Definition.make(Echo, Sum, Weather, Long)

const blocks = (text: string) => [{ type: "text" as const, text }]

suite("A client of Effect MCP and the official everything server", ({ isDirect, to }) => {
  const connect = (mark = randomUUID() as string) =>
    Effect.flatMap(to(launching(mark), "mcp-servers/everything"), (connector) => Client.make(connector))

  const typed = Effect.flatMap(connect(), (client) =>
    Effect.map(
      Effect.succeed(Client.of(client, Everything)),
      (tools) => ({ client, tools })
    ))

  it.scopedLive("complete the handshake, and list all features", () =>
    Effect.gen(function*() {
      const client = yield* connect()
      assert.strictEqual(client.serverInfo.name, "mcp-servers/everything")
      assert.strictEqual(client.version, "2025-11-25")
      assert.isString(client.instructions)
      const tools = Chunk.toArray(yield* Stream.runCollect(client.tools))
      for (const name of Everything.tools.keys()) assert.include(tools.map(({ name }) => name), name)
      const echo = tools.find(({ name }) => name === "echo")!
      assert.deepInclude(echo.inputSchema, { type: "object", required: ["message"] })
      assert.isString(echo.description)
    }))

  it.scopedLive("call `echo` and other tools with typed arguments and results", () =>
    Effect.gen(function*() {
      const { tools } = yield* typed
      assert.deepStrictEqual((yield* tools.echo({ message: "ä€😀" })).content, blocks("Echo: ä€😀"))
      assert.deepStrictEqual((yield* tools["get-sum"]({ a: 2, b: 3 })).content, blocks("The sum of 2 and 3 is 5."))
      assert.deepStrictEqual(yield* tools["get-structured-content"]({ location: "Chicago" }), {
        temperature: 36,
        conditions: "Light rain / drizzle",
        humidity: 82
      })
    }))

  it.scopedLive("cancel a long operation, and continue", () =>
    Effect.gen(function*() {
      const { client, tools } = yield* typed
      const begun = yield* Deferred.make<void>()
      const slow = yield* Effect.fork(tools["trigger-long-running-operation"]({ duration: 3600, steps: 72_000 }, {
        onProgress: () => Deferred.succeed(begun, undefined)
      }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(slow)
      assert.deepStrictEqual((yield* tools.echo({ message: "on" })).content, blocks("Echo: on"))
      yield* client.ping()
    }))

  it.scopedLive("distinguish errors of a tool from errors of the protocol", () =>
    Effect.gen(function*() {
      const { client } = yield* typed
      const bad = yield* client.callTool("get-sum", { a: "two" })
      assert.isTrue(bad.isError)
      const unknown = yield* client.callTool("forget")
      assert.isTrue(unknown.isError)
      assert.strictEqual((yield* Effect.flip(client.request("ours/do")))._tag, "MethodNotFound")
    }))

  it.scopedLive("send logs", () =>
    Effect.gen(function*() {
      const { client } = yield* typed
      const logs = yield* Effect.fork(Stream.runHead(client.logs))
      yield* untilSuspended(logs)
      yield* client.callTool("toggle-simulated-logging")
      const { data } = yield* Effect.flatten(Fiber.join(logs))
      assert.match(String(data), /-(?:level )?message/i)
    }))

  it.scopedLive("close during an operation", () =>
    Effect.gen(function*() {
      const mark = randomUUID()
      yield* Effect.scoped(Effect.gen(function*() {
        const client = yield* connect(mark)
        const begun = yield* Deferred.make<void>()
        yield* Effect.forkScoped(Effect.ignore(client.callTool(Long.name, { duration: 3600, steps: 72_000 }, {
          onProgress: () => Deferred.succeed(begun, undefined)
        })))
        yield* Deferred.await(begun)
        // A proxy has a session of its own beside that of the client.
        assert.lengthOf(pidsOf(mark), isDirect ? 1 : 2)
      }))
      assert.deepStrictEqual(pidsOf(mark), [])
    }))
})
