import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Fiber, Logger, TestClock } from "effect"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import * as Diagnostics from "../../src/jsonrpc/runtime/Diagnostics.js"
import { connect, peer, refusal, side } from "./ScriptedPeer.js"

describe("receiving in a conversation", () => {
  it.scoped("is ordered: a request is started before the next message is handled", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const t = yield* connect(side(
        {
          initialize: () =>
            Effect.sync(() => {
              log.push("initialize")
              return {}
            })
        },
        ({ method }) => Effect.sync(() => log.push(method))
      ))
      t.conversation.receive(Message.request(1, "initialize"))
      t.conversation.receive(Message.notification("initialized"))
      t.conversation.receive(Message.request(2, "initialize"))
      assert.deepStrictEqual(log, ["initialize", "initialized", "initialize"])
    }))

  it.scoped("continues while handlers of every kind never end", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({ endless: () => Effect.never }, () => Effect.never))
      yield* t.peer.request(1, "endless")
      yield* t.peer.notify("endless")
      const call = yield* Effect.fork(t.conversation.request("m"))
      yield* t.peer.receive
      yield* t.peer.answer(1)
      assert.deepStrictEqual(yield* Fiber.join(call), {})
    }))

  it.scoped("allows requests in both directions, nested in one another", () =>
    Effect.gen(function*() {
      const deeper = side({
        deeper: ({ params }, incoming) => {
          const depth = params!.depth as number
          return depth === 0 ? Effect.succeed({ bottom: true }) : incoming.request("deeper", { depth: depth - 1 })
        }
      })
      const [left, right] = yield* Transport.memory()
      const [caller] = yield* Effect.all([Conversation.make(left, deeper), Conversation.make(right, deeper)])
      assert.deepStrictEqual(yield* caller.request("deeper", { depth: 20 }), { bottom: true })
    }))
})

describe("malformed input", () => {
  const inputs: ReadonlyArray<readonly [text: string, answer: Message.Failure | undefined]> = [
    ["{", Message.failure(undefined, { code: -32700, message: "Parse error: the input is not JSON" })],
    [
      "5",
      Message.failure(undefined, {
        code: -32600,
        message: "Invalid request: expected an object, received number"
      })
    ],
    ["{\"id\":99}", Message.failure(99, { code: -32600, message: "Invalid request: \"method\" is missing" })],
    [
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\",\"params\":[]}",
      Message.failure(0, {
        code: -32602,
        message: "Invalid params: expected an object"
      })
    ],
    ["{\"method\":\"m\"}", undefined],
    ["{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":5}", undefined]
  ]
  for (const [text, answer] of inputs) {
    it.scoped(`${answer === undefined ? "is not answered" : "is answered"}: ${text}, and the next message is handled`, () =>
      Effect.gen(function*() {
        const t = yield* connect()
        const malformed = MessageText.parse(text) as Message.Malformed
        t.conversation.receive(malformed)
        assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "Malformed", malformed })
        assert.deepStrictEqual<unknown>(yield* t.peer.received, answer === undefined ? [] : [answer])
      }))
  }
})

describe("a notification", () => {
  it.scoped("is handled concurrently with others", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const log: Array<unknown> = []
      const t = yield* connect(
        side({}, ({ method, params }) => method === "slow" ? Deferred.await(gate) : Effect.sync(() => log.push(params)))
      )
      yield* t.peer.notify("slow")
      yield* t.peer.notify("quick", { a: 1 })
      yield* t.peer.notify("quick")
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.deepStrictEqual(log, [{ a: 1 }, undefined])
    }))

  const faults: ReadonlyArray<readonly [name: string, fault: () => Effect.Effect<void>]> = [
    ["throws", () => {
      throw new Error("boom")
    }],
    ["dies", () => Effect.die("boom")],
    ["dies later", () => Effect.zipRight(Effect.yieldNow(), Effect.die("boom"))]
  ]
  for (const [name, fault] of faults) {
    it.scoped(`whose handler ${name} is reported, and the next message is handled`, () =>
      Effect.gen(function*() {
        const t = yield* connect(side({}, ({ method }) => method === "bad" ? fault() : undefined))
        yield* t.peer.notify("bad")
        assert.deepInclude(yield* t.diagnostic, { _tag: "HandlerDied", method: "bad" })
        yield* t.peer.notify("good")
        assert.deepStrictEqual(yield* t.peer.received, [])
      }))
  }

  it.scoped("is dropped and reported when 64 are being handled", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let handled = 0
      const t = yield* connect(side({}, () => Effect.zipRight(Deferred.await(gate), Effect.sync(() => handled++))))
      for (let i = 0; i < 65; i++) yield* t.peer.notify("slow")
      assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "Overloaded", method: "slow", limit: 64 })
      yield* Deferred.succeed(gate, undefined)
      while (handled < 64) yield* Effect.yieldNow()
      yield* t.peer.notify("slow")
      yield* t.peer.received
      assert.strictEqual(handled, 65)
      assert.strictEqual(t.diagnostics.length, 1)
    }))

  it.scoped("is sent with its params, or without when it has none", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      yield* t.conversation.notify("a")
      yield* t.conversation.notify("b", { c: 1 })
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [
        { jsonrpc: "2.0", method: "a" },
        { jsonrpc: "2.0", method: "b", params: { c: 1 } }
      ])
    }))

  it.scoped("suspends while the transport is full", () =>
    Effect.gen(function*() {
      const [here, there] = yield* Transport.memory({ capacity: 1 })
      const conversation = yield* Conversation.make(here, side({}))
      yield* conversation.notify("a")
      const sender = yield* Effect.fork(conversation.notify("b"))
      yield* untilSuspended(sender)
      const other = yield* peer(there)
      yield* Fiber.join(sender)
      assert.deepStrictEqual<unknown>(yield* other.received, [Message.notification("a"), Message.notification("b")])
    }))
})

