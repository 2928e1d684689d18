import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type * as Side from "@effect-mcp/jsonrpc/Side"
import { Cause, Context, Deferred, Effect, Exit, Fiber } from "effect"
import { refusal, side, talk } from "../Talk.js"

const internal = (id: Message.RequestId) => Message.failure(id, JsonRpcError.internal)

/** Work that waits at a gate, and says when it has come there. */
const gate = Effect.gen(function*() {
  const came = yield* Deferred.make<Side.IncomingRequest>()
  const opened = yield* Deferred.make<void>()
  return {
    serve: (_: Message.Request, exchange: Side.IncomingRequest) =>
      Effect.zipRight(Deferred.succeed(came, exchange), Effect.as(Deferred.await(opened), { passed: true })),
    came: Deferred.await(came),
    open: Deferred.succeed(opened, undefined)
  }
})

describe("a request", () => {
  it.scoped("is answered with its result, under its id as it came", () =>
    Effect.gen(function*() {
      const result = { echo: true }
      const t = yield* talk(side({ echo: () => Effect.succeed(result) }))
      for (const id of [7, "7", 0, "", -1, "x"]) {
        yield* t.peer.ask(id, "echo")
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(id, result))
      }
    }))

  it.scoped("is answered with the error that its handler fails with, unchanged", () =>
    Effect.gen(function*() {
      const error = { code: -32042, message: "no", data: { why: [1] } }
      const t = yield* talk(side({ no: () => new JsonRpcError.JsonRpcError(error) }))
      yield* t.peer.ask(1, "no")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.failure(1, error))
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("is answered when its handler is done, whatever was asked before", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      yield* t.peer.ask(1, "slow")
      yield* t.peer.ask(2, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(2, {}))
      assert.strictEqual(t.conversation.inFlight(), 1)
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, { passed: true }))
      assert.strictEqual(t.conversation.inFlight(), 0)
    }))

  it.scoped("leaves no trace when its handler is done at once", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const t = yield* talk((outbound) =>
        side({ now: () => Effect.sync(() => ({ seen: seen.push(outbound.inFlight()) })) })
      )
      for (let i = 1; i <= 200; i++) {
        t.conversation.receive(Message.request(1, "now"))
        assert.strictEqual(t.conversation.inFlight(), 0)
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, { seen: i }))
      }
      assert.deepStrictEqual(new Set(seen), new Set([1]), "reserved while it ran")
    }))

  it.scoped("runs in the context of its work, or else in that of the conversation", () =>
    Effect.gen(function*() {
      class Name extends Context.Tag("Name")<Name, string>() {}
      const name = Effect.map(Effect.context<never>(), (context) => ({ name: Context.unsafeGet(context, Name) }))
      const t = yield* talk(side({
        own: () => ({
          effect: name,
          context: Context.make(Name, "own") as Context.Context<never>,
          reply: Outcome.fromExit
        }),
        given: () => name
      })).pipe(Effect.provideService(Name, "given"))
      for (const method of ["own", "given"]) {
        yield* t.peer.ask(1, method)
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, { name: method }))
      }
    }))

  const bugs: ReadonlyArray<readonly [name: string, work: () => Effect.Effect<unknown, unknown> | Side.Work]> = [
    ["dies", () => Effect.die("s3cret")],
    ["fails with what is no error of the protocol", () => Effect.fail(new Error("s3cret"))],
    ["gives nothing", () => Effect.void],
    ["gives what is no object", () => Effect.succeed("s3cret")],
    ["interrupts itself", () => Effect.interrupt],
    [
      "joins a fiber that was interrupted",
      () =>
        Effect.flatMap(Effect.fork(Effect.never), (fiber) => Effect.zipRight(Fiber.interrupt(fiber), Fiber.join(fiber)))
    ],
    ["joins a fiber that died", () => Effect.flatMap(Effect.fork(Effect.die("s3cret")), Fiber.join)],
    ["cannot even be started", () => {
      throw new Error("s3cret")
    }],
    ["has a mapping that throws", () => ({
      effect: Effect.void,
      reply: () => {
        throw new Error("s3cret")
      }
    })],
    ["has a mapping that gives nothing", () => ({ effect: Effect.void, reply: () => undefined as never })],
    ["cannot be released", () => ({
      effect: Effect.succeed({}),
      reply: Outcome.fromExit,
      release: () => Effect.die("s3cret")
    })],
    ["has a release that throws", () => ({
      effect: Effect.succeed({}),
      reply: Outcome.fromExit,
      release: () => {
        throw new Error("s3cret")
      }
    })]
  ]

  for (const [name, work] of bugs) {
    it.scoped(`whose handler ${name} is answered "Internal error", and the operator learns why`, () =>
      Effect.gen(function*() {
        const t = yield* talk(side({ bug: work }))
        yield* t.peer.ask(1, "bug")
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, internal(1))
        const diagnostic = yield* t.diagnostic
        assert.deepInclude(diagnostic, { _tag: "HandlerDied", method: "bug" })
        assert.isFalse(diagnostic._tag === "HandlerDied" && Cause.isEmpty(diagnostic.cause))
        assert.deepStrictEqual(yield* t.peer.heard, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
      }))
  }

  it.scoped("is released before its answer leaves, whatever its end", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const t = yield* talk(side({
        released: ({ params }) => ({
          effect: params?.fails === true ? Effect.fail("no") : Effect.succeed({}),
          reply: (exit) => ({ result: { succeeded: Exit.isSuccess(exit) } }),
          release: (exit) => {
            exits.push(exit)
            return Effect.asVoid(slow.serve(Message.request(0, ""), undefined as never))
          }
        })
      }))
      yield* t.peer.ask(1, "released")
      yield* t.peer.ask(2, "released", { fails: true })
      yield* slow.came
      assert.deepStrictEqual(yield* t.peer.heard, [])
      assert.strictEqual(t.conversation.inFlight(), 2)
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, { succeeded: true }))
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(2, { succeeded: false }))
      assert.deepStrictEqual(exits, [Exit.succeed({}), Exit.fail("no")])
    }))

  it.scoped("keeps its own failure when its release fails as well", () =>
    Effect.gen(function*() {
      const t = yield* talk(side({
        no: () => ({
          effect: new JsonRpcError.JsonRpcError({ code: 5, message: "no" }),
          reply: Outcome.fromExit,
          release: () => Effect.die("too")
        })
      }))
      yield* t.peer.ask(1, "no")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.failure(1, { code: 5, message: "no" }))
    }))
})

