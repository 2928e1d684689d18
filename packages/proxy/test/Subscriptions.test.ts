import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as Feature from "@effect-mcp/core/Feature"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { Effect, Exit, Fiber, Queue, Schedule, Scope } from "effect"
import { controlled, entrance, legacy, pairs, received, server } from "./Setting.js"

const uri = "log:///a"
const proxy = { reconnect: Schedule.spaced("5 millis") }

/** An upstream with one resource, and an element for each subscription to it. */
const watched = Effect.gen(function*() {
  const begun = yield* Queue.unbounded<void>()
  const feature = Feature.make(({ resources }, context) =>
    resources.register({
      context,
      advertised: { name: "log", uri },
      read: Effect.succeed({ contents: [] }),
      subscribe: () => Effect.sync(() => void begun.unsafeOffer())
    })
  )
  return { begun, ...controlled(yield* server(feature, { versions: legacy })) }
})

describe("Clients that share the session with the upstream", () => {
  for (const [eras, client, upstream] of pairs) {
    it.scopedLive(`share one subscription of a resource, which ends with the last of them: ${eras}`, () =>
      Effect.gen(function*() {
        const [begun, ended] = [yield* Queue.unbounded<void>(), yield* Queue.unbounded<void>()]
        const changing = yield* Queue.unbounded<void>()
        const watched = Feature.make((registry, context) =>
          Effect.zipRight(
            Effect.forkScoped(Effect.forever(Effect.zipRight(changing.take, registry.updated(uri)))),
            registry.resources.register({
              context,
              advertised: { name: "log", uri },
              read: Effect.succeed({ contents: [] }),
              subscribe: () => Effect.acquireRelease(begun.offer(), () => ended.offer())
            })
          )
        )
        const asked: Array<string> = []
        const middleware = Middleware.make(({ method }, next) => {
          if (method.startsWith("resources/") && method.endsWith("subscribe")) asked.push(method)
          return next
        })
        const through = yield* entrance(yield* server(watched, { versions: upstream, middleware }), {
          proxy: { sessions: "shared" }
        })
        const leaving = yield* Scope.make()
        const first = yield* Scope.extend(Client.make(through, { versions: client }), leaving)
        const second = yield* Client.make(through, { versions: client })
        const updates = [yield* received(first.resourceUpdates), yield* received(second.resourceUpdates)]
        yield* first.subscribeResource(uri)
        yield* begun.take
        yield* second.subscribeResource(uri)
        yield* changing.offer()
        for (const one of updates) assert.strictEqual(yield* one.take, uri)
        // One leaves without a word; the other one still hears of changes.
        yield* Scope.close(leaving, Exit.void)
        yield* changing.offer()
        assert.strictEqual(yield* updates[1]!.take, uri)
        assert.deepStrictEqual([yield* begun.size, yield* ended.size], [0, 0])
        yield* second.unsubscribeResource(uri)
        yield* ended.take
        yield* second.subscribeResource(uri)
        yield* begun.take
        assert.deepStrictEqual([yield* begun.size, yield* ended.size], [0, 0])
        // From 2026-07-28 on the subscription is one request, whose filter names each resource once.
        const requests = ["resources/subscribe", "resources/unsubscribe", "resources/subscribe"]
        assert.deepStrictEqual(asked, upstream === legacy ? requests : [])
      }))
  }
})

describe("Clients that subscribe to one resource at the same time", () => {
  /** An upstream whose answers to the subscriptions wait in turn, and two clients that have asked for one. */
  const asking = (answers: ReadonlyArray<Effect.Effect<void, McpError.InvalidParams>>) =>
    Effect.gen(function*() {
      const asked = yield* Queue.unbounded<void>()
      let count = 0
      const feature = Feature.make(({ resources }, context) =>
        resources.register({
          context,
          advertised: { name: "log", uri },
          read: Effect.succeed({ contents: [] }),
          subscribe: () => Effect.zipRight(asked.offer(), Effect.suspend(() => answers[count++]!))
        })
      )
      const through = yield* entrance(yield* server(feature, { versions: legacy }), { proxy: { sessions: "shared" } })
      const subscribing: Array<Fiber.RuntimeFiber<void, unknown>> = []
      for (let client = 0; client < 2; client++) {
        const session = yield* Client.make(through, { versions: legacy })
        subscribing.push(yield* Effect.fork(session.subscribeResource(uri)))
        if (client === 0) yield* asked.take
        // The proxy has answered this, so it has read the subscription before it.
        yield* session.ping()
      }
      return { asked, subscribing: subscribing as [typeof subscribing[0], typeof subscribing[0]] }
    })

  it.scopedLive("learn all that the upstream refuses the subscription", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const refused = new McpError.InvalidParams({ message: "no such log" })
      const { subscribing } = yield* asking([Effect.zipRight(gate.await, Effect.fail(refused))])
      yield* gate.open
      for (const one of subscribing) {
        const error = yield* Effect.flip(Fiber.join(one))
        assert.include(String(error), "no such log")
      }
    }))

  it.scopedLive("are subscribed, when the client that asked first leaves meanwhile", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const { asked, subscribing: [first, second] } = yield* asking([gate.await])
      yield* Fiber.interrupt(first)
      yield* gate.open
      yield* Fiber.join(second)
      assert.strictEqual(yield* asked.size, 0)
    }))
})

describe("A client that has subscribed in a session of its own, and only listens", () => {
  it.scopedLive("is subscribed again when the upstream comes back, and notified, each time", () =>
    Effect.gen(function*() {
      const { begun, connector, kill } = yield* watched
      const session = yield* Client.make(yield* entrance(connector, { proxy }), { versions: legacy })
      const updates = yield* received(session.resourceUpdates)
      yield* session.subscribeResource(uri)
      yield* begun.take
      for (let n = 1; n <= 2; n++) {
        yield* kill
        yield* begun.take
        assert.strictEqual(yield* updates.take, uri)
      }
    }))

  it.scopedLive("has a session again also when the upstream refuses for a while", () =>
    Effect.gen(function*() {
      const { begun, connector, kill, state } = yield* watched
      const session = yield* Client.make(yield* entrance(connector, { proxy }), { versions: legacy })
      yield* session.subscribeResource(uri)
      yield* begun.take
      state.refuses = true
      const before = state.count
      yield* kill
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => state.count > before + 3 })
      state.refuses = false
      yield* begun.take
    }))

  for (const which of ["session that lists", "session of the client"] as const) {
    it.scopedLive(`keeps no session when it leaves while the ${which} is being opened again`, () =>
      Effect.gen(function*() {
        const { begun, connector, kill, open } = yield* watched
        const gate = yield* Effect.makeLatch(true)
        const waiting = yield* Queue.unbounded<void>()
        const through = yield* entrance(
          Connector.make(
            "gated",
            // The session that lists is the first to come back.
            Effect.suspend(() => {
              if (which === "session of the client" && open.size === 0) return connector.connect
              waiting.unsafeOffer()
              return Effect.zipRight(gate.await, connector.connect)
            })
          ),
          { proxy }
        )
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* Client.make(through, { versions: legacy })
          yield* session.subscribeResource(uri)
          yield* begun.take
          yield* gate.close
          yield* waiting.takeAll
          yield* kill
          yield* waiting.take
          // The session of the client waits for the one that lists.
          yield* Effect.sleep("50 millis")
        }))
        yield* gate.open
        const next = yield* Client.make(through, { versions: legacy })
        yield* next.subscribeResource(uri)
        // The session that lists, and that of the next client.
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => open.size === 2 })
      }))
  }
})
