/**
 * The contract of two conversations with each other, whatever transport joins them.
 */
import { assert, it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import type { Diagnostic } from "@effect-mcp/core/Diagnostic"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import type * as Progress from "@effect-mcp/core/Progress"
import type * as Side from "@effect-mcp/core/Side"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { describe } from "../../../testing/test/support/WokenAtOnce.js"
import type { End, Pair } from "./Pairs.js"
import { refusal, side } from "./ScriptedPeer.js"

/** One end of the pair with a conversation over it, in a scope of its own. */
const join = Effect.fnUntraced(function*(
  end: End,
  served: Side.Side = side({}),
  options: Conversation.Options = {}
) {
  const diagnostics: Array<Diagnostic> = []
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const report = (diagnostic: Diagnostic) => Effect.sync(() => diagnostics.push(diagnostic))
  const conversation = yield* Effect.flatMap(
    end,
    (transport) => Conversation.make(transport, served, { report, ...options })
  ).pipe(Scope.extend(scope))
  const { inFlight, notify, pending, receive, request } = conversation
  return {
    inFlight,
    notify,
    pending,
    receive,
    request,
    conversation,
    diagnostics,
    closeScope: Scope.close(scope, Exit.void)
  }
})

/** A client and a server; the server serves these methods. */
const meet = Effect.fnUntraced(function*(
  pair: Pair,
  served: Side.Side,
  clientSide: Side.Side = side({})
) {
  const [left, right] = yield* pair.open
  const server = yield* join(right, served)
  const client = yield* join(left, clientSide)
  return { client: client.conversation, server: server.conversation, ...{ clientEnd: client, serverEnd: server } }
})

/** A handler that never ends, and effects that wait until it has begun and until it was stopped. */
const endless = Effect.gen(function*() {
  const [begun, stopped] = [yield* Deferred.make<Side.IncomingRequest>(), yield* Deferred.make<void>()]
  return {
    serve: (_: unknown, incoming: Side.IncomingRequest) =>
      Effect.onInterrupt(
        Effect.zipRight(Deferred.succeed(begun, incoming), Effect.never),
        () => Deferred.succeed(stopped, undefined)
      ),
    begun: Deferred.await(begun),
    stopped: Deferred.await(stopped)
  }
})

export const contract = (pair: Pair) =>
  describe(`two conversations over ${pair.name}`, () => {
    it.scoped("send requests and answers, values unchanged", () =>
      Effect.gen(function*() {
        const { client, server } = yield* meet(
          pair,
          side({ echo: ({ params }) => Effect.succeed({ params }) }),
          side({ echo: ({ params }) => Effect.succeed({ back: params }) })
        )
        const params = { text: "aß€😀\n\r\u2028", list: [1, -0.5, 1e300, null, true, {}], _meta: { deep: { er: [] } } }
        assert.deepStrictEqual(yield* client.request("echo", params), { params })
        assert.deepStrictEqual(yield* server.request("echo", params), { back: params })
        const long = { text: "x€".repeat(20_000) }
        assert.deepStrictEqual(yield* client.request("echo", long), { params: long })
      }))

    it.scoped("match answers to requests, in whatever order they arrive", () =>
      Effect.gen(function*() {
        const gates = yield* Effect.all(Array.from({ length: 20 }, () => Deferred.make<void>()))
        const { client } = yield* meet(
          pair,
          side({
            gated: ({ params }) => Effect.as(Deferred.await(gates[params!.n as number]!), { n: params!.n }),
            open: ({ params }) => Effect.as(Deferred.succeed(gates[params!.n as number]!, undefined), {})
          })
        )
        const calls = yield* Effect.fork(Effect.forEach(gates, (_, n) => client.request("gated", { n }), {
          concurrency: "unbounded"
        }))
        while (client.pending() < 20) yield* Effect.yieldNow()
        for (let n = 19; n >= 0; n--) yield* client.request("open", { n })
        assert.deepStrictEqual(yield* Fiber.join(calls), gates.map((_, n) => ({ n })))
      }))

    it.scoped("pass errors unchanged, and hide defects", () =>
      Effect.gen(function*() {
        const error = { code: -32042, message: "no", data: { why: ["€"] } }
        const { client } = yield* meet(
          pair,
          side({ fails: () => new JsonRpcError.JsonRpcError(error), dies: () => Effect.die("s3cret") })
        )
        assert.deepInclude(yield* refusal(client.request("fails")), { _tag: "JsonRpcError", ...error })
        assert.deepInclude(yield* refusal(client.request("dies")), { _tag: "JsonRpcError", ...JsonRpcError.internal })
        assert.deepInclude(yield* refusal(client.request("unknown")), { code: JsonRpcError.METHOD_NOT_FOUND })
        assert.deepStrictEqual(yield* client.request("ping"), {})
      }))

    it.scoped("deliver notifications in order, before later requests", () =>
      Effect.gen(function*() {
        const notified: Array<unknown> = []
        const { client } = yield* meet(pair, side({}, ({ params }) => Effect.sync(() => notified.push(params!.n))))
        for (let n = 0; n < 1000; n++) yield* client.notify("note", { n })
        yield* client.request("ping")
        assert.deepStrictEqual(notified, Array.from({ length: 1000 }, (_, n) => n))
      }))

    it.scoped("report progress in order, all of it before the result", () =>
      Effect.gen(function*() {
        const { client } = yield* meet(
          pair,
          side({
            slow: ({ params }, incoming) =>
              Effect.gen(function*() {
                const { progressToken } = params!._meta as { readonly progressToken: number }
                for (let progress = 1; progress <= 100; progress++) {
                  yield* incoming.notify("notifications/progress", { progressToken, progress, total: 100 })
                }
                return {}
              })
          })
        )
        const received: Array<Progress.Progress> = []
        const onProgress = (progress: Progress.Progress) =>
          Effect.zipRight(Effect.yieldNow(), Effect.sync(() => received.push(progress)))
        yield* Effect.all([client.request("slow", {}, { onProgress }), client.request("ping")], { concurrency: 2 })
        assert.deepStrictEqual(received, Array.from({ length: 100 }, (_, i) => ({ progress: i + 1, total: 100 })))
      }))

    it.scoped("send requests while they answer one, however deep", () =>
      Effect.gen(function*() {
        const deeper = side({
          deeper: ({ params }, incoming) => {
            const depth = params!.depth as number
            return depth === 0 ? Effect.succeed({ bottom: true }) : incoming.request("deeper", { depth: depth - 1 })
          }
        })
        const { client } = yield* meet(pair, deeper, deeper)
        assert.deepStrictEqual(yield* client.request("deeper", { depth: 60 }), { bottom: true })
      }))

    it.scoped("stop a request whose caller is interrupted, and nothing else", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* endless, yield* endless]
        const { client, clientEnd, server } = yield* meet(pair, side({ one: one.serve, other: other.serve }))
        const calls = [yield* Effect.fork(client.request("one")), yield* Effect.fork(client.request("other"))]
        yield* Effect.zipRight(one.begun, other.begun)
        yield* Fiber.interrupt(calls[0]!)
        yield* one.stopped
        yield* client.request("ping")
        assert.strictEqual(server.inFlight(), 1)
        assert.strictEqual(client.pending(), 1)
        assert.deepStrictEqual(clientEnd.diagnostics, [])
      }))

    it.scoped("stop a request that has timed out", () =>
      Effect.gen(function*() {
        const one = yield* endless
        const { client, clientEnd, server } = yield* meet(pair, side({ one: one.serve }))
        const call = yield* Effect.fork(refusal(client.request("one", {}, { timeout: 1000 })))
        yield* one.begun
        yield* TestClock.adjust(1000)
        assert.strictEqual((yield* Fiber.join(call))._tag, "RequestTimeout")
        yield* one.stopped
        yield* client.request("ping")
        assert.strictEqual(server.inFlight(), 0)
        assert.deepStrictEqual(clientEnd.diagnostics, [])
      }))

    it.scoped("send nothing for a request after its answer", () =>
      Effect.gen(function*() {
        const requests: Array<Side.IncomingRequest> = []
        const notified: Array<string> = []
        const { client } = yield* meet(
          pair,
          side({
            quick: (_, incoming) =>
              Effect.sync(() => {
                requests.push(incoming)
                return {}
              })
          }),
          side({}, ({ method }) => Effect.sync(() => notified.push(method)))
        )
        yield* client.request("quick")
        yield* requests[0]!.notify("late")
        assert.strictEqual((yield* refusal(requests[0]!.request("late")))._tag, "NoBackChannel")
        yield* client.request("ping")
        assert.deepStrictEqual(notified, [])
      }))

    it.scoped("let requests beyond their limit wait, refuse those beyond that, and continue", () =>
      Effect.gen(function*() {
        const [left, right] = yield* pair.open
        const work = side({ endless: () => Effect.never })
        const server = yield* join(right, work, { maxInFlight: 2, maxWaiting: 1 })
        const client = yield* join(left)
        const calls = yield* Effect.all([1, 2].map(() => Effect.fork(client.request("endless"))))
        while (server.inFlight() < 2) yield* Effect.yieldNow()
        const waiting = yield* Effect.fork(client.request("ping"))
        while (server.inFlight() < 3) yield* Effect.yieldNow()
        assert.deepInclude(yield* refusal(client.request("ping")), { code: JsonRpcError.UNAVAILABLE })
        yield* Fiber.interrupt(calls[0]!)
        assert.deepStrictEqual(yield* Fiber.join(waiting), {})
        assert.deepStrictEqual(yield* client.request("ping"), {})
      }))

    it.scoped("answer many more calls at once than a peer runs", () =>
      Effect.gen(function*() {
        const { client, server } = yield* meet(pair, side({ slow: () => Effect.as(Effect.yieldNow(), {}) }))
        const calls = Array.from({ length: 3000 }, () => client.request("slow"))
        const answers = yield* Effect.all(calls, { concurrency: "unbounded" })
        assert.strictEqual(answers.length, 3000)
        assert.deepStrictEqual([server.inFlight(), client.pending()], [0, 0])
      }))

    for (const who of ["client", "server"] as const) {
      it.scoped(`end together when the ${who} closes: calls fail, handlers stop`, () =>
        Effect.gen(function*() {
          const [atServer, atClient] = [yield* endless, yield* endless]
          const { client, clientEnd, server, serverEnd } = yield* meet(
            pair,
            side({ endless: atServer.serve }),
            side({ endless: atClient.serve })
          )
          const calls = yield* Effect.fork(Effect.all(
            [client, server].map((one) => Effect.flip(one.request("endless"))),
            { concurrency: "unbounded" }
          ))
          yield* Effect.zipRight(atServer.begun, atClient.begun)
          yield* who === "client" ? clientEnd.closeScope : serverEnd.closeScope
          yield* Effect.zipRight(atServer.stopped, atClient.stopped)
          yield* Effect.zipRight(client.ended, server.ended)
          const errors = yield* Fiber.join(calls)
          const mine = errors[who === "client" ? 0 : 1]!
          const theirs = errors[who === "client" ? 1 : 0]!
          assert.strictEqual(mine._tag, "ConnectionClosed")
          assert.deepInclude(theirs, { _tag: "JsonRpcError", code: JsonRpcError.UNAVAILABLE })
          for (const one of [client, server]) {
            assert.strictEqual((yield* refusal(one.request("late")))._tag, "ConnectionClosed")
            yield* one.notify("late")
            assert.deepStrictEqual([one.inFlight(), one.pending()], [0, 0])
          }
          yield* who === "client" ? serverEnd.closeScope : clientEnd.closeScope
        }))
    }

    it.scoped("end together when one closes as soon as it has started", () =>
      Effect.gen(function*() {
        const [left, right] = yield* pair.open
        const stays = yield* join(left)
        const goes = yield* join(right)
        yield* goes.closeScope
        yield* stays.conversation.ended
      }))

    it.scoped("wait for a peer that has not started, as long as the timeout", () =>
      Effect.gen(function*() {
        const [left, right] = yield* pair.open
        const client = yield* join(left)
        const waiting = yield* Effect.fork(client.request("ping"))
        const call = yield* Effect.fork(refusal(client.request("ping", {}, { timeout: 1000 })))
        while (client.pending() < 2) yield* Effect.yieldNow()
        yield* TestClock.adjust(1000)
        assert.strictEqual((yield* Fiber.join(call))._tag, "RequestTimeout")
        yield* join(right)
        assert.deepStrictEqual(yield* Fiber.join(waiting), {})
      }))

    it.scoped("make 2,000 calls, 64 at a time, and keep none", () =>
      Effect.gen(function*() {
        const { client, clientEnd, server, serverEnd } = yield* meet(
          pair,
          side({ echo: ({ params }) => Effect.as(Effect.yieldNow(), params) })
        )
        const ns = Array.from({ length: 2000 }, (_, n) => n)
        const echoed = yield* Effect.forEach(ns, (n) => client.request("echo", { n }, { timeout: 60_000 }), {
          concurrency: 64
        })
        assert.deepStrictEqual(echoed.map(({ n }) => n), ns)
        assert.deepStrictEqual([client.pending(), server.inFlight()], [0, 0])
        assert.deepStrictEqual([...clientEnd.diagnostics, ...serverEnd.diagnostics], [])
      }))
  })
