import { assert, describe, it } from "@effect/vitest"
import { NoBackChannel } from "@effect-mcp/jsonrpc/LocalError"
import type { RequestId } from "@effect-mcp/jsonrpc/Message"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as RequestContext from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import { Deferred, Effect, Exit, TestClock } from "effect"
import { answered, call, visiting } from "../http/Visit.js"
import { act, GreetLive, serve, until } from "../Serving.js"

const asking = (then: (asked: Exit.Exit<unknown, unknown>) => void) =>
  act(Effect.flatMap(ServerSession, (session) => Effect.map(Effect.exit(session.request("roots/list")), then)))

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

const steps = (count: number) =>
  act(
    Effect.flatMap(RequestContext.RequestContext, (context) =>
      Effect.forEach(
        Array.from({ length: count }, (_, i) => i + 1),
        (step) => context.progress(step),
        {
          discard: true
        }
      ))
  )

const roots = { capabilities: { roots: {} } }.capabilities

const rootsList = (visit: { readonly messages: Array<any> }): RequestId | undefined =>
  visit.messages.find(({ method }) => method === "roots/list")?.id

describe("the answer to a POST", () => {
  it.effect("is JSON when nothing was sent before it, however long it took", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* visiting(serve(act(Deferred.await(gate))), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(1, "act"))
          yield* TestClock.adjust("14 seconds")
          assert.isUndefined(visit.status)
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.strictEqual(visit.sent["content-type"], "application/json")
        }))
    }))

  it.effect("is a stream when the handler sent something before: all of it in order, the response last, and no event id", () =>
    visiting(serve(steps(3)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const visit = yield* client.ask(call(1, "act", {}, "token"))
        assert.isTrue(visit.isStream)
        assert.deepStrictEqual(visit.messages.map(({ id, params }) => id ?? params.progress), [1, 2, 3, 1])
        assert.deepStrictEqual([...new Set(visit.events.map(({ event, id }) => `${event} ${id}`))], [
          "message undefined"
        ])
        assert.strictEqual(visit.answers, 1)
      })))

  it.effect("is a stream when it takes longer than keepAlive", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      yield* visiting(serve(act(Deferred.await(gate))), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const visit = client.post(call(1, "act"))
          yield* TestClock.adjust("15 seconds")
          assert.isTrue(visit.isStream)
          yield* TestClock.adjust("15 seconds")
          assert.strictEqual(visit.text, ": \n\n")
          yield* Deferred.succeed(gate, undefined)
          yield* answered(visit)
          assert.deepStrictEqual(visit.messages.map(({ id }) => id), [1])
        }))
    }))

  it.effect("is always a stream with the option \"stream\"", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        assert.match(client.session["mcp-session-id"]!, /.+/)
        const visit = yield* client.ask(call(1, "greet", { name: "you" }))
        assert.isTrue(visit.isStream)
        assert.deepStrictEqual(visit.messages[0].result.content[0].text, "Hello, you!")
      }), { responses: "stream" }))

  it.effect("is always JSON with the option \"json\": notifications are dropped, and requests to the client fail", () => {
    let asked: Exit.Exit<unknown, unknown> | undefined
    const handler = Effect.flatMap(ServerSession, (session) =>
      log("hello").pipe(
        Effect.zipRight(Effect.exit(session.request("roots/list"))),
        Effect.map((exit) => asked = exit)
      ))
    return visiting(serve(act(handler)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-11-25", roots, { accept: "application/json" })
        const visit = yield* client.ask(call(1, "act"))
        assert.strictEqual(visit.sent["content-type"], "application/json")
        assert.isTrue(asked !== undefined && Exit.isFailure(asked))
        assert.instanceOf(asked!._tag === "Failure" && (asked!.cause as any).error, NoBackChannel)
      }), { responses: "json" })
  })

  it.effect("is an internal error when the result has no JSON form", () =>
    visiting(serve(GreetLive), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open()
        const visit = yield* client.ask({ jsonrpc: "2.0", id: 1, method: "nobody/knows" })
        assert.strictEqual(visit.status, 200)
        assert.strictEqual(visit.json.error.code, -32601)
      })))
})

describe("a request to the client on behalf of a request", () => {
  it.effect("travels on the stream of that request, and is answered in a POST of its own", () => {
    let asked: Exit.Exit<unknown, unknown> | undefined
    return visiting(serve(asking((exit) => asked = exit)), (visitor) =>
      Effect.gen(function*() {
        const client = yield* visitor.open("2025-11-25", roots)
        const standalone = client.get()
        const visit = client.post(call(1, "act"))
        yield* until(() => visit.messages.length === 1)
        assert.isTrue(visit.isStream)
        assert.strictEqual(client.post(Message.success(rootsList(visit)!, { roots: [] })).status, 202)
        yield* answered(visit)
        assert.deepStrictEqual(asked, Exit.succeed({ roots: [] }))
        assert.strictEqual(visit.messages.at(-1).id, 1)
        assert.strictEqual(standalone.text, "")
      }))
  })

  it.effect("fails at once when the client has gone and cannot come back", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<Exit.Exit<unknown, unknown>>()
      const handler = Effect.flatMap(ServerSession, (session) =>
        Deferred.await(gate).pipe(
          Effect.zipRight(Effect.exit(session.request("roots/list"))),
          Effect.flatMap((exit) => Deferred.succeed(asked, exit))
        ))
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open("2025-11-25", roots)
          client.post(call(1, "act")).hangUp()
          yield* Deferred.succeed(gate, undefined)
          assert.isTrue(Exit.isFailure(yield* Deferred.await(asked)))
        }))
    }))
})

describe("a reader that is slow", () => {
  it.effect("suspends the handler that sends to it, and no other", () =>
    Effect.gen(function*() {
      let said = 0
      const handler = Effect.zipRight(
        Effect.yieldNow(),
        Effect.forEach(Array.from({ length: 20 }), () => Effect.zipRight(log("x"), Effect.sync(() => said++)), {
          discard: true
        })
      )
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const slow = client.post(call(1, "act"))
          slow.stalled = true
          yield* until(() => said === 5)
          assert.strictEqual((yield* client.ask(Message.request(2, "ping"))).status, 200)
          assert.strictEqual(said, 5)
          slow.drain()
          yield* answered(slow)
          assert.lengthOf(slow.messages, 21)
        }), { capacity: 4 })
    }))

  it.effect("is cut off in the end, and the handler goes on", () =>
    Effect.gen(function*() {
      const done = yield* Deferred.make<void>()
      const handler = Effect.yieldNow().pipe(
        Effect.zipRight(Effect.forEach(Array.from({ length: 20 }), () => log("x"), { discard: true })),
        Effect.zipRight(Deferred.succeed(done, undefined))
      )
      yield* visiting(serve(act(handler)), (visitor) =>
        Effect.gen(function*() {
          const client = yield* visitor.open()
          const slow = client.post(call(1, "act"))
          slow.stalled = true
          yield* until(() => slow.text !== "")
          yield* TestClock.adjust("31 seconds")
          assert.isTrue(slow.cut)
          yield* Deferred.await(done)
        }), { capacity: 4 })
    }))
})
