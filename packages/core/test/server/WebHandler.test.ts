import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import { call, initialize, proper } from "./http/TestExchange.js"
import { headers as modernHeaders, request as modern } from "./modern/Posting.js"
import { act, GreetLive, identified, serve } from "./Serving.js"
import { callModern, events, json, open, send, url } from "./WebRequests.js"

const progress = Effect.flatMap(RequestContext, ({ progress }) => progress(1))

const log = (data: unknown) => Effect.flatMap(RequestContext, (context) => context.log("info", data))

/** A handler that can be closed before the test ends. */
const closable = (options?: HttpOptions) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const { handler, sessions } = yield* Scope.extend(WebHandler.make(options), scope)
    return { handler, sessions, close: Scope.close(scope, Exit.void) }
  })

/** A handler of a server with these features. */
const serving = (live: Parameters<typeof serve<never, Registry>>[0], options?: HttpOptions) =>
  Effect.map(
    Layer.build(Layer.provide(WebHandler.layerWith(options), serve(live))),
    (context) => Context.get(context, WebHandler.WebHandler)
  )

/** A tool that runs until it is interrupted. */
const endless = (before: Effect.Effect<void, never, RequestContext> = Effect.void) =>
  Effect.gen(function*() {
    const [began, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const live = act(
      before.pipe(
        Effect.zipRight(Deferred.succeed(began, undefined)),
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
    )
    return { began: Deferred.await(began), stopped: Deferred.await(stopped), live }
  })

describe("A web handler", () => {
  it.scoped("serves both eras, and counts the sessions", () =>
    Effect.gen(function*() {
      const { handler, sessions } = yield* WebHandler.make()
      const session = yield* open(handler)
      assert.strictEqual(sessions(), 1)
      const old = yield* json(yield* send(handler, call(1, "greet", { name: "Ada" }), { headers: session }))
      assert.strictEqual(old.result.content[0].text, "Hello, Ada!")
      const body = modern("tools/call", { name: "greet", arguments: { name: "Ada" } })
      const now = yield* json(yield* send(handler, body, { headers: modernHeaders(body) }))
      assert.strictEqual(now.result.content[0].text, "Hello, Ada!")
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("sends a long answer whole", () =>
    Effect.gen(function*() {
      const text = "h€llo".repeat(100_000)
      const { handler } = yield* WebHandler.make()
      const body = modern("tools/call", { name: "greet", arguments: { name: text } })
      const response = yield* send(handler, body, { headers: modernHeaders(body) })
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      assert.strictEqual((yield* json(response)).result.content[0].text, `Hello, ${text}!`)
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("A client that disconnects from a web handler", () => {
  it.scoped("interrupts the request by `request.signal` before the answer", () =>
    Effect.gen(function*() {
      const { began, live, stopped } = yield* endless()
      const { handler } = yield* serving(live)
      const abort = new AbortController()
      const answer = yield* Effect.fork(callModern(handler, "act", { signal: abort.signal }))
      yield* began
      abort.abort()
      yield* stopped
      assert.strictEqual((yield* Fiber.join(answer)).status, 499)
    }))

  it.scoped("interrupts the request in the middle of its stream, by the signal or by canceling the stream", () =>
    Effect.gen(function*() {
      for (const how of ["signal", "cancel"] as const) {
        const { live, stopped } = yield* endless(progress)
        const { handler } = yield* serving(live)
        const abort = new AbortController()
        const response = yield* callModern(handler, "act", { signal: abort.signal })
        if (how === "signal") abort.abort()
        else yield* Effect.promise(() => response.body!.cancel())
        yield* stopped
      }
    }))

  it.scoped("is not looked for while a request is answered at once", () =>
    Effect.gen(function*() {
      const { handler } = yield* serving(act(Effect.void))
      const signal: PropertyDescriptor = { get: () => assert.fail("The signal of the request was asked for") }
      const watched: typeof handler = (request) => handler(Object.defineProperty(request, "signal", signal))
      assert.strictEqual((yield* callModern(watched, "act", {})).status, 200)
    }))

  it.scoped("has its request interrupted when it disconnected before", () =>
    Effect.gen(function*() {
      for (const how of ["waits", "streams"] as const) {
        const { live, stopped } = yield* endless(how === "streams" ? progress : Effect.void)
        const { handler } = yield* serving(live)
        assert.strictEqual((yield* callModern(handler, "act", { signal: AbortSignal.abort() })).status, 499)
        yield* stopped
      }
    }))
})

describe("A client of a web handler that does not read", () => {
  it.scoped("suspends the handler that sends to it, and is cut after `stallTimeout`", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      let sent = 0
      const live = act(
        Effect.forever(Effect.tap(log("x".repeat(10_000)), () => Effect.sync(() => sent++))).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
      )
      const { handler } = yield* serving(live, { limits: { capacity: 8 } })
      const body = modern("tools/call", { name: "act" }, { logLevel: "info" })
      const response = yield* send(handler, body, { headers: modernHeaders(body) })
      let before = -1
      while (before !== sent) {
        before = sent
        for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow()
      }
      assert.isAtMost(sent, 20)
      yield* TestClock.adjust("31 seconds")
      yield* Deferred.await(stopped)
      yield* Effect.flip(events(response))
    }))

  it.scoped("is cut when all answers hold more than `maxUnsent`, the slowest first", () =>
    Effect.gen(function*() {
      const { handler } = yield* WebHandler.make({ limits: { maxUnsent: 1_000_000 } })
      const ask = (size: number) => {
        const body = modern("tools/call", { name: "greet", arguments: { name: "x".repeat(size) } })
        return send(handler, body, { headers: modernHeaders(body) })
      }
      const first = yield* ask(400_000)
      yield* TestClock.adjust("1 second")
      const second = yield* ask(400_000)
      const third = yield* ask(400_000)
      yield* Effect.flip(events(first))
      for (const response of [second, third]) assert.strictEqual((yield* json(response)).id, 1)
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("Closing a web handler", () => {
  it.scoped("answers requests that run, ends streams, and refuses new requests", () =>
    Effect.gen(function*() {
      const { began, live, stopped } = yield* endless()
      yield* Effect.gen(function*() {
        const { close, handler } = yield* closable()
        const session = yield* open(handler)
        const stream = yield* Effect.promise(() =>
          handler(new Request(url, { headers: { accept: "text/event-stream", ...session } }))
        )
        const ended = yield* Effect.fork(events(stream))
        const old = yield* Effect.fork(send(handler, call(1, "act"), { headers: session }))
        yield* began
        const now = yield* Effect.fork(callModern(handler, "act"))
        yield* Effect.yieldNow()
        yield* close
        yield* stopped
        assert.strictEqual((yield* json(yield* Fiber.join(old))).error.code, -32000)
        assert.strictEqual((yield* Fiber.join(now)).status, 503)
        assert.deepStrictEqual(yield* Fiber.join(ended), [])
        assert.strictEqual((yield* send(handler, Message.request(2, "ping"), { headers: session })).status, 503)
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("answers a request that has come half with 503", () =>
    Effect.gen(function*() {
      const { close, handler } = yield* closable()
      let canceled = false
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
        cancel: () => {
          canceled = true
        }
      })
      const half = yield* Effect.fork(Effect.promise(() =>
        handler(new Request(url, { method: "POST", headers: proper, body, duplex: "half" } as RequestInit))
      ))
      yield* Effect.yieldNow()
      yield* close
      assert.strictEqual((yield* Fiber.join(half)).status, 503)
      assert.isTrue(canceled)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("waits until its responses are taken, for `closeTimeout` at most", () =>
    Effect.gen(function*() {
      for (const reads of [true, false]) {
        const { close, handler } = yield* closable({ closeTimeout: "2 seconds" })
        const body = modern("tools/call", { name: "greet", arguments: { name: "x".repeat(400_000) } })
        const response = yield* send(handler, body, { headers: modernHeaders(body) })
        const closing = yield* Effect.fork(close)
        yield* TestClock.adjust("1999 millis")
        assert.isTrue(Option.isNone(yield* Fiber.poll(closing)))
        if (reads) assert.strictEqual((yield* json(response)).id, 1)
        else yield* TestClock.adjust("1 millis")
        yield* Fiber.join(closing)
        if (!reads) yield* Effect.flip(events(response))
      }
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("does not wait for an authenticator longer than `closeTimeout`", () =>
    Effect.gen(function*() {
      const { close, handler } = yield* closable()
      const answer = yield* Effect.fork(send(handler, initialize()))
      yield* Effect.yieldNow()
      const closing = yield* Effect.fork(close)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      assert.strictEqual((yield* Fiber.join(answer)).status, 503)
    }).pipe(Effect.provide(serve(GreetLive, identified(() => Effect.never)))))
})
