import { assert, it } from "@effect/vitest"
import * as Connector from "@effect-mcp/core/Connector"
import * as Message from "@effect-mcp/core/Message"
import * as Tap from "@effect-mcp/core/Tap"
import * as Transport from "@effect-mcp/core/Transport"
import { Chunk, Deferred, Effect, Logger, Stream } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"

/** A tapped transport, the other end, and what the tap has seen. */
const tapped = Effect.gen(function*() {
  const seen: Array<Tap.Tapped> = []
  const [mine, theirs] = yield* Transport.memory()
  const connector = Tap.connector(
    Connector.fromTransport(mine, "notes"),
    (one) => Effect.sync(() => void seen.push(one))
  )
  return { seen, theirs, transport: yield* connector.connect }
})

const hidden: ReadonlyArray<readonly [shown: unknown, secret: unknown]> = [
  [{ access_token: "<hidden>" }, { access_token: "hunter2" }],
  [{ apiKey: "<hidden>" }, { apiKey: "hunter2" }],
  [{ credentials: "<hidden>" }, { credentials: { user: "ada", pin: 1 } }],
  [{ requestState: "<hidden>" }, { requestState: "hunter2" }],
  [{ text: "Authorization: <hidden>, please" }, { text: "Authorization: Bearer hunter2, please" }],
  [{ text: "<hidden>" }, { text: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ." }],
  [{ url: "https://a/?b=1&code=<hidden>#c" }, { url: "https://a/?b=1&code=hunter2#c" }],
  [{ text: "{\"otp\":\"<hidden>\"}" }, { text: "{\"otp\":\"hunter2\"}" }],
  [{ properties: { password: { type: "string" } } }, { properties: { password: { type: "string" } } }],
  [{ maxTokens: 5, progressToken: "t", name: "a" }, { maxTokens: 5, progressToken: "t", name: "a" }]
]

describe("A tap", () => {
  it.scoped("sees each message in both directions, in order, and changes none", () =>
    Effect.gen(function*() {
      const { seen, theirs, transport } = yield* tapped
      const question = Message.request(1, "a", { token: "hunter2" })
      assert.isTrue(transport.unsafeSend(question))
      yield* transport.send(Message.notification("b"))
      yield* theirs.send(Message.success(1, { done: true }))
      const [received] = Chunk.toArray(yield* Stream.runCollect(Stream.take(transport.incoming, 1)))
      assert.deepStrictEqual(received, Message.success(1, { done: true }))
      const [sent] = Chunk.toArray(yield* Stream.runCollect(Stream.take(theirs.incoming, 1)))
      assert.deepStrictEqual(sent, question)
      assert.deepStrictEqual(seen.map(({ direction, name, text }) => [direction, name, JSON.parse(text)]), [
        ["out", "notes", { ...question, params: { token: "<hidden>" } }],
        ["out", "notes", Message.notification("b")],
        ["in", "notes", Message.success(1, { done: true })]
      ])
    }))

  it.scoped("that takes time holds no message up, and has 256 runs at once", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let begun = 0
      const pass = yield* Tap.make("notes", () => Effect.zipRight(Effect.sync(() => begun++), Deferred.await(gate)))
      for (let i = 0; i < 1000; i++) pass("in", Message.notification("a"))
      yield* Effect.yieldNow()
      assert.strictEqual(begun, 256)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.repeatN(Effect.yieldNow(), 3)
      pass("in", Message.notification("a"))
      yield* Effect.yieldNow()
      assert.strictEqual(begun, 257)
    }))

  for (const part of ["eyJ-", "?code", "bearer ", "bearer\t\t", "&token", "eyJ.eyJ."]) {
    it.scoped(`takes time in proportion to a text of ${JSON.stringify(part)}, which looks like secrets`, () =>
      Effect.gen(function*() {
        const { seen, transport } = yield* tapped
        yield* transport.send(Message.notification("a", { text: part.repeat(200_000) }))
        assert.lengthOf(seen, 1)
      }))
  }

  for (const [shown, secret] of hidden) {
    it.scoped(`shows ${JSON.stringify(shown)}`, () =>
      Effect.gen(function*() {
        const { seen, transport } = yield* tapped
        yield* transport.send(Message.notification("a", { nested: [secret] }))
        assert.deepStrictEqual(JSON.parse(seen[0]!.text).params.nested, [shown])
      }))
  }

  it.effect("that logs writes one line for each message, of 4,000 characters at most", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      yield* Effect.provide(
        Effect.zipRight(
          Tap.log({ direction: "in", name: "notes", text: "{\"id\":1}" }),
          Tap.log({ direction: "out", name: "notes", text: "x".repeat(5000) })
        ),
        Logger.replace(Logger.defaultLogger, logger)
      )
      assert.deepStrictEqual(lines, ["notes <- {\"id\":1}", `notes -> ${"x".repeat(4000)}…`])
    }))

  it.scoped("passes on what only a transport over HTTP has, as it is", () =>
    Effect.gen(function*() {
      const [pipe] = yield* Transport.memory()
      const exchanges = { isResumed: true, canLogIn: false }
      const http = yield* Tap.transport({ ...pipe, exchanges }, "notes")
      assert.strictEqual(http.exchanges, exchanges)
      assert.isUndefined((yield* Tap.transport(pipe, "notes")).exchanges)
    }))
})
