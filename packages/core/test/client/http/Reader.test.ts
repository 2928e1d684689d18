import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import type { Delivery, Transport } from "@effect-mcp/core/Transport"
import { Chunk, Deferred, Effect, Exit, Fiber, type Scope, Stream } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

const numbered = (i: number) => Message.notification("n", { i })

/** A transport that nothing reads yet, and the stream of its one request. */
const streaming = (options?: Options) =>
  Effect.gen(function*() {
    const http = yield* ScriptedServer.make()
    const { connect } = Remote.connector(ScriptedServer.URL, { standalone: false, ...options })
    const transport = yield* Effect.orDie(Effect.provideService(connect, HttpClient.HttpClient, http.client))
    transport.unsafeSend(Message.request(1, "tools/call"))
    const stream = yield* Effect.flatMap(http.expect("tools/call"), (exchange) => exchange.events())
    return { http, stream, transport }
  })

const settle = Effect.repeatN(Effect.yieldNow(), 50)

/** The two ways to read a transport. */
const readers: Readonly<
  Record<string, (transport: Transport, receive: (delivery: Delivery) => void) => Effect.Effect<void, unknown>>
> = {
  run: (transport, receive) => transport.run!(receive),
  incoming: (transport, receive) => Stream.runForEach(transport.incoming, (one) => Effect.sync(() => receive(one)))
}

/** A transport over HTTP+SSE that nothing reads yet. */
const overSse: Effect.Effect<
  { readonly stream: ScriptedServer.Open; readonly transport: Transport },
  never,
  Scope.Scope
> = Effect.gen(function*() {
  const http = yield* ScriptedServer.make()
  const { connect } = Remote.connector(ScriptedServer.URL, { transport: "sse" })
  const connecting = yield* Effect.forkScoped(Effect.provideService(connect, HttpClient.HttpClient, http.client))
  const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
  yield* stream.push("event: endpoint\ndata: /messages\n\n")
  return { stream, transport: yield* Effect.orDie(Fiber.join(connecting)) }
})

for (const [name, read] of Object.entries(readers)) {
  describe(`A transport over HTTP that is read by ${name}`, () => {
    it.scoped("gives what came before there was a reader, then what comes, until its scope closes", () =>
      Effect.gen(function*() {
        const received: Array<Delivery> = []
        const { fiber, transport } = yield* Effect.scoped(Effect.gen(function*() {
          const { stream, transport } = yield* streaming()
          yield* stream.send(numbered(1))
          yield* stream.send(numbered(2))
          yield* settle
          const fiber = yield* Effect.forkDaemon(read(transport, (one) => received.push(one)))
          yield* settle
          assert.deepStrictEqual(received, [numbered(1), numbered(2)])
          yield* stream.send(numbered(3))
          yield* settle
          assert.deepStrictEqual(received, [numbered(1), numbered(2), numbered(3)])
          return { fiber, transport }
        }))
        assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.void)
        assert.lengthOf(received, 3)
        assert.isFalse(transport.unsafeSend(numbered(4)))
      }))

    it.scoped("reads no response on before there is a reader", () =>
      Effect.gen(function*() {
        const { stream, transport } = yield* streaming()
        for (let i = 0; i < 9; i++) {
          yield* stream.send(numbered(i))
          yield* settle
        }
        assert.isAbove(stream.unread(), 0)
        yield* Effect.forkScoped(Effect.ignore(read(transport, () => {})))
        yield* settle
        assert.strictEqual(stream.unread(), 0)
      }))

    it.scoped("ends as the stream of HTTP+SSE ends, after what came before", () =>
      Effect.gen(function*() {
        const well = yield* overSse
        const received: Array<Delivery> = []
        const reading = yield* Effect.fork(Effect.exit(read(well.transport, (one) => received.push(one))))
        yield* well.stream.send(numbered(1))
        yield* well.stream.end
        assert.deepStrictEqual(yield* Fiber.join(reading), Exit.void)
        assert.deepStrictEqual(received, [numbered(1)])
        const cut = yield* overSse
        yield* cut.stream.cut
        yield* settle
        const error = yield* Effect.flip(read(cut.transport, () => {}))
        assert.deepInclude(error, { reason: "Read", message: "The stream of events was cut off" })
        assert.deepNestedInclude(error, { "cause.cause.code": "UND_ERR_SOCKET" })
      }))

    it.scoped("takes no message any more when its reader stops", () =>
      Effect.gen(function*() {
        const { http, transport } = yield* streaming()
        const reading = yield* Effect.fork(read(transport, () => {}))
        yield* settle
        assert.isTrue(transport.unsafeSend(numbered(1)))
        yield* Effect.flatMap(http.expect("n"), ({ accept }) => accept)
        yield* Fiber.interrupt(reading)
        assert.isFalse(transport.unsafeSend(numbered(2)))
        yield* http.idle
      }))

    it.scoped("refuses a second reader, and the first one goes on", () =>
      Effect.gen(function*() {
        const { stream, transport } = yield* streaming()
        const received: Array<Delivery> = []
        yield* Effect.forkScoped(Effect.ignore(read(transport, (one) => received.push(one))))
        yield* settle
        for (const second of Object.values(readers)) {
          assert.deepInclude(yield* Effect.flip(second(transport, () => {})), {
            reason: "Read",
            message: "Another reader already reads the transport"
          })
        }
        yield* stream.send(numbered(1))
        yield* settle
        assert.deepStrictEqual(received, [numbered(1)])
      }))
  })
}

describe("The stream of what comes in over HTTP", () => {
  it.scoped("reads no response on while its consumer is too slow", () =>
    Effect.gen(function*() {
      const { stream, transport } = yield* streaming({ limits: { capacity: 2 } })
      const gate = yield* Deferred.make<void>()
      const reading = yield* Effect.fork(
        transport.incoming.pipe(
          Stream.rechunk(1),
          Stream.take(9),
          Stream.tap(() => Deferred.await(gate)),
          Stream.runCollect
        )
      )
      for (let i = 0; i < 9; i++) {
        yield* stream.send(numbered(i))
        yield* settle
      }
      assert.isAbove(stream.unread(), 0)
      yield* Deferred.succeed(gate, undefined)
      const received = Chunk.toReadonlyArray(yield* Fiber.join(reading))
      assert.deepStrictEqual<unknown>(received, Array.from({ length: 9 }, (_, i) => numbered(i)))
    }))
})
