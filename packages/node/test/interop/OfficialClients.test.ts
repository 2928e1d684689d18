import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bundledOnce } from "../Bundle.js"
import { node, until } from "../Fixture.js"
import { isRunning } from "../Processes.js"
import { clients } from "./OfficialClients.js"

const program = bundledOnce("toolServer.ts")

const { auto, legacy } = clients

for (const [name, connectTo] of Object.entries(legacy)) {
  const connect = Effect.flatMap(program, (path) => connectTo({ command: node, args: [path] }))

  describe(`A server of Effect MCP and ${name}`, () => {
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
