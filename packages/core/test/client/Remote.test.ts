import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Fiber, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import * as ScriptedServer from "./http/ScriptedServer.js"

describe("A remote server", () => {
  it.scoped("is named without the parts that may be secret", () =>
    Effect.sync(() => {
      assert.strictEqual(Remote.connector("https://a.test/mcp?key=secret#b").name, "https://a.test/mcp")
      assert.strictEqual(Remote.connector(new URL("http://a.test")).name, "http://a.test/")
      assert.strictEqual(Remote.connector("secret").name, "an invalid URL")
      assert.strictEqual(Remote.connector("localhost:3000/mcp").name, "a URL of \"localhost:\"")
    }))

  it.scoped("says how a URL begins where it does not begin so", () =>
    Effect.gen(function*() {
      for (const url of ["", "localhost:3000/mcp", "127.0.0.1:3000/mcp", "/mcp"]) {
        const { client } = yield* ScriptedServer.make()
        const connecting = Effect.provideService(Remote.connector(url).connect, HttpClient.HttpClient, client)
        assert.match((yield* Effect.flip(connecting)).message, /URL.*: begin it with http:\/\/ or https:\/\/, such as/)
      }
    }))

  it.scoped("cannot be reached by a URL that is not of HTTP, or that holds credentials", () =>
    Effect.gen(function*() {
      for (const url of ["", "server", "ftp://a.test", "file:///etc/passwd", "http://user:secret@a.test/mcp"]) {
        const { client } = yield* ScriptedServer.make()
        const connecting = Effect.provideService(Remote.connector(url).connect, HttpClient.HttpClient, client)
        const error = yield* Effect.flip(connecting)
        assert.strictEqual(error.reason, "Open")
        assert.notInclude(error.message, "secret")
      }
    }))

  it.scoped("receives the query of the URL, which no error repeats", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const connector = Remote.connector("http://server.test/mcp?key=secret")
      const transport = yield* Effect.provideService(connector.connect, HttpClient.HttpClient, http.client)
      const fiber = yield* Effect.forkScoped(Effect.scoped(Effect.void))
      yield* Fiber.join(fiber)
      transport.unsafeSend({ jsonrpc: "2.0", id: 1, method: "initialize" })
      const exchange = yield* http.expect("initialize")
      assert.strictEqual(exchange.what, "POST http://server.test/mcp?key=secret")
      yield* exchange.reply(500)
      const received: Array<unknown> = []
      yield* Effect.forkScoped(transport.run!((one) => received.push(one)))
      yield* http.quiet
      assert.notInclude(JSON.stringify(received), "secret")
    }))

  it.scoped("is reached by a client", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const connecting = yield* Effect.forkScoped(
        Effect.provideService(
          Client.make(Remote.connector(ScriptedServer.URL), { checkOutputs: false, versions: Version.legacy }),
          HttpClient.HttpClient,
          http.client
        )
      )
      yield* Effect.flatMap(http.expect("initialize"), (exchange) =>
        exchange.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-1" }))
      yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) =>
        accept)
      yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.reply(405))
      const client = yield* Fiber.join(connecting)
      assert.strictEqual(client.version, "2025-11-25")
      const calling = yield* Effect.fork(client.callTool("greet", { name: "you" }))
      const exchange = yield* http.expect("tools/call")
      assert.deepInclude(exchange.message.params, { name: "greet" })
      yield* exchange.result({ content: [] })
      assert.deepInclude(yield* Fiber.join(calling), { content: [] })
    }))
})

