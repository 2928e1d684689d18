import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Remote from "@effect-mcp/core/Remote"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, Fiber, Layer, Queue, Schema } from "effect"
import { entrance, type Features, gateway, legacy, modern, server } from "./Setting.js"

const text = (result: JsonObject) => ((result.content as ReadonlyArray<unknown>)[0] as { text: string }).text

const form = ClientFeatures.elicitation(({ message }) =>
  Effect.succeed({ action: "accept", content: { name: `Ada, of ${message}` } })
)

/** Two tools. `asking` asks when both calls run; `silent` ends when the test lets it. */
const upstream = Effect.gen(function*() {
  const [runs, ends] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
  const began = yield* Queue.unbounded<void>()
  const features = Layer.mergeAll(
    McpServer.tool(Tool.make("asking", { parameters: { who: Schema.String } }), ({ who }) =>
      Effect.gen(function*() {
        const { elicit } = yield* ServerSession
        yield* Effect.zipRight(began.offer(), Deferred.await(runs))
        const answer = yield* elicit({ message: `${who}?`, schema: Schema.Struct({ name: Schema.String }) })
        return JSON.stringify(answer)
      })),
    McpServer.tool(Tool.make("silent"), () => Effect.as(Effect.zipRight(began.offer(), Deferred.await(ends)), "silent"))
  )
  return {
    features,
    began: began.take,
    ask: Deferred.succeed(runs, undefined),
    end: Deferred.succeed(ends, undefined)
  }
})

/** The connector of a server up to 2025-11-25 over HTTP. */
const overHttp = Effect.fnUntraced(function*(features: Features) {
  const built = yield* Layer.build(
    McpServer.layer({ name: "upstream", version: "1.0.0" }, features, { versions: legacy })
  )
  const { handler } = yield* Effect.provide(WebHandler.make(), built)
  const client = yield* Layer.build(Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init)))
  ))
  const { connect, name } = Remote.connector("http://localhost/mcp")
  return Connector.make(name, Effect.provide(connect, client)) satisfies Connector.Connector
})

/** Which of the two calls begins first. */
const orders = [["asking", "silent"], ["silent", "asking"]] as const

describe("A question of an upstream up to 2025-11-25 while two calls of a client run", () => {
  for (const names of orders) {
    it.scopedLive(`goes to the call on whose stream it came (${names.join(", then ")})`, () =>
      Effect.gen(function*() {
        const { ask, began, end, features } = yield* upstream
        const session = yield* gateway(yield* overHttp(features), { client: modern, features: form })
        const call = (name: string, more: JsonObject = {}) =>
          session.request("tools/call", { name, arguments: { who: "you" }, ...more })
        const calls: Record<string, Fiber.Fiber<JsonObject, unknown>> = {}
        for (const name of names) {
          calls[name] = yield* Effect.fork(call(name))
          yield* began
        }
        yield* ask
        const { inputRequests, requestState, resultType } = yield* Fiber.join(calls["asking"]!)
        assert.strictEqual(resultType, "input_required")
        const [key] = Object.keys(inputRequests as JsonObject)
        const response = { action: "accept", content: { name: "Ada" } }
        const done = yield* call("asking", { inputResponses: { [key!]: response }, requestState })
        assert.include(text(done), "Ada")
        yield* end
        assert.strictEqual(text(yield* Fiber.join(calls["silent"]!)), "silent")
      }))

    it.scopedLive(`is refused over a pipe, which does not say which call asks (${names.join(", then ")})`, () =>
      Effect.gen(function*() {
        const { ask, began, end, features } = yield* upstream
        const session = yield* gateway(yield* server(features, { versions: legacy }), {
          client: modern,
          features: form
        })
        const calls: Record<string, Fiber.Fiber<JsonObject, { readonly message: string }>> = {}
        for (const name of names) {
          calls[name] = yield* Effect.fork(session.request("tools/call", { name, arguments: { who: "you" } }))
          yield* began
        }
        yield* ask
        assert.include(
          (yield* Effect.flip(Fiber.join(calls["asking"]!))).message,
          "2 calls run, and the upstream does not say which of them asks; call one after another"
        )
        yield* end
        assert.strictEqual(text(yield* Fiber.join(calls["silent"]!)), "silent")
      }))

    it.scopedLive(`is asked outside of the calls over a pipe, where the client can be asked so (${names.join(", then ")})`, () =>
      Effect.gen(function*() {
        const { ask, began, end, features } = yield* upstream
        const session = yield* gateway(yield* server(features, { versions: legacy }), {
          client: legacy,
          features: form
        })
        const calls: Record<string, Fiber.Fiber<JsonObject, unknown>> = {}
        for (const name of names) {
          calls[name] = yield* Effect.fork(session.request("tools/call", { name, arguments: { who: "you" } }))
          yield* began
        }
        yield* ask
        assert.include(text(yield* Fiber.join(calls["asking"]!)), "Ada, of you?")
        yield* end
        assert.strictEqual(text(yield* Fiber.join(calls["silent"]!)), "silent")
      }))
  }
})

describe("A log message of an upstream up to 2025-11-25 while calls of two clients share a session", () => {
  it.scopedLive("goes to the client on whose stream it came, and to no other", () =>
    Effect.gen(function*() {
      const began = yield* Queue.unbounded<void>()
      const logs = yield* Deferred.make<void>()
      const connector = yield* overHttp(
        McpServer.tool(Tool.make("say", { parameters: { what: Schema.String } }), ({ what }) =>
          Effect.gen(function*() {
            yield* Effect.zipRight(began.offer(), Deferred.await(logs))
            yield* Effect.flatMap(ServerSession, ({ log }) => log("info", what))
            return what
          }))
      )
      const through = yield* entrance(connector, { proxy: { sessions: "shared" } })
      const [ada, bob]: [Array<unknown>, Array<unknown>] = [[], []]
      const calls = yield* Effect.forEach([["ada", ada], ["bob", bob]] as const, ([name, seen]) =>
        Effect.gen(function*() {
          const features = ClientFeatures.logging(({ data }) =>
            Effect.sync(() => seen.push(data))
          )
          const session = yield* Client.make(through, { versions: legacy, features })
          yield* session.setLoggingLevel("info")
          const calling = yield* Effect.fork(session.callTool("say", { what: name }))
          yield* began.take
          return calling
        }))
      yield* Deferred.succeed(logs, undefined)
      yield* Fiber.joinAll(calls)
      assert.deepStrictEqual([ada, bob], [["ada"], ["bob"]])
    }))
})
