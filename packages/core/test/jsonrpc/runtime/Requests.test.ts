import { assert, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import type * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Outcome from "@effect-mcp/core/Outcome"
import type * as Side from "@effect-mcp/core/Side"
import { Cause, Context, Deferred, Effect, Exit, Fiber } from "effect"
import { untilSuspended } from "../../../../testing/test/support/Suspended.js"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import { connect, endless, refusal, side } from "../ScriptedPeer.js"

const internal = (id: Message.RequestId) => Message.failure(id, JsonRpcError.internal)

/** Work that waits at a gate, and an effect that waits until it has reached the gate. */
const gate = Effect.gen(function*() {
  const came = yield* Deferred.make<Side.IncomingRequest>()
  const opened = yield* Deferred.make<void>()
  return {
    serve: (_: Message.Request, incoming: Side.IncomingRequest) =>
      Effect.zipRight(Deferred.succeed(came, incoming), Effect.as(Deferred.await(opened), { passed: true })),
    came: Deferred.await(came),
    open: Deferred.succeed(opened, undefined)
  }
})

const thrower = {
  get error(): never {
    throw new Error("s3cret")
  }
}

describe("a request", () => {
  it.scoped("is answered with its result, under its unchanged id", () =>
    Effect.gen(function*() {
      const result = { echo: true }
      const t = yield* connect(side({ echo: () => Effect.succeed(result) }))
      for (const id of [7, "7", 0, "", -1, "x"]) {
        yield* t.peer.request(id, "echo")
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(id, result))
      }
    }))

  it.scoped("is answered with the error that its handler fails with, unchanged", () =>
    Effect.gen(function*() {
      const error = { code: -32042, message: "no", data: { why: [1] } }
      const t = yield* connect(side({ no: () => new JsonRpcError.JsonRpcError(error) }))
      yield* t.peer.request(1, "no")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.failure(1, error))
      assert.deepStrictEqual(t.diagnostics, [])
    }))

  it.scoped("is answered when its handler has ended, whatever request came before", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      yield* t.peer.request(1, "slow")
      yield* t.peer.request(2, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(2, {}))
      assert.strictEqual(t.conversation.inFlight(), 1)
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { passed: true }))
      assert.strictEqual(t.conversation.inFlight(), 0)
    }))

  it.scoped("is removed when its handler ends at once", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const t = yield* connect((outbound) =>
        side({ now: () => Effect.sync(() => ({ seen: seen.push(outbound.inFlight()) })) })
      )
      for (let i = 1; i <= 200; i++) {
        t.conversation.receive(Message.request(1, "now"))
        assert.strictEqual(t.conversation.inFlight(), 0)
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { seen: i }))
      }
      assert.deepStrictEqual(new Set(seen), new Set([1]), "reserved while it ran")
    }))

  it.scoped("runs in the context of its work, or else in that of the conversation", () =>
    Effect.gen(function*() {
      class Name extends Context.Tag("Name")<Name, string>() {}
      const name = Effect.map(Effect.context<never>(), (context) => ({ name: Context.unsafeGet(context, Name) }))
      const t = yield* connect(side({
        own: () => ({
          effect: name,
          context: Context.make(Name, "own") as Context.Context<never>,
          reply: Outcome.fromExit
        }),
        given: () => name
      })).pipe(Effect.provideService(Name, "given"))
      for (const method of ["own", "given"]) {
        yield* t.peer.request(1, method)
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { name: method }))
      }
    }))

  const bugs: ReadonlyArray<readonly [name: string, work: () => Effect.Effect<unknown, unknown> | Side.Work]> = [
    ["dies", () => Effect.die("s3cret")],
    ["fails with an error that is not a JsonRpcError", () => Effect.fail(new Error("s3cret"))],
    ["returns undefined", () => Effect.void],
    ["returns a string", () => Effect.succeed("s3cret")],
    ["interrupts itself", () => Effect.interrupt],
    [
      "joins a fiber that was interrupted",
      () =>
        Effect.flatMap(Effect.fork(Effect.never), (fiber) => Effect.zipRight(Fiber.interrupt(fiber), Fiber.join(fiber)))
    ],
    ["joins a fiber that died", () => Effect.flatMap(Effect.fork(Effect.die("s3cret")), Fiber.join)],
    ["throws before it starts", () => {
      throw new Error("s3cret")
    }],
    ["has a mapping that throws", () => ({
      effect: Effect.void,
      reply: () => {
        throw new Error("s3cret")
      }
    })],
    ...[
      ["undefined", undefined],
      ["neither a result nor an error", {}],
      ["a result that is not an object", { result: 5 }],
      ["a result that is null", { result: null }],
      ["a result that is an array", { result: [] }],
      ["an error without a code", { error: { message: "m" } }],
      ["an error without a message", { error: { code: 1 } }],
      ["an error whose getter throws", thrower]
    ].map(([what, outcome]) =>
      [
        `has a mapping that returns ${String(what)}`,
        (): Side.Work => ({ effect: Effect.void, reply: () => outcome as Outcome.Outcome })
      ] as const
    ),
    ["dies in its release", () => ({
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
        const t = yield* connect(side({ bug: work }))
        yield* t.peer.request(1, "bug")
        assert.deepStrictEqual<unknown>(yield* t.peer.receive, internal(1))
        const diagnostic = yield* t.diagnostic
        assert.deepInclude(diagnostic, { _tag: "HandlerDied", method: "bug" })
        assert.isFalse(diagnostic._tag === "HandlerDied" && Cause.isEmpty(diagnostic.cause))
        assert.deepStrictEqual(yield* t.peer.received, [])
        assert.strictEqual(t.conversation.inFlight(), 0)
      }))
  }

  it.scoped("is released before its answer is sent, however it ends", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const t = yield* connect(side({
        released: ({ params }) => ({
          effect: params?.fails === true ? Effect.fail("no") : Effect.succeed({}),
          reply: (exit) => ({ result: { succeeded: Exit.isSuccess(exit) } }),
          release: (exit) => {
            exits.push(exit)
            return Effect.asVoid(slow.serve(Message.request(0, ""), undefined as never))
          }
        })
      }))
      yield* t.peer.request(1, "released")
      yield* t.peer.request(2, "released", { fails: true })
      yield* slow.came
      assert.deepStrictEqual(yield* t.peer.received, [])
      assert.strictEqual(t.conversation.inFlight(), 2)
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { succeeded: true }))
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(2, { succeeded: false }))
      assert.deepStrictEqual(exits, [Exit.succeed({}), Exit.fail("no")])
    }))

  it.scoped("takes no place of others where it has a limit of its own, and leaves its place when it ends", () =>
    Effect.gen(function*() {
      let open = 0
      const own = { enter: () => open < 2 && ++open > 0, leave: () => void open-- }
      const work = yield* endless
      const t = yield* connect({
        ...side({ wait: work.serve }),
        ownLimit: ({ params }) => params?.own === true ? own : undefined
      }, { maxInFlight: 1, maxWaiting: 0 })
      for (const id of [1, 2, 3]) yield* t.peer.request(id, "wait", { own: true })
      assert.deepInclude(yield* t.peer.receive, { id: 3 })
      for (const id of [4, 5]) yield* t.peer.request(id, "wait")
      assert.deepInclude(yield* t.peer.receive, { id: 5 })
      assert.strictEqual(t.conversation.inFlight(), 3)
      yield* t.peer.cancel(1)
      yield* work.stops(1)
      while (t.conversation.inFlight() > 2) yield* Effect.yieldNow()
      assert.strictEqual(open, 1)
      yield* t.peer.request(6, "wait", { own: true })
      while (t.conversation.inFlight() < 3) yield* Effect.yieldNow()
      assert.strictEqual(open, 2)
    }))

  it.scoped("keeps its own failure when its release fails, too, of which the operator learns", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        no: () => ({
          effect: new JsonRpcError.JsonRpcError({ code: 5, message: "no" }),
          reply: Outcome.fromExit,
          release: () => Effect.die("too")
        })
      }))
      yield* t.peer.request(1, "no")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.failure(1, { code: 5, message: "no" }))
      assert.deepStrictEqual<unknown>(yield* t.diagnostic, {
        _tag: "HandlerDied",
        method: "no",
        cause: Cause.die("too")
      })
    }))
})