// Each fault at each stage: one outcome, and nothing is left behind.
const faults: Readonly<Record<string, (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>>> = {
  "refuses the connection": (exchange) => exchange.fail("ECONNREFUSED"),
  "resets the connection": (exchange) => exchange.fail("ECONNRESET"),
  "answers with 500": (exchange) => exchange.reply(500),
  "answers with a page": (exchange) => exchange.reply(200, { "content-type": "text/html" }, "<html>"),
  "answers with garbage": (exchange) => exchange.reply(200, { "content-type": "application/json" }, "{"),
  "answers with nothing": (exchange) => exchange.reply(200, { "content-type": "application/json" }),
  "cuts its answer off": (exchange) =>
    Effect.flatMap(
      exchange.open(200, { "content-type": "application/json" }),
      (body) => Effect.zipRight(body.push("{"), body.cut)
    ),
  "cuts its stream off": (exchange) => Effect.flatMap(exchange.events(), (stream) => stream.cut),
  "ends its stream": (exchange) => Effect.flatMap(exchange.events(), (stream) => stream.end),
  "streams garbage": (exchange) =>
    Effect.flatMap(exchange.events(), (stream) => Effect.zipRight(stream.push("data: {\n\n"), stream.end)),
  "answers somebody else": (exchange) => exchange.json({ jsonrpc: "2.0", id: "x", result: {} }),
  "redirects": (exchange) => exchange.reply(302, { location: "http://evil.test" }),
  "dies": (exchange) => exchange.die
}
const silences: Readonly<Record<string, (exchange: ScriptedServer.Exchange) => Effect.Effect<unknown>>> = {
  "never answers": () => Effect.void,
  "never goes on with its answer": (exchange) => exchange.open(200, { "content-type": "application/json" }),
  "never goes on with its stream": (exchange) => exchange.events()
}

const options: Options & { readonly deletes: boolean } = { acceptTimeout: "5 seconds", deletes: true }

for (const [what, fault] of Object.entries(faults)) {
  describe(`A server that ${what}`, () => {
    it.effect("fails initialize, and leaves nothing behind", () =>
      leavesNothing(Effect.gen(function*() {
        const pair = yield* Effect.orDie(ScriptedServer.connect({ ...options, transport: "streamable" }))
        const calling = yield* pair.call("initialize")
        yield* Effect.flatMap(pair.expect("initialize"), fault)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError" })
        yield* pair.idle
      })))

    it.effect("fails one call of two, and leaves nothing behind", () =>
      leavesNothing(Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ ...options, id: "s-1" })
        const first = yield* pair.call("tools/call")
        const second = yield* pair.call("prompts/get")
        const [one, two] = [yield* pair.expect("tools/call"), yield* pair.expect("prompts/get")]
        yield* fault(one)
        assert.deepInclude(yield* Fiber.join(first), { _tag: "TransportError" })
        yield* two.result({ n: 2 })
        assert.deepStrictEqual(yield* Fiber.join(second), { n: 2 })
        yield* pair.idle
      })))

    it.effect("harms neither a notification nor the response to a request of the server", () =>
      leavesNothing(Effect.gen(function*() {
        const pair = yield* ScriptedServer.pair({ ...options, id: "s-1" })
        const notifying = yield* Effect.fork(pair.conversation.notify("n"))
        yield* Effect.flatMap(pair.expect("n"), fault)
        yield* Fiber.join(notifying)
        const calling = yield* pair.call("tools/call")
        const stream = yield* Effect.flatMap(pair.expect("tools/call"), (exchange) => exchange.events())
        yield* stream.send({ jsonrpc: "2.0", id: 1, method: "roots/list" })
        yield* Effect.flatMap(pair.expect("an answer"), fault)
        yield* stream.send({ jsonrpc: "2.0", id: 3, result: {} })
        yield* stream.send({ jsonrpc: "2.0", id: 2, result: {} })
        yield* stream.end
        yield* Fiber.join(calling)
        yield* pair.quiet
        yield* pair.idle
      })))
  })
}

for (const [what, fault] of Object.entries(silences)) {
  describe(`A server that ${what}`, () => {
    for (const method of ["initialize", "tools/call"]) {
      it.effect(`lets ${method} time out, and nothing is left behind`, () =>
        leavesNothing(Effect.gen(function*() {
          const pair = method === "initialize"
            ? yield* Effect.orDie(ScriptedServer.connect(options))
            : yield* ScriptedServer.pair(options)
          const calling = yield* pair.call(method, { timeout: "10 seconds" })
          yield* Effect.flatMap(pair.expect(method), fault)
          yield* TestClock.adjust("10 seconds")
          assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout" })
          yield* Effect.flatMap(pair.expect("notifications/cancelled"), ({ accept }) => accept)
          yield* pair.idle
        })))
    }

    it.effect("fails calls when the client closes, and nothing is left behind", () =>
      leavesNothing(Effect.gen(function*() {
        const { calling, pair } = yield* Effect.scoped(Effect.gen(function*() {
          const pair = yield* ScriptedServer.pair({ ...options, id: "s-1" })
          const calling = yield* Effect.fork(Effect.flip(pair.conversation.request("tools/call")))
          yield* Effect.flatMap(pair.expect("tools/call"), fault)
          yield* pair.quiet
          return { calling, pair }
        }))
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed" })
        yield* pair.idle
      })))
  })
}