describe("an id that is in flight", () => {
  it.scoped("is refused a second time, and the first request lives on", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      yield* t.peer.ask(0, "slow")
      yield* slow.came
      yield* t.peer.ask(0, "ping")
      const refused = { code: JsonRpcError.INVALID_REQUEST, message: "Invalid request: the id is already in flight" }
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.failure(0, refused))
      assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "DuplicateRequest", id: 0, method: "ping" })
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(0, { passed: true }))
    }))

  it.scoped("is another id than its other form", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      yield* t.peer.ask(7, "slow")
      yield* slow.came
      yield* t.peer.ask("7", "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success("7", {}))
      assert.strictEqual(t.conversation.inFlight(), 1)
    }))

  it.scoped("is free again when the request is answered", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      yield* t.peer.ask(1, "slow")
      yield* slow.came
      yield* slow.open
      yield* t.peer.hear
      yield* t.peer.ask(1, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, {}))
    }))
})

describe("the number of requests in flight", () => {
  for (const limit of [undefined, 3]) {
    it.scoped(`is bounded, by ${limit ?? "64 if nothing is said"}: more are refused until one is answered`, () =>
      Effect.gen(function*() {
        const bound = limit ?? 64
        const slow = yield* gate
        const t = yield* talk(side({ slow: slow.serve }), { maxInFlight: limit })
        for (let id = 1; id <= bound; id++) yield* t.peer.ask(id, "slow")
        yield* t.peer.ask("one more", "ping")
        const refused = { code: JsonRpcError.UNAVAILABLE, message: `Too many requests: ${bound} are in flight` }
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.failure("one more", refused))
        assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "Overloaded", method: "ping", limit: bound })
        assert.strictEqual(t.conversation.inFlight(), bound)
        yield* slow.open
        for (let id = 1; id <= bound; id++) yield* t.peer.hear
        yield* t.peer.ask("one more", "ping")
        assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success("one more", {}))
      }))
  }
})