describe("an id that is in flight", () => {
  it.scoped("is refused a second time, and the first request continues", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      yield* t.peer.request(0, "slow")
      yield* slow.came
      yield* t.peer.request(0, "ping")
      const refused = { code: JsonRpcError.INVALID_REQUEST, message: "Invalid request: the id is already in flight" }
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.failure(0, refused))
      assert.deepStrictEqual<unknown>(yield* t.diagnostic, { _tag: "DuplicateRequest", id: 0, method: "ping" })
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(0, { passed: true }))
    }))

  it.scoped("differs from its other form", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      yield* t.peer.request(7, "slow")
      yield* slow.came
      yield* t.peer.request("7", "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success("7", {}))
      assert.strictEqual(t.conversation.inFlight(), 1)
    }))

  it.scoped("is free again when the request is answered", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      yield* t.peer.request(1, "slow")
      yield* slow.came
      yield* slow.open
      yield* t.peer.receive
      yield* t.peer.request(1, "ping")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, {}))
    }))
})

describe("an incoming request", () => {
  it.scoped("has the id and method of its request, and sends requests and notifications to its sender", () =>
    Effect.gen(function*() {
      const t = yield* connect(side({
        nested: (_, incoming) =>
          Effect.gen(function*() {
            yield* incoming.notify("note", { a: 1 })
            const answer = yield* incoming.request("ask", { b: 2 })
            return { id: incoming.id, method: incoming.method, answer }
          })
      }))
      yield* t.peer.request("x", "nested")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.notification("note", { a: 1 }))
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.request(1, "ask", { b: 2 }))
      yield* t.peer.answer(1, { c: 3 })
      const result = { id: "x", method: "nested", answer: { c: 3 } }
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success("x", result))
    }))

  it.scoped("refuses requests and drops notifications once it is answered", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      yield* t.peer.request(1, "slow")
      const incoming = yield* slow.came
      const waiting = yield* Effect.fork(incoming.request("ask"))
      assert.strictEqual(((yield* t.peer.receive) as Message.Request).method, "ask")
      yield* slow.open
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { passed: true }))
      yield* incoming.notify("late")
      const error = yield* refusal(incoming.request("late"))
      assert.deepInclude(error as LocalError.NoBackChannel, { _tag: "NoBackChannel", method: "late" })
      assert.deepStrictEqual(yield* t.peer.received, [])
      yield* t.peer.answer(1, { inTime: true })
      assert.deepStrictEqual(yield* Fiber.join(waiting), { inTime: true })
    }))

  it.scoped("is answered after its notifications, even those that still wait for space", () =>
    Effect.gen(function*() {
      const requests = yield* Deferred.make<Side.IncomingRequest>()
      const [done, released, space] = yield* Effect.all([
        Deferred.make<void>(),
        Deferred.make<void>(),
        Deferred.make<void>()
      ])
      const t = yield* connect(side({
        slow: (_, incoming) => ({
          effect: Deferred.succeed(requests, incoming).pipe(
            Effect.zipRight(Deferred.await(done)),
            Effect.as({ ok: 1 })
          ),
          reply: Outcome.fromExit,
          release: () => Effect.asVoid(Deferred.succeed(released, undefined))
        })
      }))
      const written: Array<Message.Message> = []
      const narrow: Side.Channel = {
        send: (message) => Effect.zipRight(Deferred.await(space), Effect.sync(() => written.push(message))),
        unsafeSend: (message) => written.push(message) > 0
      }
      t.conversation.receive(Message.request(1, "slow"), narrow)
      const incoming = yield* Deferred.await(requests)
      const early = yield* Effect.fork(incoming.notify("early"))
      yield* untilSuspended(early)
      yield* Deferred.succeed(done, undefined)
      yield* Deferred.await(released)
      yield* incoming.notify("late")
      yield* t.peer.received
      assert.deepStrictEqual(written, [])
      yield* Deferred.succeed(space, undefined)
      yield* Fiber.join(early)
      assert.deepStrictEqual<unknown>(written, [Message.notification("early"), Message.success(1, { ok: 1 })])
      assert.strictEqual(t.conversation.inFlight(), 0)
    }))

  it.scoped("sends its notifications at once while its channel has space", () =>
    Effect.gen(function*() {
      const requests = yield* Deferred.make<Side.IncomingRequest>()
      const t = yield* connect(side({
        slow: (_, incoming) => ({
          effect: Effect.zipRight(Deferred.succeed(requests, incoming), Effect.never),
          reply: Outcome.fromExit
        })
      }))
      const written: Array<Message.Message> = []
      let space = 1
      const narrow: Side.Channel = {
        canSend: () => space > 0,
        send: () => Effect.never,
        unsafeSend: (message) => {
          space--
          return written.push(message) > 0
        }
      }
      t.conversation.receive(Message.request(1, "slow"), narrow)
      const incoming = yield* Deferred.await(requests)
      yield* incoming.notify("first")
      const second = yield* Effect.fork(incoming.notify("second"))
      yield* untilSuspended(second)
      assert.deepStrictEqual<unknown>(written, [Message.notification("first")])
      yield* Fiber.interrupt(second)
    }))

  it.scoped("is answered when a notification that waits for space is interrupted", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
      const written: Array<Message.Message> = []
      const stuck: Side.Channel = { send: () => Effect.never, unsafeSend: (message) => written.push(message) > 0 }
      t.conversation.receive(Message.request(1, "slow"), stuck)
      const incoming = yield* slow.came
      const note = yield* Effect.fork(incoming.notify("never"))
      yield* untilSuspended(note)
      yield* slow.open
      yield* Fiber.interrupt(note)
      while (t.conversation.inFlight() > 0) yield* Effect.yieldNow()
      assert.deepStrictEqual<unknown>(written, [Message.success(1, { passed: true })])
    }))
})

describe("a channel that throws", () => {
  it.scoped("loses the answer, and is reported", () =>
    Effect.gen(function*() {
      const slow = yield* gate
      const t = yield* connect(side({ slow: slow.serve }))
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
      assert.deepStrictEqual(yield* t.peer.received, [])
    }))
})
