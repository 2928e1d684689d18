import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import type { Diagnostic } from "@effect-mcp/core/Diagnostic"
import type * as Side from "@effect-mcp/core/Side"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import type { Pair } from "./Pairs.js"
import * as Pairs from "./Pairs.js"
import { side } from "./ScriptedPeer.js"

/** Two conversations, each in a scope of its own, and their diagnostics. */
const connect = Effect.fnUntraced(function*(pair: Pair, served: Side.Side) {
  const diagnostics: Array<Diagnostic> = []
  const report = (diagnostic: Diagnostic) => Effect.sync(() => diagnostics.push(diagnostic))
  const [left, right] = yield* pair.open
  const start = Effect.fnUntraced(function*(end: typeof left) {
    const scope = yield* Scope.make()
    const conversation = yield* Effect.flatMap(end, (transport) => Conversation.make(transport, served, { report }))
      .pipe(Scope.extend(scope))
    return { conversation, close: Scope.close(scope, Exit.void) }
  })
  const [client, server] = [yield* start(left), yield* start(right)]
  return { client, server, diagnostics, close: Effect.zipRight(client.close, server.close) }
})

const callsAnswered = Effect.fnUntraced(function*(pair: Pair) {
  const { client, close, diagnostics, server } = yield* connect(
    pair,
    side({
      echo: ({ params }, incoming) => Effect.as(incoming.notify("note"), { params }),
      ask: (_, incoming) => incoming.request("echo", { n: 0 })
    })
  )
  assert.deepStrictEqual(yield* client.conversation.request("echo", { n: 1 }), { params: { n: 1 } })
  assert.deepStrictEqual(yield* server.conversation.request("ask"), { params: { n: 0 } })
  yield* close
  assert.deepStrictEqual(diagnostics, [])
})

const requestCancelled = Effect.fnUntraced(function*(pair: Pair) {
  const [begun, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const { client, close, diagnostics, server } = yield* connect(
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
  yield* close
  assert.deepStrictEqual(diagnostics, [])
})

const notificationInterrupted = Effect.fnUntraced(function*(pair: Pair) {
  const { client, close, diagnostics } = yield* connect(
    pair,
    side({
      hasty: (_, incoming) =>
        Effect.gen(function*() {
          const note = yield* Effect.forkDaemon(incoming.notify("note"))
          yield* Effect.yieldNow()
          yield* Fiber.interrupt(note)
          return {}
        })
    })
  )
  yield* client.conversation.request("hasty")
  yield* close
  assert.deepStrictEqual(diagnostics, [])
})

const bothClosed = Effect.fnUntraced(function*(pair: Pair) {
  const { client, diagnostics, server } = yield* connect(pair, side({ endless: () => Effect.never }))
  const calls = yield* Effect.all([
    Effect.fork(client.conversation.request("endless")),
    Effect.fork(server.conversation.request("endless"))
  ])
  while (client.conversation.inFlight() + server.conversation.inFlight() < 2) yield* Effect.yieldNow()
  yield* Effect.all([client.close, server.close], { concurrency: 2 })
  for (const call of calls) assert.isTrue(Exit.isFailure(yield* Fiber.await(call)))
  for (const { conversation } of [client, server]) {
    assert.deepStrictEqual([conversation.inFlight(), conversation.pending()], [0, 0])
  }
  assert.deepStrictEqual(diagnostics.filter(({ _tag }) => _tag !== "UnknownResponse"), [])
})

const scenarios = [
  ["every call is answered", callsAnswered],
  ["a cancelled request stops, and is not answered", requestCancelled],
  ["an interrupted notification does not delay the answer to its request", notificationInterrupted],
  ["closing ends every call and every handler", bothClosed]
] as const

// Each scenario runs once for every step of every fiber in it, with that fiber yielding at that step, so that every
// interleaving between two steps occurs. Scenarios with very many steps run for every n-th step only, and in a short run of the
// tests all scenarios run for a quarter of these steps.
const FEWER = process.env.EFFECT_MCP_TEST_LONG === undefined ? 4 : 1

describe("a conversation, wherever a fiber yields:", () => {
  for (const [pair, stride] of [[Pairs.memory, 3], [Pairs.direct, 1], [Pairs.pipes, 29]] as const) {
    for (const [name, scenario] of scenarios) {
      it.live(
        `${name}, over ${pair.name}`,
        () => preempted(Effect.scoped(scenario(pair)), { stride: stride * FEWER }),
        60_000
      )
    }
  }
})
