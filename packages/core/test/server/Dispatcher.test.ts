import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Chunk, Deferred, Effect, Exit, Fiber, FiberRef, Layer, Logger, LogLevel, Queue, Scope, Stream } from "effect"
import { act, call, connect, GreetLive, logbook, names, result, serve, uninitialized, until } from "./Serving.js"

/** A client at one end of a pipe, and the other end. */
const pipe = Effect.gen(function*() {
  const [mine, theirs] = yield* Transport.memory()
  return [yield* TestPeer.make(mine), theirs] as const
})

describe("Dispatcher.accept", () => {
  it.scoped("serves one client until the client closes the transport", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const [peer, transport] = yield* pipe
      const accepted = yield* Effect.fork(dispatcher.accept(transport))
      yield* peer.initialize()
      assert.deepStrictEqual(yield* names(peer), ["greet"])
      assert.strictEqual(dispatcher.conversations(), 1)
      yield* peer.hangUp
      yield* Fiber.join(accepted)
      assert.strictEqual(dispatcher.conversations(), 0)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("interrupts the handlers and answers their requests when it is interrupted", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const forever = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const [peer, transport] = yield* pipe
        const accepted = yield* Effect.fork(dispatcher.accept(transport))
        yield* peer.initialize()
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* Fiber.interrupt(accepted)
        yield* Deferred.await(stopped)
        assert.deepStrictEqual(yield* peer.expectError(id), { code: -32000, message: "Connection closed" })
        yield* peer.expectEnd
        assert.strictEqual(dispatcher.conversations(), 0)
      }).pipe(Effect.provide(serve(act(forever))))
    }))

  it.scoped("interrupts the handlers of a client that closes its transport, and answers nothing", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const forever = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function*() {
        const leaving = yield* connect()
        const staying = yield* connect()
        yield* call(leaving, "act")
        yield* Deferred.await(started)
        yield* leaving.hangUp
        yield* Deferred.await(stopped)
        assert.deepStrictEqual(yield* names(staying), ["act"])
      }).pipe(Effect.provide(serve(act(forever))))
    }))

  it.scoped("ends with the server, whatever fiber runs it", () =>
    Effect.gen(function*() {
      const [peer, transport] = yield* pipe
      const accepted = yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const accepted = yield* Effect.forkDaemon(dispatcher.accept(transport))
        yield* peer.initialize()
        return accepted
      }).pipe(Effect.provide(serve(GreetLive)))
      assert.deepStrictEqual(yield* Fiber.await(accepted), Exit.void)
      yield* peer.expectEnd
    }))

  it.scoped("returns at once after the server has closed", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Effect.provide(Dispatcher, serve(GreetLive))
      const [, transport] = yield* pipe
      yield* dispatcher.accept(transport)
      assert.strictEqual(dispatcher.conversations(), 0)
    }))

  it.effect("serves in the context of the server, not of its caller", () =>
    Effect.gen(function*() {
      const who = FiberRef.unsafeMake("nobody")
      let seen: unknown
      const live = serve(act(Effect.flatMap(FiberRef.get(who), (name) => Effect.sync(() => seen = name))))
      yield* Effect.gen(function*() {
        const peer = yield* Effect.locally(connect(), who, "the one who accepts")
        yield* result(peer, "act")
        assert.strictEqual(seen, "the server")
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(live, Layer.scopedDiscard(Effect.locallyScoped(who, "the server"))))
      )
    }))

  it.effect("goes on serving others when a transport fails, and logs that at debug level", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const broken = (incoming: Transport.Transport["incoming"]): Transport.Transport => ({
        incoming,
        send: () => Effect.void,
        unsafeSend: () => true
      })
      const fault = new LocalError.TransportError({ reason: "Read", message: "The cable is cut" })
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const peer = yield* connect()
        for (const incoming of [Stream.fail(fault), Stream.die("boom"), Stream.empty]) {
          yield* dispatcher.accept(broken(incoming))
        }
        assert.deepStrictEqual(yield* names(peer), ["greet"])
        const told = lines.filter(({ message }) => message.startsWith("A conversation ended"))
        assert.deepStrictEqual(told.map(({ level, message }) => `${level}: ${message.split(",")[0]}`), [
          "Debug: A conversation ended: The cable is cut",
          "Debug: A conversation ended: The transport died"
        ])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(serve(GreetLive), Layer.merge(layer, Logger.minimumLogLevel(LogLevel.Debug))))
      )
    }))
})