describe("the option `report` of a conversation", () => {
  const faults: ReadonlyArray<readonly [name: string, report: () => Effect.Effect<void>]> = [
    ["throws", () => {
      throw new Error("boom")
    }],
    ["dies", () => Effect.die("boom")],
    ["never ends", () => Effect.never],
    ["cannot be interrupted", () => Effect.uninterruptible(Effect.yieldNow())]
  ]
  for (const [name, report] of faults) {
    it.scoped(`that ${name} does not affect the conversation`, () =>
      Effect.gen(function*() {
        const t = yield* connect(side({ bug: () => Effect.die("boom") }, () => Effect.die("boom")), { report })
        t.conversation.receive(Message.fromUnknown({ method: "m" }))
        yield* t.peer.answer(7)
        yield* t.peer.notify("m")
        yield* t.peer.request(1, "bug")
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.failure(1, JsonRpcError.internal))
        assert.deepStrictEqual(yield* t.peer.received, [])
        // Closing waits for a report in progress as long as for a handler.
        const leaving = yield* Effect.fork(t.closeScope)
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(leaving)
      }))
  }

  it.scoped("runs for at most 64 diagnostics at once, and reports how many were dropped", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let reports = 0
      let dropped = 0
      const t = yield* connect(side({}), {
        report: (diagnostic) => {
          reports++
          if (diagnostic._tag === "Dropped") dropped += diagnostic.count
          return Deferred.await(gate)
        }
      })
      for (let i = 0; i < 1000; i++) t.conversation.receive(Message.fromUnknown({ method: "m" }))
      assert.strictEqual(reports, Diagnostics.MAX_REPORTS)
      yield* Deferred.succeed(gate, undefined)
      yield* t.peer.received
      while (dropped === 0) yield* Effect.yieldNow()
      t.conversation.receive(Message.fromUnknown({ method: "m" }))
      assert.strictEqual(dropped, 1000 - Diagnostics.MAX_REPORTS)
      assert.strictEqual(reports, Diagnostics.MAX_REPORTS + 2)
    }))

  it.scoped("reports a flood of diagnostics in parts, also when each report ends at once", () =>
    Effect.gen(function*() {
      const reports: Array<number> = []
      const t = yield* connect(side({}), {
        report: (diagnostic) =>
          Effect.sync(() => void reports.push(diagnostic._tag === "Dropped" ? diagnostic.count : 1))
      })
      for (let i = 0; i < 1000; i++) t.conversation.receive(Message.fromUnknown({ method: "m" }))
      assert.lengthOf(reports, Diagnostics.MAX_REPORTS)
      yield* Effect.promise(() => Promise.resolve())
      assert.deepStrictEqual(reports.slice(Diagnostics.MAX_REPORTS), [1000 - Diagnostics.MAX_REPORTS])
    }))

  it.effect("writes to the log by default", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => lines.push(String(message)))
      const other = yield* Effect.scoped(Effect.gen(function*() {
        const [here, there] = yield* Transport.memory()
        yield* Conversation.make(here, side({ bug: () => Effect.die("boom") }))
        const other = yield* peer(there)
        yield* other.request(1, "bug")
        return yield* other.receive
      })).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.deepStrictEqual<unknown>(other, Message.failure(1, JsonRpcError.internal))
      assert.deepStrictEqual(lines, ["The handler of \"bug\" died"])
    }))
})

describe("Conversation.make", () => {
  it.scoped("passes the outbound to the side before the first message arrives", () =>
    Effect.gen(function*() {
      const [here, there] = yield* Transport.memory()
      const conversation = yield* Conversation.make(here, (outbound) => side({ ask: () => outbound.request("back") }))
      const other = yield* peer(there)
      yield* other.request(1, "ask")
      assert.deepStrictEqual<unknown>(yield* other.receive, Message.request(1, "back"))
      assert.strictEqual(conversation.inFlight(), 1)
    }))

  it.scoped("works in an uninterruptible region: its handlers and calls can still be interrupted", () =>
    Effect.gen(function*() {
      const gone = yield* Deferred.make<void>()
      const t = yield* Effect.uninterruptible(connect(side({
        endless: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(gone, undefined))
      }, () => Effect.never)))
      yield* t.peer.request(1, "endless")
      yield* t.peer.notify("endless")
      const call = yield* Effect.fork(refusal(t.conversation.request("m", {}, { timeout: "1 hour" })))
      yield* t.peer.receive
      yield* t.peer.cancel(1)
      yield* Deferred.await(gone)
      yield* t.closeScope
      assert.strictEqual((yield* Fiber.join(call))._tag, "ConnectionClosed")
      assert.deepStrictEqual(t.diagnostics, [])
    }))
})
