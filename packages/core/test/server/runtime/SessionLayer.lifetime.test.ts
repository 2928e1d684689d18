import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Middleware from "@effect-mcp/core/Middleware"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext, type RequestContextService } from "@effect-mcp/core/RequestContext"
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { act, call, connect, GreetLive, names, result, serve, uninitialized, until } from "../Serving.js"

class Cart extends Context.Tag("Cart")<Cart, { open: boolean }>() {}

/** A cart that is closed with its session, and a log of it. */
const logged = () => {
  const log: Array<string> = []
  let n = 0
  const session = Layer.scoped(
    Cart,
    Effect.acquireRelease(
      Effect.sync(() => {
        n++
        log.push(`open`)
        return { open: true as boolean }
      }),
      (cart) =>
        Effect.sync(() => {
          cart.open = false
          log.push(`close`)
        })
    )
  )
  return { log, session, built: () => n }
}

const hello = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0.0.0" }
}

describe("The services of a session layer", () => {
  it.scoped("are released when their client closes the transport, and those of no other client", () =>
    Effect.gen(function*() {
      const { log, session } = logged()
      yield* Effect.gen(function*() {
        const leaving = yield* connect()
        const staying = yield* connect()
        assert.deepStrictEqual(log, ["open", "open"])
        yield* leaving.hangUp
        yield* until(() => log.length > 2)
        assert.deepStrictEqual(log, ["open", "open", "close"])
        yield* result(staying, "act")
      }).pipe(Effect.provide(serve(
        act(Effect.map(Cart, ({ open }) => assert.isTrue(open))),
        { session }
      )))
    }))

  it.scoped("are released when the server closes", () =>
    Effect.gen(function*() {
      const { log, session } = logged()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(GreetLive, { session }), scope)
      yield* Effect.gen(function*() {
        yield* connect()
        yield* connect()
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(log, ["open", "open", "close", "close"])
      }).pipe(Effect.provide(context))
    }))

  it.scoped("are available to handlers that are being interrupted, to their end", () =>
    Effect.gen(function*() {
      const { log, session } = logged()
      const started = yield* Deferred.make<void>()
      const handler = act(Effect.gen(function*() {
        const cart = yield* Cart
        yield* Effect.addFinalizer(() => Effect.sync(() => log.push(`finalizer: ${cart.open}`)))
        yield* Deferred.succeed(started, undefined)
        yield* Effect.onInterrupt(Effect.never, () =>
          Effect.flatMap(Effect.yieldNow(), () => Effect.sync(() => log.push(`interrupted: ${cart.open}`))))
      }))
      for (const how of ["hang up", "go"] as const) {
        log.length = 0
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(serve(handler, { session }), scope)
        yield* Effect.gen(function*() {
          const peer = yield* uninitialized
          yield* peer.initialize()
          yield* call(peer, "act")
          yield* Deferred.await(started)
          if (how === "go") {
            yield* Scope.close(scope, Exit.void)
          } else yield* peer.hangUp
          yield* until(() =>
            log.length > 3
          )
          assert.deepStrictEqual(log, ["open", "interrupted: true", "finalizer: true", "close"])
          if (how === "go") assert.strictEqual((yield* peer.next as Effect.Effect<any>).error.code, -32000)
        }).pipe(Effect.scoped, Effect.provide(context))
        yield* Scope.close(scope, Exit.void)
      }
    }))

  it.scoped("are released when the rest of the layer fails, before initialize does", () =>
    Effect.gen(function*() {
      const { built, log, session } = logged()
      let broken = true
      const rest = Layer.effectDiscard(Effect.suspend(() => {
        log.push("rest")
        return broken ? Effect.fail(new InvalidRequest({ message: "no" })) : Effect.void
      }))
      const whole = [Layer.provideMerge(rest, session), Layer.provide(rest, session)]
      for (const layer of whole) {
        broken = true
        yield* Effect.gen(function*() {
          const peer = yield* uninitialized
          // However often the client tries, nothing is left behind.
          for (const _ of [1, 2, 3]) {
            yield* peer.expectError(yield* peer.request("initialize", hello))
            assert.deepStrictEqual(log.splice(0), ["open", "rest", "close"])
          }
          broken = false
          yield* peer.initialize()
          assert.deepStrictEqual(log.splice(0), ["open", "rest"])
          assert.deepStrictEqual(yield* names(peer), ["greet"])
        }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session: layer })))
        assert.deepStrictEqual(log.splice(0), ["close"])
      }
      assert.strictEqual(built(), 8)
    }))

  it.scoped("are released when the client closes the transport while they are built", () =>
    Effect.gen(function*() {
      const { log, session } = logged()
      const waiting = Layer.effectDiscard(Effect.onInterrupt(
        Effect.zipRight(Effect.sync(() => log.push("waiting")), Effect.never),
        () => Effect.sync(() => log.push("interrupted"))
      ))
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const peer = yield* uninitialized
        yield* peer.request("initialize", hello)
        yield* until(() => log.includes("waiting"))
        yield* peer.hangUp
        yield* until(() => dispatcher.conversations() === 0 && log.includes("close"))
        assert.deepStrictEqual(log, ["open", "waiting", "interrupted", "close"])
      }).pipe(Effect.provide(serve(GreetLive, { session: Layer.provideMerge(waiting, session) })))
    }))

  it.scoped("can have fibers that run as long as the session, and notify its client at any time", () =>
    Effect.gen(function*() {
      let stopped = 0
      let tick = false
      const session = Layer.scopedDiscard(Effect.gen(function*() {
        const context: RequestContextService = yield* RequestContext
        yield* Effect.forkScoped(
          Effect.zipRight(until(() => tick), context.standalone.notify("notifications/example/tick")).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => stopped++))
          )
        )
      }))
      yield* Effect.gen(function*() {
        const dispatcher = yield* Dispatcher
        const peer = yield* connect()
        yield* result(peer, "act")
        yield* peer.expectSilence
        tick = true
        yield* peer.expectNotification("notifications/example/tick")
        assert.strictEqual(stopped, 0)
        yield* peer.hangUp
        yield* until(() => stopped === 1 && dispatcher.conversations() === 0)
      }).pipe(Effect.provide(serve(act(Effect.void), { session })))
    }))

  it.scoped("are released at once when the handshake is refused after they were built", () =>
    Effect.gen(function*() {
      const { log, session } = logged()
      const refusing = Middleware.make((call, next) =>
        call.method === "initialize"
          ? Effect.zipRight(next, Effect.fail(new InvalidRequest({ message: "not you" })))
          : next
      )
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        for (const _ of [1, 2]) {
          // Two in one breath: the second is refused before the first has ended.
          const asked = [yield* peer.request("initialize", hello), yield* peer.request("initialize", hello)]
          for (const id of asked.reverse()) assert.strictEqual((yield* peer.expectError(id)).code, -32600)
          assert.strictEqual((yield* peer.expectError(yield* peer.request("tools/list"))).code, -32602)
        }
        assert.deepStrictEqual(log, ["open", "close", "open", "close"])
      }).pipe(Effect.provide(serve(GreetLive, { session, middleware: refusing })))
    }))
})