describe("Dispatcher.listen", () => {
  /** A listener that a test hands clients to. */
  const listening = Effect.gen(function*() {
    const arrivals = yield* Queue.unbounded<Transport.Transport>()
    const arrive = Effect.gen(function*() {
      const [peer, transport] = yield* pipe
      yield* Queue.offer(arrivals, transport)
      yield* peer.initialize()
      return peer
    })
    return { listener: Stream.fromQueue(arrivals), arrive, close: Queue.shutdown(arrivals) }
  })

  it.scoped("serves every client of a listener, each in a conversation of its own", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const { arrive, listener } = yield* listening
      assert.strictEqual(dispatcher.listeners(), 0)
      yield* Effect.fork(dispatcher.listen(listener))
      const peers = yield* Effect.all([arrive, arrive, arrive])
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [1, 3])
      yield* peers[0].hangUp
      yield* until(() => dispatcher.conversations() === 2)
      for (const peer of peers.slice(1)) assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("ends when the listener has ended and all clients have closed", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const [first, one] = yield* pipe
      const [second, two] = yield* pipe
      const over = yield* Effect.fork(dispatcher.listen(Stream.make(one, two)))
      yield* first.initialize()
      yield* second.initialize()
      yield* first.hangUp
      yield* until(() => dispatcher.conversations() === 1)
      assert.isNull(over.unsafePoll())
      assert.deepStrictEqual(yield* names(second), ["greet"])
      yield* second.hangUp
      yield* Fiber.join(over)
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [0, 0])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("fails with the listener, and ends only the conversations that it began", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const [mine, theirs] = yield* pipe
      const other = yield* connect()
      const gate = yield* Deferred.make<never, string>()
      const listener = Stream.concat(Stream.make(theirs), Stream.fromEffect(Deferred.await(gate)))
      const over = yield* Effect.fork(dispatcher.listen(listener))
      yield* mine.initialize()
      yield* Deferred.fail(gate, "the port is gone")
      assert.deepStrictEqual(yield* Fiber.await(over), Exit.fail("the port is gone"))
      yield* mine.expectEnd
      assert.deepStrictEqual(yield* names(other), ["greet"])
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [0, 1])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("ends its conversations when it is interrupted", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const { arrive, listener } = yield* listening
      const over = yield* Effect.fork(dispatcher.listen(listener))
      const peer = yield* arrive
      yield* Fiber.interrupt(over)
      yield* peer.expectEnd
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [0, 0])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("counts a listener that feeds its conversations, and reports when the last listener has ended", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      yield* dispatcher.listenersEnded
      const scope = yield* Scope.make()
      yield* Scope.extend(dispatcher.listening, scope)
      const { close, listener } = yield* listening
      yield* Effect.fork(dispatcher.listen(listener))
      const over = yield* Effect.fork(dispatcher.listenersEnded)
      yield* until(() => dispatcher.listeners() === 2)
      yield* close
      yield* until(() => dispatcher.listeners() === 1)
      assert.isNull(over.unsafePoll())
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(over)
      assert.strictEqual(dispatcher.listeners(), 0)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("serves any number of listeners at once", () =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const one = yield* listening
      const two = yield* listening
      yield* Effect.fork(dispatcher.listen(one.listener))
      const over = yield* Effect.fork(dispatcher.listen(two.listener))
      const [first, second] = yield* Effect.all([one.arrive, two.arrive])
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [2, 2])
      yield* Fiber.interrupt(over)
      yield* second.expectEnd
      assert.deepStrictEqual(yield* names(first), ["greet"])
      assert.deepStrictEqual([dispatcher.listeners(), dispatcher.conversations()], [1, 1])
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("A client", () => {
  it.scoped("cannot disturb another client, whatever it sends", () =>
    Effect.gen(function*() {
      const good = yield* connect()
      const bad = yield* uninitialized
      const nonsense: ReadonlyArray<unknown> = [
        null,
        [],
        1,
        "hello",
        {},
        { jsonrpc: "1.0", id: 1, method: "ping" },
        { jsonrpc: "2.0", id: null, method: "ping" },
        { jsonrpc: "2.0", id: 1, result: {} },
        { jsonrpc: "2.0", error: { code: 1, message: "no" } },
        { jsonrpc: "2.0", id: {}, method: "tools/call", params: [] }
      ]
      for (const u of nonsense) {
        yield* bad.send(Message.fromUnknown(u) as Message.Message)
        yield* good.expectSilence
      }
      for (let answers = 0; answers < 8; answers++) yield* bad.expectError(answers === 5 ? 1 : undefined)
      yield* bad.initialize()
      assert.deepStrictEqual(yield* names(bad), ["greet"])
      assert.strictEqual((yield* result(good, "greet", { name: "Ada" })).isError, undefined)
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("serve, of a value that a platform has parsed", () => {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {}
  }
  const call = (args: unknown) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "greet", arguments: args, _meta: envelope }
  })
  let deep: unknown = {}
  for (let n = 0; n < 100; n++) deep = [deep]
  const endless: Record<string, unknown> = {}
  endless.endless = endless
  const rows: ReadonlyArray<readonly [string, unknown, string]> = [
    ["too deep", call({ name: deep }), "levels"],
    ["too many values", call({ name: Array.from({ length: 100_001 }, () => 0) }), "more than 100000 values"],
    ["too long", call({ name: "x".repeat(10 * 1024 * 1024) }), "more than 10485760 characters"],
    ["without a JSON form", call(endless), "no JSON form"],
    ["a text", "x", "expected an object, received string"],
    ["nothing", null, "expected an object, received null"],
    ["an id that is an object", { ...call({}), id: {} }, "\"id\" must be"],
    ["a method that is an object", { ...call({}), method: { length: 3 } }, "\"method\" must be"],
    ["a batch", [call({ name: "Ada" })], "received a batch"]
  ]
  for (const [name, value, why] of rows) {
    it.effect(`answers ${name} with an error`, () =>
      Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const [answer, ...more] = Chunk.toReadonlyArray(yield* Stream.runCollect(dispatcher.serve(value as never)))
        assert.strictEqual(more.length, 0)
        assert.include((answer as Message.Failure).error.message, why)
      }).pipe(Effect.provide(serve(GreetLive))))
  }
})