describe("an exchange", () => {
  it.scoped("knows its request, and asks and tells its sender", () =>
    Effect.gen(function*() {
      const t = yield* talk(side({
        nested: (_, exchange) =>
          Effect.gen(function*() {
            yield* exchange.notify("note", { a: 1 })
            const answer = yield* exchange.request("ask", { b: 2 })
            return { id: exchange.id, method: exchange.method, answer }
          })
      }))
      yield* t.peer.ask("x", "nested")
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.notification("note", { a: 1 }))
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.request(1, "ask", { b: 2 }))
      yield* t.peer.answer(1, { c: 3 })
      const result = { id: "x", method: "nested", answer: { c: 3 } }
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success("x", result))
    }))

  it.scoped("refuses requests and drops notifications when it is answered", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      yield* t.peer.ask(1, "slow")
      const exchange = yield* slow.came
      const waiting = yield* Effect.fork(exchange.request("ask"))
      assert.strictEqual(((yield* t.peer.hear) as Message.Request).method, "ask")
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.hear, Message.success(1, { passed: true }))
      yield* exchange.notify("late")
      const error = yield* refusal(exchange.request("late"))
      assert.deepInclude(error as LocalError.NoBackChannel, { _tag: "NoBackChannel", method: "late" })
      assert.deepStrictEqual(yield* t.peer.heard, [])
      yield* t.peer.answer(1, { inTime: true })
      assert.deepStrictEqual(yield* Fiber.join(waiting), { inTime: true })
    }))

  it.scoped("is answered after what was said for it, also where that still waits for room", () =>
    Effect.gen(function*() {
      const exchanges = yield* Deferred.make<Side.IncomingRequest>()
      const [done, released, room] = yield* Effect.all([
        Deferred.make<void>(),
        Deferred.make<void>(),
        Deferred.make<void>()
      ])
      const t = yield* talk(side({
        slow: (_, exchange) => ({
          effect: Deferred.succeed(exchanges, exchange).pipe(
            Effect.zipRight(Deferred.await(done)),
            Effect.as({ ok: 1 })
          ),
          reply: Outcome.fromExit,
          release: () => Effect.asVoid(Deferred.succeed(released, undefined))
        })
      }))
      const written: Array<Message.Message> = []
      const narrow: Side.Channel = {
        send: (message) => Effect.zipRight(Deferred.await(room), Effect.sync(() => written.push(message))),
        unsafeSend: (message) => written.push(message) > 0
      }
      t.conversation.receive(Message.request(1, "slow"), narrow)
      const exchange = yield* Deferred.await(exchanges)
      const early = yield* Effect.fork(exchange.notify("early"))
      while ((yield* Fiber.status(early))._tag !== "Suspended") yield* Effect.yieldNow()
      yield* Deferred.succeed(done, undefined)
      yield* Deferred.await(released)
      yield* exchange.notify("late")
      yield* t.peer.heard
      assert.deepStrictEqual(written, [])
      yield* Deferred.succeed(room, undefined)
      yield* Fiber.join(early)
      assert.deepStrictEqual<unknown>(written, [Message.notification("early"), Message.success(1, { ok: 1 })])
      assert.strictEqual(t.conversation.inFlight(), 0)
    }))

  it.scoped("is answered when what still waits for room is given up", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      const written: Array<Message.Message> = []
      const stuck: Side.Channel = { send: () => Effect.never, unsafeSend: (message) => written.push(message) > 0 }
      t.conversation.receive(Message.request(1, "slow"), stuck)
      const exchange = yield* slow.came
      const note = yield* Effect.fork(exchange.notify("never"))
      while ((yield* Fiber.status(note))._tag !== "Suspended") yield* Effect.yieldNow()
      yield* slow.open
      yield* Fiber.interrupt(note)
      while (t.conversation.inFlight() > 0) yield* Effect.yieldNow()
      assert.deepStrictEqual<unknown>(written, [Message.success(1, { passed: true })])
    }))
})

describe("a channel that throws", () => {
  it.scoped("costs the answer, and is reported", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* talk(side({ slow: slow.serve }))
      const broken: Side.Channel = {
        send: () => Effect.void,
        unsafeSend: () => {
          throw new Error("broken")
        }
      }
      t.conversation.receive(Message.request(1, "slow"), broken)
      yield* slow.came
      yield* slow.open
      assert.deepInclude(yield* t.diagnostic, { _tag: "HandlerDied", method: "slow" })
      assert.strictEqual(t.conversation.inFlight(), 0)
      assert.deepStrictEqual(yield* t.peer.heard, [])
    }))
})
