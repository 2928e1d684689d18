import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Options } from "@effect-mcp/core/Remote"
import type { Delivery } from "@effect-mcp/core/Transport"
import { Effect } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

const note = { jsonrpc: "2.0", method: "n" }

/** A transport whose server has agreed on a revision, and the stream that the server answers a request on. */
const streaming = (options: Options & { readonly version?: string } = {}) =>
  Effect.gen(function*() {
    const { version = "2025-11-25", ...rest } = options
    const raw = yield* ScriptedServer.raw(rest)
    raw.transport.unsafeSend(Message.request("opening", "initialize"))
    yield* Effect.flatMap(raw.expect("initialize"), (exchange) =>
      exchange.result(ScriptedServer.initializeResult(version)))
    raw.transport.unsafeSend(Message.request("streaming", "tools/call"))
    const stream = yield* Effect.flatMap(raw.expect("tools/call"), (exchange) =>
      exchange.events())
    yield* raw.quiet
    raw.received.length = 0
    /** What the client receives when the server sends these events. */
    const receives = (text: string) =>
      Effect.gen(function*() {
        yield* stream.push(text)
        yield* raw.quiet
        return raw.received.splice(0)
      })
    return { ...raw, receives, event: (text: string) => receives(`data: ${text}\n\n`) }
  })

const kindOf = (delivery: Delivery) => "_tag" in delivery && delivery._tag === "Malformed" ? delivery.kind : "message"

const judged = (deliveries: ReadonlyArray<Delivery>) =>
  deliveries.map((one) =>
    "_tag" in one && one._tag === "Malformed" ? [one.kind, one.id, one.message] as const : "message"
  )

