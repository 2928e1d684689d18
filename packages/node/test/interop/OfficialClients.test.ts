import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { isRunning, node, until } from "../Fixture.js"
import * as Contract from "../fixtures/toolContract.js"
import { bundledOnce } from "./Bundle.js"
import { clients } from "./OfficialClients.js"

const program = bundledOnce("toolServer.ts")

const { auto, legacy } = clients

for (const [name, connectTo] of Object.entries(legacy)) {
  const connect = Effect.flatMap(program, (path) => connectTo({ command: node, args: [path] }))

  describe(`A server of Effect MCP and ${name}`, () => {
    it.scopedLive("complete the handshake", () =>
      Effect.gen(function*() {
        const client = yield* connect
        assert.deepStrictEqual(client.serverInfo, { name: "tools", version: "1.0.0" })
        assert.strictEqual(client.instructions, "Call them.")
        yield* client.ping
        assert.deepStrictEqual(client.errors, [])
      }))

    it.scopedLive("list tools with unchanged schemas", () =>
      Effect.gen(function*() {
        const client = yield* connect
        const tools = yield* client.list
        assert.deepStrictEqual(
          tools,
          ["die", "echo", "log", "print", "release", "root", "slow"].map((name) =>
            Contract.Tools.tools.get(name)!.advertised
          )
        )
      }))

    it.scopedLive("call tools: text, structured content, defaults", () =>
      Effect.gen(function*() {
        const client = yield* connect
        // From here on the client validates structured content.
        yield* client.list
        const text = (text: string) => [{ type: "text", text }]
        assert.deepStrictEqual((yield* client.call("echo", { text: "a\nä€😀" })).content, text("a\nä€😀"))
        assert.deepStrictEqual((yield* client.call("echo", { text: "a", times: 3 })).content, text("a a a"))
        const { content, structuredContent } = yield* client.call("root", { n: 9 })
        assert.deepStrictEqual(structuredContent, { root: 3, exact: true })
        assert.deepStrictEqual(content, text("{\"root\":3,\"exact\":true}"))
      }))

    it.scopedLive("call many tools concurrently", () =>
      Effect.gen(function*() {
        const client = yield* connect
        const texts = Array.from({ length: 60 }, (_, n) => String(n))
        const results = yield* Effect.forEach(texts, (text) => client.call("echo", { text }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(results.map(({ content }) => content[0].text), texts)
      }))

    it.scopedLive("send progress in order, before the result", () =>
      Effect.gen(function*() {
        const client = yield* connect
        const seen: Array<unknown> = []
        const calling = yield* Effect.fork(client.call("slow", { steps: 50, then: "wait" }, {
          onprogress: (progress) => seen.push(progress)
        }))
        // These clients drop progress that arrives together with the result.
        yield* until(() => seen.length === 50)
        yield* client.call("release")
        assert.deepStrictEqual((yield* Fiber.join(calling)).structuredContent, { steps: 50 })
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 50 }, (_, n) => ({ progress: n + 1, total: 50, message: `step ${n + 1}` }))
        )
        assert.deepStrictEqual(client.errors, [])
      }))

    it.scopedLive("cancel a call: the handler is interrupted, no response is sent, and the server continues", () =>
      Effect.gen(function*() {
        const client = yield* connect
        const abort = new AbortController()
        let steps = 0
        const calling = yield* Effect.fork(Effect.flip(client.call("slow", { steps: 3, then: "wait" }, {
          signal: abort.signal,
          onprogress: () => steps++
        })))
        const beside = yield* Effect.fork(Effect.flip(client.call("slow", { steps: 0, then: "wait" })))
        yield* until(() => steps === 3 && client.stderr().split("slow began").length === 3)
        abort.abort()
        yield* Fiber.join(calling)
        yield* until(() => client.stderr().includes("slow stopped"))
        assert.deepStrictEqual((yield* client.call("echo", { text: "on" })).content, [{ type: "text", text: "on" }])
        // A response to the cancelled call would be reported as unknown.
        assert.deepStrictEqual(client.errors, [])
        // The concurrent call continues.
        assert.lengthOf(client.stderr().split("slow stopped"), 2)
        assert.isNull(beside.unsafePoll())
        yield* client.close
        yield* Fiber.join(beside)
      }))

    it.scopedLive("return a declared failure, and invalid arguments, as tool errors", () =>
      Effect.gen(function*() {
        const client = yield* connect
        yield* client.list
        const failed = yield* client.call("root", { n: -4 })
        assert.isTrue(failed.isError)
        assert.deepStrictEqual(JSON.parse(failed.content[0].text), { _tag: "OutOfRange", n: -4 })
        const refused = yield* client.call("root", { n: "four" })
        assert.isTrue(refused.isError)
        assert.match(refused.content[0].text, /^Invalid arguments for tool "root": n: Expected number/)
      }))

    it.scopedLive("fail with a protocol error for an unknown tool, and get a tool error of a handler that dies", () =>
      Effect.gen(function*() {
        const client = yield* connect
        const unknown = yield* Effect.flip(client.call("forget"))
        assert.strictEqual(unknown.code, -32602)
        assert.include(unknown.message, "Unknown tool: forget")
        const { content, isError } = yield* client.call("die")
        assert.deepStrictEqual([content, isError], [[{ type: "text", text: "Internal error" }], true])
        // The server logs the cause.
        yield* until(() => client.stderr().includes("hunter2"))
        yield* client.ping
      }))

    it.scopedLive("send logs from the level that the client has set", () =>
      Effect.gen(function*() {
        const client = yield* connect
        yield* client.call("log", { levels: ["debug"] })
        yield* client.ask((sdk) => sdk.setLoggingLevel("warning"))
        yield* client.call("log", { levels: ["debug", "error", "info", "warning"] })
        yield* until(() => client.logs.length >= 3)
        assert.deepStrictEqual(
          client.logs,
          ["debug", "error", "warning"].map((level) => ({ level, logger: "tools", data: { value: level } }))
        )
      }))

    it.scopedLive("are not disturbed by prints of a handler", () =>
      Effect.gen(function*() {
        const client = yield* connect
        yield* client.call("print")
        yield* client.ping
        yield* until(() => client.stderr().match(/printed by /g)?.length === 5)
        assert.deepStrictEqual(client.errors, [])
      }))

    it.scopedLive("close: the server exits by itself when the client closes, also during a call", () =>
      Effect.gen(function*() {
        const path = yield* program
        // Prints the exit status of the server; a signal would reach only the shell.
        const client = yield* connectTo({
          command: "/bin/sh",
          args: ["-c", "\"$0\" \"$1\"; echo \"ended with $?\" >&2", node, path]
        })
        yield* Effect.fork(Effect.ignore(client.call("slow", { steps: 1, then: "wait" })))
        yield* until(() => client.stderr().includes("slow began"))
        assert.isTrue(isRunning(client.pid))
        yield* client.close
        yield* until(() => !isRunning(client.pid))
        yield* until(() => client.stderr().includes("ended with"))
        assert.match(client.stderr(), /slow stopped\n(.*\n)*ended with 0\n/)
      }))
  })
}

for (const [name, connectTo] of Object.entries(auto)) {
  describe(`A server of Effect MCP and ${name}, which first requests a revision without a handshake,`, () => {
    it.scopedLive("agree on a revision that both support", () =>
      Effect.gen(function*() {
        const client = yield* Effect.flatMap(program, (path) => connectTo({ command: node, args: [path] }))
        assert.deepStrictEqual(client.serverInfo, { name: "tools", version: "1.0.0" })
        assert.deepStrictEqual((yield* client.call("echo", { text: "on" })).content, [{ type: "text", text: "on" }])
        assert.deepStrictEqual(client.errors, [])
      }))
  })
}
