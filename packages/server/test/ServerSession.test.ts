import { assert, describe, it } from "@effect/vitest"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { act, call, connect, result, serve, unchecked } from "./Serving.js"

const withSession = <A, E>(f: (session: ServerSessionService) => Effect.Effect<A, E>, name?: string) =>
  act(Effect.flatMap(ServerSession, (session) => Effect.orDie(f(session))), name)

/** Asks, and lets the test see what came of it. */
const asking = (ask: (session: ServerSessionService) => Effect.Effect<unknown, unknown>) =>
  Effect.map(Deferred.make<Exit.Exit<unknown, unknown>>(), (asked) => ({
    outcome: Deferred.await(asked),
    live: withSession((session) => Effect.flatMap(Effect.exit(ask(session)), (exit) => Deferred.succeed(asked, exit)))
  }))

describe("ServerSession", () => {
  it.scoped("sends a request to the client, and the handler waits for the answer", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.request("roots/list", { _meta: { a: 1 } }))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {} })
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("roots/list")
        assert.deepStrictEqual(question.params, { _meta: { a: 1 } })
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: { roots: [] } })
        yield* peer.expectResult(id)
        assert.deepStrictEqual(yield* outcome, Exit.succeed({ roots: [] }))
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("sends requests to the client of its own request, and takes answers from no other", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.request("roots/list"))
      yield* Effect.gen(function*() {
        const [asker, other] = yield* Effect.all([connect(), unchecked()])
        const id = yield* call(asker, "act")
        const question = yield* asker.expectRequest("roots/list")
        yield* other.send({ jsonrpc: "2.0", id: question.id, result: { roots: ["other"] } })
        yield* other.expectSilence
        yield* asker.send({ jsonrpc: "2.0", id: question.id, result: { roots: [] } })
        yield* asker.expectResult(id)
        assert.deepStrictEqual(yield* outcome, Exit.succeed({ roots: [] }))
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("fails with the error that the client answers", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.request("roots/list"))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("roots/list")
        yield* peer.send({ jsonrpc: "2.0", id: question.id, error: { code: -32601, message: "no roots" } })
        yield* peer.expectResult(id)
        assert.include(String(yield* outcome), "no roots")
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("cancels the request at the client when the handler is interrupted", () =>
    Effect.gen(function*() {
      const { live } = yield* asking((session) => session.request("roots/list"))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("roots/list")
        yield* peer.notify("notifications/cancelled", { requestId: id })
        assert.strictEqual((yield* peer.expectNotification("notifications/cancelled")).requestId, question.id)
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("SHOULD stop waiting after a timeout, and cancel the request at the client", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.request("roots/list"))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("roots/list")
        yield* TestClock.adjust("59 seconds")
        yield* peer.expectSilence
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* peer.expectNotification("notifications/cancelled")).requestId, question.id)
        yield* peer.expectResult(id)
        assert.include(String(yield* outcome), "RequestTimeout")
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("waits as long as the server's option says, or that of the request", () =>
    Effect.gen(function*() {
      for (
        const [requestTimeout, timeout, seconds] of [["5 seconds", undefined, 5], ["1 hour", "7 seconds", 7]] as const
      ) {
        const { live } = yield* asking((session) =>
          session.request("roots/list", undefined, timeout === undefined ? undefined : { timeout })
        )
        yield* Effect.gen(function*() {
          const peer = yield* connect()
          const id = yield* call(peer, "act")
          yield* peer.expectRequest("roots/list")
          yield* TestClock.adjust(`${seconds - 1} seconds`)
          yield* peer.expectSilence
          yield* TestClock.adjust("1 second")
          yield* peer.expectNotification("notifications/cancelled")
          yield* peer.expectResult(id)
        }).pipe(Effect.scoped, Effect.provide(serve(live, { requestTimeout })))
      }
    }))

  it.scoped("cannot send requests after its own request was answered", () =>
    Effect.gen(function*() {
      const kept = yield* Deferred.make<ServerSessionService>()
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* result(peer, "act")
        const session = yield* Deferred.await(kept)
        const error = yield* Effect.flip(session.request("roots/list"))
        assert.strictEqual(error._tag, "NoBackChannel")
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(withSession((session) => Deferred.succeed(kept, session)))))
    }))

  it.scoped("cannot send requests after its own request was cancelled", () =>
    Effect.gen(function*() {
      const tags: Array<string> = []
      const asked = yield* Deferred.make<void>()
      const stubborn = withSession((session) =>
        Effect.never.pipe(
          Effect.onInterrupt(() =>
            Effect.flatMap(Effect.flip(session.request("roots/list")), (error) => {
              tags.push(error._tag)
              return Deferred.succeed(asked, undefined)
            }).pipe(Effect.orDie)
          )
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* peer.notify("notifications/cancelled", { requestId: id })
        yield* Deferred.await(asked)
        assert.deepStrictEqual(tags, ["NoBackChannel"])
        yield* peer.expectSilence
      }).pipe(Effect.provide(serve(stubborn)))
    }))

  it.scoped("fails every question when the client closes the transport", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<unknown>()
      const live = withSession((session) =>
        Effect.uninterruptible(
          Effect.flatMap(Effect.flip(session.request("roots/list")), (error) => Deferred.succeed(asked, error._tag))
        )
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* call(peer, "act")
        yield* peer.expectRequest("roots/list")
        yield* peer.hangUp
        assert.strictEqual(yield* Deferred.await(asked), "ConnectionClosed")
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("sends several requests at once, and takes the answers in any order", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        Effect.all([session.request("example/one"), session.request("example/two")], { concurrency: 2 })
      )
      yield* Effect.gen(function*() {
        const peer = yield* unchecked()
        const id = yield* call(peer, "act")
        const one = yield* peer.expectRequest("example/one")
        const two = yield* peer.expectRequest("example/two")
        yield* peer.send({ jsonrpc: "2.0", id: two.id, result: { n: 2 } })
        yield* peer.send({ jsonrpc: "2.0", id: String(one.id), result: { n: 1 } })
        yield* peer.expectResult(id)
        assert.deepStrictEqual(yield* outcome, Exit.succeed([{ n: 1 }, { n: 2 }]))
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("sends requests outside of its own, also after its own was answered", () =>
    Effect.gen(function*() {
      const kept = yield* Deferred.make<ServerSessionService>()
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {} })
        yield* result(peer, "act")
        const { standalone } = yield* Deferred.await(kept)
        const asking = yield* Effect.fork(standalone.request("roots/list"))
        const question = yield* peer.expectRequest("roots/list")
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: { roots: [] } })
        assert.deepStrictEqual(yield* Fiber.join(asking), { roots: [] })
        yield* standalone.notify("notifications/example/any")
        yield* peer.expectNotification("notifications/example/any")
      }).pipe(Effect.provide(serve(withSession((session) => Deferred.succeed(kept, session)))))
    }))
})
