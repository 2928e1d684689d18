import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as Conversation from "../src/Conversation.js"
import type { Incident } from "../src/Incident.js"
import type { Pair } from "./Pairs.js"
import * as Pairs from "./Pairs.js"
import { preempted, side } from "./Talk.js"

/** Two conversations, each in a scope of its own, and what they reported. */
const meet = Effect.fnUntraced(function*(pair: Pair, served: Conversation.Side) {
  const incidents: Array<Incident> = []
  const report = (incident: Incident) => Effect.sync(() => incidents.push(incident))
  const [left, right] = yield* pair.open
  const join = Effect.fnUntraced(function*(end: typeof left) {
    const scope = yield* Scope.make()
    const conversation = yield* Effect.flatMap(end, (transport) => Conversation.make(transport, served, { report }))
      .pipe(Scope.extend(scope))
    return { conversation, leave: Scope.close(scope, Exit.void) }
  })
  return { client: yield* join(left), server: yield* join(right), incidents }
})

// Each of these runs once for every step of every fiber in it, with that fiber made to yield there: whatever can come
// between two steps does. Bytes take so many steps that only some are looked at.
const pairs = [[Pairs.memory, 1], [Pairs.direct, 1], [Pairs.pipes, 17]] as const

describe("wherever a fiber is made to yield", () => {
  for (const [pair, stride] of pairs) {
    it.live(`every call is answered, over ${pair.name}`, () =>
      preempted(
        Effect.scoped(Effect.gen(function*() {
          const { client, incidents, server } = yield* meet(
            pair,
            side({
              echo: ({ params }, exchange) => Effect.as(exchange.notify("note"), { params }),
              ask: (_, exchange) => exchange.request("echo", { n: 0 })
            })
          )
          for (const n of [1, 2]) {
            assert.deepStrictEqual(yield* client.conversation.request("echo", { n }), { params: { n } })
          }
          assert.deepStrictEqual(yield* server.conversation.request("ask"), { params: { n: 0 } })
          yield* Effect.zipRight(client.leave, server.leave)
          assert.deepStrictEqual(incidents, [])
        })),
        stride
      ), 60_000)

    it.live(
      `a cancelled request stops and is not answered, over ${pair.name}`,
      () =>
        preempted(
          Effect.scoped(Effect.gen(function*() {
            const [begun, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
            const { client, incidents, server } = yield* meet(
              pair,
              side({
                endless: () =>
                  Effect.onInterrupt(
                    Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
                    () => Deferred.succeed(stopped, undefined)
                  )
              })
            )
            const call = yield* Effect.fork(client.conversation.request("endless"))
            yield* Deferred.await(begun)
            yield* Fiber.interrupt(call)
            yield* Deferred.await(stopped)
            while (server.conversation.inFlight() > 0) yield* Effect.yieldNow()
            yield* client.conversation.request("ping")
            assert.strictEqual(client.conversation.pending(), 0)
            yield* Effect.zipRight(client.leave, server.leave)
            assert.deepStrictEqual(incidents, [])
          })),
          stride
        ),
      60_000
    )

    it.live(
      `closing ends every call and every handler, over ${pair.name}`,
      () =>
        preempted(
          Effect.scoped(Effect.gen(function*() {
            const { client, incidents, server } = yield* meet(pair, side({ endless: () => Effect.never }))
            const calls = yield* Effect.all([
              Effect.fork(client.conversation.request("endless")),
              Effect.fork(server.conversation.request("endless"))
            ])
            while (client.conversation.inFlight() + server.conversation.inFlight() < 2) yield* Effect.yieldNow()
            yield* Effect.all([client.leave, server.leave], { concurrency: 2 })
            for (const call of calls) assert.isTrue(Exit.isFailure(yield* Fiber.await(call)))
            for (const { conversation } of [client, server]) {
              assert.deepStrictEqual([conversation.inFlight(), conversation.pending()], [0, 0])
            }
            assert.deepStrictEqual(incidents.filter(({ _tag }) => _tag !== "UnknownResponse"), [])
          })),
          stride
        ),
      60_000
    )
  }
})
