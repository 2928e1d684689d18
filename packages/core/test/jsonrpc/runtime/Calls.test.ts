import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as LocalError from "@effect-mcp/core/LocalError"
import { SessionExpired } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import * as RequestIds from "../../../src/jsonrpc/runtime/RequestIds.js"
import { connect, refusal, side } from "../ScriptedPeer.js"

const requestOf = (incoming: Message.Incoming) => incoming as Message.Request

/** Forks a call and waits until the peer has received it. */
const calling = Effect.fnUntraced(function*(
  { conversation, peer }: Effect.Effect.Success<ReturnType<typeof connect>>,
  ...args: Parameters<Conversation.Conversation["request"]>
) {
  const fiber = yield* Effect.fork(conversation.request(...args))
  return { fiber, request: requestOf(yield* peer.receive) }
})

describe("a call", () => {
  it.scoped("sends a request, and its answer is the result", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber, request } = yield* calling(t, "add", { a: 1 })
      assert.deepStrictEqual<unknown>(request, { jsonrpc: "2.0", id: 1, method: "add", params: { a: 1 } })
      assert.strictEqual(t.conversation.pending(), 1)
      const result = { sum: 2, _meta: { kept: true } }
      yield* t.peer.answer(1, result)
      assert.strictEqual(yield* Fiber.join(fiber), result)
      assert.strictEqual(t.conversation.pending(), 0)
    }))

  it.scoped("leaves params out when it has none, and requests no progress without onProgress", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { request } = yield* calling(t, "list")
      assert.deepStrictEqual(Object.keys(request), ["jsonrpc", "id", "method"])
      const other = yield* calling(t, "list", { a: 1 }, { timeout: "1 minute" })
      assert.deepStrictEqual(other.request.params, { a: 1 })
    }))

  it.scoped("gets its own answer, whatever the order of the answers", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const calls = []
      for (let i = 0; i < 10; i++) calls.push(yield* calling(t, "m", { i }))
      for (const { request } of [...calls].reverse()) yield* t.peer.answer(request.id, { echo: request.params?.i })
      for (let i = 0; i < 10; i++) assert.deepStrictEqual(yield* Fiber.join(calls[i]!.fiber), { echo: i })
    }))

  it.scoped("fails with the error that the peer answered with, unchanged", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      yield* t.peer.send(Message.failure(1, { code: -32042, message: "no", data: { why: [1] } }))
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error, { _tag: "JsonRpcError", code: -32042, message: "no", data: { why: [1] } })
    }))

  it.scoped("takes code, message and data of the error of the peer, and no other member", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      const hostile = { _tag: "ConnectionClosed", name: "x", stack: "x", cause: "x", toString: "x", pipe: "x" }
      yield* t.peer.send({ jsonrpc: "2.0", id: 1, error: { ...hostile, code: 1, message: "no" } })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag, "JsonRpcError")
      assert.isFunction(error.toString)
      assert.isFunction(error.pipe)
      assert.notInclude([error.name, error.stack, error.cause], "x")
    }))
})

describe("the id of a call", () => {
  it.scoped("is never used twice", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const ids = new Set<unknown>()
      for (let i = 0; i < 50; i++) {
        const { fiber, request } = yield* calling(t, "m", undefined, { cancelOnAbandon: false })
        ids.add(request.id)
        if (i % 3 === 0) yield* Fiber.interrupt(fiber)
        else yield* Effect.zipRight(t.peer.answer(request.id), Fiber.join(fiber))
      }
      assert.strictEqual(ids.size, 50)
    }))

  it.scoped("is given to onId before the request is sent", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const ids: Array<Message.RequestId> = []
      for (let n = 1; n <= 2; n++) {
        const { request } = yield* calling(t, "m", undefined, { onId: (id) => ids.push(id) })
        assert.strictEqual(ids.at(-1), request.id)
      }
      yield* Effect.flip(t.conversation.request("m", undefined, { timeout: 0, onId: (id) => ids.push(id) }))
      assert.deepStrictEqual(ids, [1, 2])
    }))

  it.scoped("may be returned as a string", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const calls = [yield* calling(t, "m"), yield* calling(t, "m")]
      yield* t.peer.answer("1", { first: true })
      yield* t.peer.send(Message.failure("2", { code: 5, message: "no" }))
      assert.deepStrictEqual(yield* Fiber.join(calls[0]!.fiber), { first: true })
      assert.deepInclude(yield* Effect.flip(Fiber.join(calls[1]!.fiber)), { _tag: "JsonRpcError", code: 5 })
    }))

  for (const id of ["01", "1.0", " 1", "1e0", "+1", "true", "", 0, -1, 2, "x"]) {
    it.scoped(`is not ${JSON.stringify(id)} when it is 1; such an answer is reported`, () =>
      Effect.gen(function*() {
        const t = yield* connect()
        const { fiber } = yield* calling(t, "m")
        yield* t.peer.answer(id)
        assert.deepStrictEqual<unknown>(yield* t.diagnostic, {
          _tag: "UnknownResponse",
          response: Message.success(id, {}),
          late: false
        })
        assert.strictEqual(fiber.unsafePoll(), null)
      }))
  }

  it.scoped("is not true when it is 1", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      t.conversation.receive(Message.fromUnknown({ jsonrpc: "2.0", id: true, result: {} }))
      assert.strictEqual((yield* t.diagnostic)._tag, "Malformed")
      assert.strictEqual(fiber.unsafePoll(), null)
    }))

  const otherForms: ReadonlyArray<readonly [id: Message.RequestId, otherForm: Message.RequestId | undefined]> = [
    [7, "7"],
    ["7", 7],
    [0, "0"],
    ["0", 0],
    [-1, "-1"],
    ["-1", -1],
    ["", undefined],
    ["07", undefined],
    ["7.0", undefined],
    [" 7", undefined],
    ["-0", undefined],
    ["x", undefined],
    ["Infinity", undefined],
    ["1e3", undefined],
    ["9007199254740993", undefined]
  ]
  for (const [id, otherForm] of otherForms) {
    it(`has ${JSON.stringify(otherForm) ?? "no other form"} for ${JSON.stringify(id)}`, () => {
      assert.strictEqual(RequestIds.otherForm(id), otherForm)
    })
  }
})

