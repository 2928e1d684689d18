import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Remote from "@effect-mcp/client/Remote"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import { Effect, Fiber, TestClock } from "effect"
import * as Played from "./http/Played.js"
import { leavesNothing } from "./Scripts.js"

describe("A remote server", () => {
  it.scoped("is named without what may be secret", () =>
    Effect.sync(() => {
      assert.strictEqual(Remote.connector("https://a.test/mcp?key=secret#b").name, "https://a.test/mcp")
      assert.strictEqual(Remote.connector(new URL("http://a.test")).name, "http://a.test/")
      assert.strictEqual(Remote.connector("secret").name, "an invalid URL")
    }))

  it.scoped("cannot be reached by what is no URL of HTTP, or holds credentials", () =>
    Effect.gen(function*() {
      for (const url of ["", "server", "ftp://a.test", "file:///etc/passwd", "http://user:secret@a.test/mcp"]) {
        const { client } = yield* Played.make()
        const connecting = Effect.provideService(Remote.connector(url).connect, HttpClient.HttpClient, client)
        const error = yield* Effect.flip(connecting)
        assert.strictEqual(error.reason, "Open")
        assert.notInclude(error.message, "secret")
      }
    }))

  it.scoped("is told what the URL asks, and nobody is told of it", () =>
    Effect.gen(function*() {
      const http = yield* Played.make()
      const connector = Remote.connector("http://server.test/mcp?key=secret")
      const transport = yield* Effect.provideService(connector.connect, HttpClient.HttpClient, http.client)
      const fiber = yield* Effect.forkScoped(Effect.scoped(Effect.void))
      yield* Fiber.join(fiber)
      transport.unsafeSend({ jsonrpc: "2.0", id: 1, method: "initialize" })
      const asked = yield* http.expect("initialize")
      assert.strictEqual(asked.what, "POST http://server.test/mcp?key=secret")
      yield* asked.reply(500)
      const heard: Array<unknown> = []
      yield* Effect.forkScoped(transport.run!((one) => heard.push(one)))
      yield* http.quiet
      assert.notInclude(JSON.stringify(heard), "secret")
    }))

  it.scoped("is reached by a client", () =>
    Effect.gen(function*() {
      const http = yield* Played.make()
      const connecting = yield* Effect.forkScoped(
        Effect.provideService(Client.make(Remote.connector(Played.URL)), HttpClient.HttpClient, http.client)
      )
      yield* Effect.flatMap(http.expect("initialize"), (asked) =>
        asked.result(Played.initialized(), { "mcp-session-id": "s-1" }))
      yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) =>
        accept)
      yield* Effect.flatMap(http.expect("GET"), (asked) => asked.reply(405))
      const client = yield* Fiber.join(connecting)
      assert.strictEqual(client.version, "2025-11-25")
      const calling = yield* Effect.fork(client.callTool("greet", { name: "you" }))
      const asked = yield* http.expect("tools/call")
      assert.deepInclude(asked.message.params, { name: "greet" })
      yield* asked.result({ content: [] })
      assert.deepInclude(yield* Fiber.join(calling), { content: [] })
    }))
})

// Each fault at each stage: one outcome, and nothing is left behind.
const faults: Readonly<Record<string, (asked: Played.Asked) => Effect.Effect<unknown>>> = {
  "refuses the connection": (asked) => asked.fail("ECONNREFUSED"),
  "resets the connection": (asked) => asked.fail("ECONNRESET"),
  "answers with 500": (asked) => asked.reply(500),
  "answers with a page": (asked) => asked.reply(200, { "content-type": "text/html" }, "<html>"),
  "answers with garbage": (asked) => asked.reply(200, { "content-type": "application/json" }, "{"),
  "answers with nothing": (asked) => asked.reply(200, { "content-type": "application/json" }),
  "cuts its answer off": (asked) =>
    Effect.flatMap(
      asked.open(200, { "content-type": "application/json" }),
      (body) => Effect.zipRight(body.push("{"), body.cut)
    ),
  "cuts its stream off": (asked) => Effect.flatMap(asked.events(), (stream) => stream.cut),
  "ends its stream": (asked) => Effect.flatMap(asked.events(), (stream) => stream.end),
  "streams garbage": (asked) =>
    Effect.flatMap(asked.events(), (stream) => Effect.zipRight(stream.push("data: {\n\n"), stream.end)),
  "answers somebody else": (asked) => asked.json({ jsonrpc: "2.0", id: "x", result: {} }),
  "redirects": (asked) => asked.reply(302, { location: "http://evil.test" }),
  "dies": (asked) => asked.die
}
const silences: Readonly<Record<string, (asked: Played.Asked) => Effect.Effect<unknown>>> = {
  "never answers": () => Effect.void,
  "never goes on with its answer": (asked) => asked.open(200, { "content-type": "application/json" }),
  "never goes on with its stream": (asked) => asked.events()
}

