import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Layer, Schema, TestClock } from "effect"
import { call, initialize, withEndpoint } from "../http/TestExchange.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const ping = Message.request(1, "ping")

describe("a session", () => {
  it.effect("ends when its client has left while a tool runs or a question waits, and interrupts the tool", () =>
    Effect.gen(function*() {
      const interrupted = { tool: 0, question: 0 }
      const count = (name: keyof typeof interrupted) => Effect.onInterrupt(() => Effect.sync(() => interrupted[name]++))
      const tool = act(count("tool")(Effect.never), "tool")
      const question = act(
        count("question")(Effect.flatMap(ServerSession, (session) =>
          Effect.ignore(
            session.elicit({ message: "Go on?", schema: Schema.Struct({ go: Schema.Boolean }) }, { timeout: "1 day" })
          ))),
        "question"
      )
      yield* withEndpoint(serve(Layer.merge(tool, question)), (http) =>
        Effect.gen(function*() {
          const [first, second, listening] = [
            yield* http.open(),
            yield* http.open(undefined, { elicitation: {} }),
            yield* http.open()
          ]
          const left = [first.post(call(1, "tool")), second.post(call(1, "question"))]
          const waiting = listening.post(call(1, "tool"))
          yield* until(() => left[1]!.isStream)
          for (const exchange of left) exchange.hangUp()
          yield* TestClock.adjust("29 minutes")
          assert.strictEqual(http.endpoint.sessions(), 3)
          yield* TestClock.adjust("31 minutes")
          yield* until(() => interrupted.tool + interrupted.question === 2)
          assert.deepStrictEqual([http.endpoint.sessions(), waiting.ended], [1, false])
        }))
    }))

  it.effect("ends when its client sends nothing for 30 seconds after initialize", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const unfinished = yield* http.ask(initialize())
        const finished = yield* http.open()
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(http.endpoint.sessions(), 1)
        const gone = yield* http.ask(ping, { "mcp-session-id": unfinished.sent["mcp-session-id"] })
        assert.strictEqual(gone.status, 404)
        assert.strictEqual((yield* finished.ask(ping)).status, 200)
      })))

  it.effect("is not lost when thousands of clients send initialize and nothing else", () =>
    withEndpoint(serve(GreetLive), (http) =>
      Effect.gen(function*() {
        const idle = yield* Effect.replicateEffect(http.open(), 100)
        const statuses = new Map<number, number>()
        for (let i = 0; i < 10_000; i++) {
          const { status } = yield* http.ask(initialize())
          statuses.set(status!, (statuses.get(status!) ?? 0) + 1)
        }
        assert.deepStrictEqual([...statuses], [[200, 100], [503, 9900]])
        // After a while a new client replaces the oldest of those that sent nothing more.
        yield* TestClock.adjust("5 seconds")
        const late = yield* http.open()
        for (const client of [...idle, late]) assert.strictEqual((yield* client.ask(ping)).status, 200)
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(http.endpoint.sessions(), 101)
      }), { limits: { maxSessions: 1000 } }))
})