describe("an answer to no call that waits", () => {
  it.scoped("is reported as late when its id was one of ours, and ends nothing", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      yield* t.peer.answer(1)
      yield* Fiber.join(fiber)
      yield* t.peer.answer(1)
      yield* t.peer.answer("1")
      yield* t.peer.answer(2)
      const late = []
      for (let i = 0; i < 3; i++) late.push(yield* t.diagnostic)
      assert.deepStrictEqual(late.map((diagnostic) => diagnostic._tag === "UnknownResponse" && diagnostic.late), [
        true,
        true,
        false
      ])
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("is reported when it is an error without an id, and ends no call", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      const error = { code: -32700, message: "what?" }
      yield* t.peer.send(Message.failure(undefined, error))
      yield* t.peer.send({ jsonrpc: "2.0", id: null, error })
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "UnattributedError", error })
      }
      assert.strictEqual(fiber.unsafePoll(), null)
    }))
})

describe("a malformed answer", () => {
  for (const id of [1, "1"]) {
    it.scoped(`ends the call that it names as ${JSON.stringify(id)}, with reason Decode`, () =>
      Effect.gen(function*() {
        const t = yield* connect()
        const { fiber } = yield* calling(t, "m")
        t.conversation.receive(Message.fromUnknown({ jsonrpc: "2.0", id, result: "not an object" }))
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
        assert.strictEqual((yield* t.diagnostic)._tag, "Malformed")
        assert.deepStrictEqual(yield* t.peer.received, [], "SHOULD NOT answer a response")
      }))
  }

  it.scoped("without an id, or of an id that does not wait, ends nothing", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "m")
      t.conversation.receive(Message.fromUnknown({ jsonrpc: "2.0", result: {} }))
      t.conversation.receive(Message.fromUnknown({ jsonrpc: "2.0", id: 7, result: null }))
      assert.deepStrictEqual([(yield* t.diagnostic)._tag, (yield* t.diagnostic)._tag], ["Malformed", "Malformed"])
      assert.strictEqual(fiber.unsafePoll(), null)
    }))
})

describe("a call that the transport could not deliver", () => {
  it.scoped("fails with the error of the transport at once, and no other call does", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber, request } = yield* calling(t, "lost")
      const other = yield* calling(t, "m")
      const error = new SessionExpired({ method: "lost" })
      t.conversation.receive(new Transport.Undelivered(request.id, error))
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), error)
      assert.strictEqual(other.fiber.unsafePoll(), null)
      assert.strictEqual(t.conversation.pending(), 1)
    }))

  it.scoped("that has ended already is ignored", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      t.conversation.receive(new Transport.Undelivered(7, new SessionExpired({ method: "m" })))
      yield* t.peer.request(1, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, {}))
    }))
})

describe("a call that cannot be sent", () => {
  it.scoped("fails with ConnectionClosed when the transport is closed, and does not wait", () =>
    Effect.gen(function*() {
      const closedTransport: Transport.Transport = { ...(yield* Transport.memory())[0], unsafeSend: () => false }
      const conversation = yield* Conversation.make(closedTransport, side({}))
      assert.deepInclude(yield* refusal(conversation.request("m")), { _tag: "ConnectionClosed", isUnsent: true })
      assert.strictEqual(conversation.pending(), 0)
    }))

  it.scoped("fails with reason Encode when its parameters have no JSON form", () =>
    Effect.gen(function*() {
      const picky: Transport.Transport = { ...(yield* Transport.memory())[0], unsafeSend: () => false }
      const conversation = yield* Conversation.make(picky, side({}))
      const error = yield* refusal(conversation.request("m", { a: 1n }))
      assert.deepInclude(error, { _tag: "TransportError", reason: "Encode" })
      assert.strictEqual(conversation.pending(), 0)
    }))
})