const options: Options & { readonly deletes: boolean } = { acceptTimeout: "5 seconds", deletes: true }

for (const [what, fault] of Object.entries(faults)) {
  describe(`A server that ${what}`, () => {
    it.effect("fails initialize, and leaves nothing behind", () =>
      leavesNothing(Effect.gen(function*() {
        const talk = yield* Effect.orDie(Played.connect({ ...options, transport: "streamable" }))
        const calling = yield* talk.call("initialize")
        yield* Effect.flatMap(talk.expect("initialize"), fault)
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError" })
        yield* talk.idle
      })))

    it.effect("fails one call of two, and leaves nothing behind", () =>
      leavesNothing(Effect.gen(function*() {
        const talk = yield* Played.talk({ ...options, id: "s-1" })
        const first = yield* talk.call("tools/call")
        const second = yield* talk.call("prompts/get")
        const [one, two] = [yield* talk.expect("tools/call"), yield* talk.expect("prompts/get")]
        yield* fault(one)
        assert.deepInclude(yield* Fiber.join(first), { _tag: "TransportError" })
        yield* two.result({ n: 2 })
        assert.deepStrictEqual(yield* Fiber.join(second), { n: 2 })
        yield* talk.idle
      })))

    it.effect("does not matter to a notification, or to who is asked", () =>
      leavesNothing(Effect.gen(function*() {
        const talk = yield* Played.talk({ ...options, id: "s-1" })
        const telling = yield* Effect.fork(talk.conversation.notify("n"))
        yield* Effect.flatMap(talk.expect("n"), fault)
        yield* Fiber.join(telling)
        const calling = yield* talk.call("tools/call")
        const stream = yield* Effect.flatMap(talk.expect("tools/call"), (asked) => asked.events())
        yield* stream.say({ jsonrpc: "2.0", id: 1, method: "roots/list" })
        yield* Effect.flatMap(talk.expect("an answer"), fault)
        yield* stream.say({ jsonrpc: "2.0", id: 3, result: {} })
        yield* stream.say({ jsonrpc: "2.0", id: 2, result: {} })
        yield* stream.end
        yield* Fiber.join(calling)
        yield* talk.quiet
        yield* talk.idle
      })))
  })
}

for (const [what, fault] of Object.entries(silences)) {
  describe(`A server that ${what}`, () => {
    for (const method of ["initialize", "tools/call"]) {
      it.effect(`costs ${method} its time, and nothing is left behind`, () =>
        leavesNothing(Effect.gen(function*() {
          const talk = method === "initialize"
            ? yield* Effect.orDie(Played.connect(options))
            : yield* Played.talk(options)
          const calling = yield* talk.call(method, { timeout: "10 seconds" })
          yield* Effect.flatMap(talk.expect(method), fault)
          yield* TestClock.adjust("10 seconds")
          assert.deepInclude(yield* Fiber.join(calling), { _tag: "RequestTimeout" })
          yield* Effect.flatMap(talk.expect("notifications/cancelled"), ({ accept }) => accept)
          yield* talk.idle
        })))
    }

    it.effect("fails calls when we close, and nothing is left behind", () =>
      leavesNothing(Effect.gen(function*() {
        const { calling, talk } = yield* Effect.scoped(Effect.gen(function*() {
          const talk = yield* Played.talk({ ...options, id: "s-1" })
          const calling = yield* Effect.fork(Effect.flip(talk.conversation.request("tools/call")))
          yield* Effect.flatMap(talk.expect("tools/call"), fault)
          yield* talk.quiet
          return { calling, talk }
        }))
        assert.deepInclude(yield* Fiber.join(calling), { _tag: "ConnectionClosed" })
        yield* talk.idle
      })))
  })
}
