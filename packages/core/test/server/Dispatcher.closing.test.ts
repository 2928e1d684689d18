import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as Message from "@effect-mcp/core/Message"
import { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type * as Transport from "@effect-mcp/core/Transport"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { act, GreetLive, serve } from "./Serving.js"

const reach: Record<string, Effect.Effect<Connector.Connector, never, Dispatcher>> = {
  "in process": InProcess.connector,
  "over a wire": TestServer.connector()
}

/** What is running when the conversation ends. It completes `started` first. */
const occupations: Record<
  string,
  (started: Effect.Effect<unknown>) => Effect.Effect<unknown, never, ServerSession | RequestContext>
> = {
  "no request is running": (started) => started,
  "a call is running": (started) => Effect.zipRight(started, Effect.never),
  "the server asks the client": (started) =>
    Effect.flatMap(
      ServerSession,
      (session) =>
        Effect.zipRight(started, Effect.ignore(session.request("roots/list", undefined, { timeout: "1 hour" })))
    ),
  "a handler cannot be interrupted for a while": (started) =>
    Effect.uninterruptible(
      Effect.zipRight(started, Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow()))
    ),
  "a handler sends more than the client reads": (started) =>
    Effect.zipRight(
      started,
      Effect.flatMap(RequestContext, (context) => Effect.forever(context.log("info", "chatter")))
    )
}

/** A client that initializes, and reads nothing after that. */
const deaf: Transport.Transport = {
  incoming: Stream.concat(
    Stream.make(
      Message.request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "deaf", version: "0.0.0" }
      }),
      Message.notification("notifications/initialized")
    ),
    Stream.never
  ),
  send: () => Effect.never,
  unsafeSend: () => true
}

describe("Closing leaves no fiber and no timer", () => {
  for (const [how, connector] of Object.entries(reach)) {
    for (const [what, occupied] of Object.entries(occupations)) {
      for (const first of ["server", "client"] as const) {
        it.effect(`when the ${first} closes first, ${how}, while ${what}`, () =>
          leavesNothing(Effect.gen(function*() {
            const started = yield* Deferred.make<void>()
            const features = Layer.merge(GreetLive, act(occupied(Deferred.succeed(started, undefined))))
            const scopes = { server: yield* Scope.make(), client: yield* Scope.make() }
            const context = yield* Layer.buildWithScope(serve(features), scopes.server)
            const session = yield* Effect.flatMap(connector, (connector) => Client.make(connector)).pipe(
              Effect.provide(context),
              Scope.extend(scopes.client)
            )
            const call = yield* Effect.fork(Effect.exit(session.callTool("act", undefined, { timeout: "1 hour" })))
            yield* Deferred.await(started)
            yield* Scope.close(scopes[first], Exit.void)
            yield* Fiber.join(call)
            yield* Scope.close(scopes[first === "server" ? "client" : "server"], Exit.void)
          })))
      }
    }
  }

  for (const first of ["server", "client"] as const) {
    it.effect(`when the ${first} closes first, and the client does not read the announcements of the server`, () =>
      leavesNothing(Effect.gen(function*() {
        const registry = yield* Deferred.make<Registry["Type"]>()
        const features = Layer.merge(
          GreetLive,
          Layer.effectDiscard(Effect.flatMap(Registry, (found) => Deferred.succeed(registry, found)))
        )
        const scopes = { server: yield* Scope.make(), client: yield* Scope.make() }
        const context = yield* Layer.buildWithScope(serve(features), scopes.server)
        yield* Effect.flatMap(Dispatcher, (dispatcher) => Effect.forkScoped(dispatcher.accept(deaf))).pipe(
          Effect.provide(context),
          Scope.extend(scopes.client)
        )
        const changes = Layer.provide(act(Effect.void), Layer.succeed(Registry, yield* Deferred.await(registry)))
        for (let i = 0; i < 100; i++) {
          yield* Effect.scoped(Layer.build(changes))
          yield* Effect.yieldNow()
        }
        yield* Scope.close(scopes[first], Exit.void)
        yield* Scope.close(scopes[first === "server" ? "client" : "server"], Exit.void)
      })))
  }

  it.effect("when a handler that cannot be interrupted takes longer than the close timeout", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const stubborn = act(Effect.uninterruptible(
        Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(gate))
      ))
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(stubborn, { closeTimeout: "3 seconds" }), scope)
      const session = yield* Effect.flatMap(TestServer.connector(), (connector) => Client.make(connector)).pipe(
        Effect.provide(context)
      )
      const call = yield* Effect.fork(Effect.flip(session.callTool("act")))
      yield* Deferred.await(started)
      const closed = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      assert.isNull(closed.unsafePoll())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closed)
      assert.strictEqual((yield* Fiber.join(call)).message, "Connection closed")
      yield* Deferred.succeed(gate, undefined)
    }).pipe(Effect.scoped, leavesNothing))
})