describe("a pipe that throws", () => {
  it.scoped("fails the call that it threw for with the defect, and times out the others", () =>
    Effect.gen(function*() {
      let broken = false
      const [here] = yield* Transport.memory()
      const unsafeSend = () => {
        if (broken) throw new Error("broken")
        return true
      }
      const conversation = yield* Conversation.make({ ...here, unsafeSend }, side({}))
      const calls = yield* Effect.fork(Effect.all(
        [100, 200].map((timeout) => refusal(conversation.request("m", {}, { timeout }))),
        { concurrency: "unbounded" }
      ))
      while (conversation.pending() < 2) yield* Effect.yieldNow()
      broken = true
      const exit = yield* Effect.exit(conversation.request("m"))
      assert.deepStrictEqual(exit, Exit.die(new Error("broken")))
      assert.strictEqual(conversation.pending(), 2)
      yield* TestClock.adjust(200)
      const errors = yield* Fiber.join(calls)
      assert.deepStrictEqual(errors.map(({ _tag }) => _tag), ["RequestTimeout", "RequestTimeout"])
    }))
})

describe("interrupting the caller", () => {
  it.scoped("cancels the request once, by its id", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber, request } = yield* calling(t, "m")
      yield* Fiber.interrupt(fiber)
      const reason = "the caller was interrupted"
      assert.deepStrictEqual<unknown>(yield* t.peer.received, [
        Message.notification("notifications/cancelled", { requestId: request.id, reason })
      ])
      assert.strictEqual(t.conversation.pending(), 0)
    }))

  it.scoped("ends that call only, and a late answer is reported", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const [interrupted, other] = [yield* calling(t, "m"), yield* calling(t, "m")]
      yield* Fiber.interrupt(interrupted.fiber)
      yield* t.peer.answer(interrupted.request.id)
      yield* t.peer.answer(other.request.id, { other: true })
      assert.deepStrictEqual(yield* Fiber.join(other.fiber), { other: true })
      assert.deepInclude(yield* t.diagnostic, { _tag: "UnknownResponse", late: true })
    }))

  it.scoped("MUST NOT cancel a request with cancelOnAbandon false", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber } = yield* calling(t, "initialize", {}, { cancelOnAbandon: false })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.strictEqual(t.conversation.pending(), 0)
    }))

  it.scoped("sends nothing when the request was never sent", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const gate = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Effect.zipRight(Deferred.await(gate), t.conversation.request("m")))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))

  it.scoped("sends nothing when the answer has arrived already", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const { fiber, request } = yield* calling(t, "m")
      t.conversation.receive(Message.success(request.id, {}))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))
})

describe("the calls of a conversation that closes:", () => {
  it.scoped("every call fails with ConnectionClosed, and so do later ones, which say that they were not sent", () =>
    Effect.gen(function*() {
      const t = yield* connect()
      const calls = [yield* calling(t, "m"), yield* calling(t, "m", {}, { timeout: 1000 })]
      yield* t.conversation.close
      for (const { fiber } of calls) {
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepStrictEqual([error._tag, "isUnsent" in error], ["ConnectionClosed", false])
      }
      assert.deepInclude(yield* refusal(t.conversation.request("m")), { _tag: "ConnectionClosed", isUnsent: true })
      assert.strictEqual(t.conversation.pending(), 0)
      t.conversation.receive(Message.success(1, {}))
      assert.deepInclude(t.diagnostics[0], { _tag: "UnknownResponse", late: true })
      assert.deepStrictEqual(yield* Effect.zipRight(t.closeScope, t.peer.closed), [])
    }))

  it.scoped("a call that waits fails with the error that ended the transport", () =>
    Effect.gen(function*() {
      const fault = new LocalError.TransportError({ reason: "Read", message: "the pipe broke" })
      const broken = yield* Deferred.make<void, LocalError.TransportError>()
      const [end] = yield* Transport.memory()
      const conversation = yield* Conversation.make({ ...end, run: () => Deferred.await(broken) }, side({}))
      const fiber = yield* Effect.fork(conversation.request("m"))
      while (conversation.pending() === 0) yield* Effect.yieldNow()
      yield* Deferred.fail(broken, fault)
      assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { _tag: "ConnectionClosed", cause: fault })
      assert.strictEqual(yield* Effect.flip(conversation.ended), fault)
    }))
})