describe("The text of an event", () => {
  it.scoped("is one message, or a batch of messages where the revision has batches", () =>
    Effect.gen(function*() {
      const { event } = yield* streaming({ version: "2025-03-26" })
      assert.deepStrictEqual<unknown>(yield* event(JSON.stringify(note)), [note])
      assert.deepStrictEqual<unknown>(yield* event(JSON.stringify([note, note])), [note, note])
    }))

  it.scoped("is reported when it is not a message, as a request only if the server waits for an answer", () =>
    Effect.gen(function*() {
      const { event } = yield* streaming({ limits: { maxDepth: 3 } })
      const wrong = JSON.stringify(note).replace("2.0", "1.0")
      for (const text of ["{", "{}", "1", "null", "[]", "[{}]", wrong]) {
        assert.deepStrictEqual((yield* event(text)).map(kindOf), ["notification"], text)
      }
      const kinds = (text: string) => Effect.map(event(text), (deliveries) => deliveries.map(kindOf))
      assert.deepStrictEqual(yield* kinds(`{"jsonrpc":"2.0","id":1,"method":1}`), ["request"])
      assert.deepStrictEqual(yield* kinds(`{"jsonrpc":"2.0","id":1,"result":1}`), ["response"])
      assert.deepStrictEqual(yield* kinds(`{"a":{"a":{"a":{}}},"b":[[[]]],"c":[],"d":[]}`), ["notification"])
    }))

  it.scoped("is refused before it is parsed when it holds too many values", () =>
    Effect.gen(function*() {
      const { event } = yield* streaming()
      const many = `{"a":[${"0,".repeat(100_000)}0]}`
      const tooMany = "Invalid request: more than 100000 values"
      assert.deepStrictEqual(judged(yield* event(`{"jsonrpc":"2.0","id":1,"result":${many}}`)), ["message"])
      assert.deepStrictEqual(judged(yield* event(`{"jsonrpc":"2.0","id":1,"method":"m","params":${many}}`)), [
        ["request", 1, tooMany]
      ])
      assert.deepStrictEqual(judged(yield* event(`{"jsonrpc":"2.0","method":"m","params":${many}}`)), [
        ["notification", undefined, tooMany]
      ])
      const bounded = yield* streaming({ limits: { maxResponseNodes: 100_000 } })
      assert.deepStrictEqual(judged(yield* bounded.event(`{"id":1,"result":${many}}`)), [
        ["response", 1, "Invalid response: more than 100000 values"]
      ])
    }))

  it.scoped("ends the call, or gets an answer, when it nests too deep or names a prototype", () =>
    Effect.gen(function*() {
      const { event } = yield* streaming({ limits: { maxDepth: 3 } })
      const kinds = (text: string) => Effect.map(event(text), (deliveries) => deliveries.map(kindOf))
      assert.deepStrictEqual(
        yield* kinds(`{"jsonrpc":"2.0","id":1,"result":{"a":{"a":{"a":1}}},"b":[],"c":[]}`),
        ["response"]
      )
      assert.deepStrictEqual(
        yield* kinds(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":1}}`),
        ["request"]
      )
      assert.deepStrictEqual(yield* kinds(`{"jsonrpc":"2.0","method":"m","params":{"__proto__":1}}`), ["notification"])
    }))

  it.scoped("is a batch of a bounded number of messages, none of them a batch", () =>
    Effect.gen(function*() {
      const { event } = yield* streaming({ version: "2025-03-26" })
      const kinds = (value: unknown) => Effect.map(event(JSON.stringify(value)), (all) => all.map(kindOf))
      assert.deepStrictEqual(yield* kinds([]), ["notification"])
      assert.deepStrictEqual(yield* kinds([note, [note], 1]), ["message", "notification", "notification"])
      assert.lengthOf(yield* event(JSON.stringify(Array(100).fill(note))), 100)
      assert.deepStrictEqual(yield* kinds(Array(101).fill(note)), ["notification"])
    }))

  it.scoped("MUST NOT be read as a message when it is empty, or when the event has another name", () =>
    Effect.gen(function*() {
      const { receives } = yield* streaming()
      for (const text of ["retry: 1\n\n", "data: \n\n", "id: 1\ndata:\n\n", "event: ping\ndata: now\n\n"]) {
        assert.deepStrictEqual(yield* receives(text), [], text)
      }
      for (const name of ["", "event:\n", "event: message\n"]) {
        assert.deepStrictEqual<unknown>(yield* receives(`${name}data: ${JSON.stringify(note)}\n\n`), [note])
      }
    }))
})

describe("An answer", () => {
  /** What comes in when a request of this id is answered under that id. */
  const answered = (id: Message.RequestId, under: unknown) =>
    Effect.gen(function*() {
      const { expect, quiet, received, transport } = yield* ScriptedServer.raw()
      transport.unsafeSend(Message.request(id, "m"))
      yield* Effect.flatMap(expect("m"), (exchange) =>
        exchange.json({ jsonrpc: "2.0", id: under, error: { code: 1, message: "" } }))
      yield* quiet
      return received.some((one) =>
          "_tag" in one && one._tag === "Undelivered"
        )
        ? "lost"
        : "answered"
    })

  it.scoped("has the id of its request, as written, or as a number for a text and a text for a number", () =>
    Effect.gen(function*() {
      for (const [id, under] of [[1, 1], ["1", 1], [1, "1"], ["a", "a"], [0, 0]] as const) {
        assert.strictEqual(yield* answered(id, under), "answered", `${id} ${under}`)
      }
      for (const [id, under] of [[1, "01"], [1, null], [1, undefined], [0, ""]] as const) {
        assert.strictEqual(yield* answered(id, under), "lost", `${id} ${under}`)
      }
    }))

  it.scoped("is not a request, whatever its id", () =>
    Effect.gen(function*() {
      const { expect, quiet, received, transport } = yield* ScriptedServer.raw()
      transport.unsafeSend(Message.request(1, "m"))
      yield* Effect.flatMap(expect("m"), (exchange) => exchange.json({ jsonrpc: "2.0", id: 1, method: "m" }))
      yield* quiet
      assert.deepStrictEqual(received.map((one) => "_tag" in one ? one._tag : "request"), ["request", "Undelivered"])
    }))
})
