import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import type * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream, TestClock } from "effect"
import * as Entrances from "./Entrances.js"
import { act, call, connect, GreetLive, logbook, names, serve, until } from "./Serving.js"

/** A layer whose release waits for a gate; without one it never ends. */
const slow = (gate: Effect.Effect<unknown> = Effect.never, log: Array<string> = []) =>
  Layer.scopedDiscard(Effect.acquireRelease(
    Effect.void,
    () => Effect.zipRight(gate, Effect.sync(() => log.push("released")))
  ))

/** A server in a scope of its own, which ends two seconds after it is asked to. */
const server = <E>(layer: Layer.Layer<Dispatcher, E>) =>
  Effect.gen(function*() {
    const { layer: logger, lines } = logbook()
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Layer.provide(layer, logger), scope)
    return { context, close: Scope.close(scope, Exit.void), lines }
  })

const closeTimeout = "2 seconds"

/** Checks that the effect ends when the close timeout is over, and not before. */
const endsInTime = <A, E>(closing: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(closing)
    yield* TestClock.adjust("1900 millis")
    assert.isNull(fiber.unsafePoll())
    yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

const late = (what: string) => `${what} took longer than 2s to release, and still runs: closing no longer waits for it`

describe("A session layer whose release hangs", () => {
  it.scoped("delays the end of the server to the close timeout and no longer, and is reported", () =>
    Effect.gen(function*() {
      const { close, context, lines } = yield* server(serve(GreetLive, { session: slow(), closeTimeout }))
      yield* Effect.gen(function*() {
        yield* connect()
        yield* connect()
        yield* endsInTime(close)
        const report = { level: "Warning", message: late("The session layer of a client") }
        assert.lengthOf(lines, 2)
        for (const line of lines) assert.deepInclude(line, report)
      }).pipe(Effect.provide(context))
    }))

  it.scoped("delays the end of a conversation whose transport ended, and of its listener", () =>
    Effect.gen(function*() {
      const { context, lines } = yield* server(serve(GreetLive, { session: slow(), closeTimeout }))
      const end = yield* Deferred.make<void>()
      const sent: Array<unknown> = []
      const transport: Transport.Transport = {
        incoming: Stream.concat(
          Stream.make(Message.request(1, "initialize", {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "test", version: "0.0.0" }
          })),
          Stream.drain(Stream.fromEffect(Deferred.await(end)))
        ),
        send: (message) => Effect.sync(() => sent.push(message)),
        unsafeSend: (message) => sent.push(message) > 0
      }
      const listening = yield* Effect.fork(
        Effect.provide(Effect.flatMap(Dispatcher, ({ listen }) => listen(Stream.make(transport))), context)
      )
      yield* until(() => sent.length === 1)
      yield* Deferred.succeed(end, undefined)
      yield* endsInTime(Fiber.join(listening))
      assert.deepStrictEqual(lines.map(({ message }) => message), [late("The session layer of a client")])
    }))

  it.scoped("delays the end of a conversation that its caller feeds", () =>
    Effect.gen(function*() {
      const { context, lines } = yield* server(serve(GreetLive, { session: slow(), closeTimeout }))
      const { open } = yield* Effect.provide(Entrances.entrances, context)
      const sent: Array<unknown> = []
      const fed = open(
        { send: () => Effect.void, unsafeSend: (message) => sent.push(message) > 0 },
        () => {}
      )
      fed.receive(Message.request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "0.0.0" }
      }))
      yield* until(() => sent.length === 1)
      yield* endsInTime(fed.close)
      assert.lengthOf(lines, 1)
    }))
})

describe("A session layer whose release takes a while", () => {
  it.scoped("is waited for by everything that ends the session, and released once", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const { close, context, lines } = yield* server(
        serve(GreetLive, { session: slow(Deferred.await(gate), log), closeTimeout })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const dispatcher = yield* Dispatcher
        yield* peer.hangUp
        yield* until(() => dispatcher.conversations() === 0)
        const closing = yield* Effect.fork(close)
        yield* TestClock.adjust("1 second")
        assert.isNull(closing.unsafePoll())
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(closing)
        assert.deepStrictEqual(log, ["released"])
        assert.deepStrictEqual(lines, [])
      }).pipe(Effect.provide(context))
    }))

  it.scoped("goes on after the close timeout, and is not interrupted", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const { close, context } = yield* server(
        serve(GreetLive, { session: slow(Deferred.await(gate), log), closeTimeout })
      )
      yield* Effect.provide(connect(), context)
      yield* endsInTime(close)
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => log.length > 0)
    }))
})

describe("A feature layer whose release hangs", () => {
  it.scoped("delays the end of the server to the close timeout and no longer, and is reported", () =>
    Effect.gen(function*() {
      const { close, context, lines } = yield* server(serve(Layer.merge(GreetLive, slow()), { closeTimeout }))
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* names(yield* connect()), ["greet"])
        yield* endsInTime(close)
        assert.deepStrictEqual(lines.map(({ message }) => message), [late("The features of the server")])
      }).pipe(Effect.provide(context))
    }))
})

describe("The scope of a request whose release hangs", () => {
  it.scoped("delays the end of the server to the close timeout and no longer, and is reported", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const handler = Effect.zipRight(
        Effect.addFinalizer(() => Effect.never),
        Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
      )
      const { close, context, lines } = yield* server(serve(act(handler), { closeTimeout }))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* endsInTime(close)
        assert.strictEqual((yield* peer.expectError(id)).code, -32000)
        assert.include(lines[0]?.message ?? "", "did not stop in time and still runs")
      }).pipe(Effect.provide(context))
    }))
})
