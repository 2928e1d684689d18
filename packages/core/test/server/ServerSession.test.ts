import { assert, describe, it } from "@effect/vitest"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Deferred, Effect, Exit, Fiber } from "effect"
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
