import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as RemoteOptions from "@effect-mcp/client/RemoteOptions"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import { Deferred, Effect, Exit, Fiber, Runtime, TestClock } from "effect"
import * as HttpConnection from "../../src/http/HttpConnection.js"
import * as Played from "./Played.js"

const make = (options: RemoteOptions.Options = {}) =>
  Effect.gen(function*() {
    const resolved = RemoteOptions.resolve(options)
    const runtime = yield* HttpConnection.runtimeOf(resolved)
    const clock = yield* Effect.clock
    const { client } = yield* Played.make()
    const url = new URL("http://server.test/mcp?a=b")
    return new HttpConnection.HttpConnection(url, resolved, runtime, (ring) =>
      new DeadlineTimer.DeadlineTimer(runtime, clock, ring), client)
  })

describe("Site", () => {
  it.effect("makes requests to its URL, with its headers under ours", () =>
    Effect.gen(function*() {
      const site = yield* make({ headers: { "x-a": "1", "x-b": "1" } })
      const request = site.request("POST", { "x-b": "2" })
      assert.deepStrictEqual({ ...request.headers }, { "x-a": "1", "x-b": "2" })
      assert.strictEqual(request.url, "http://server.test/mcp")
      assert.deepStrictEqual(request.urlParams, [["a", "b"]])
    }))

  it.effect("gives up what is under way when it ends, and begins nothing more", () =>
    Effect.gen(function*() {
      const site = yield* make()
      const stopped: Array<string> = []
      const work = (name: string) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped.push(name)))
      site.requests.start(() => work("request"), () => {})
      site.fork(work("beside"))
      site.end(Exit.fail(closed))
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      assert.deepStrictEqual(stopped.sort(), ["beside", "request"])
      site.fork(Effect.sync(() => stopped.push("late")))
      assert.lengthOf(stopped, 2)
      assert.strictEqual(yield* Effect.flip(site.inbox.run(() => {})), closed)
    }))

  it.effect("waits a moment for what was said, and a moment for its farewell", () =>
    Effect.gen(function*() {
      const site = yield* make({ closeTimeout: "2 seconds" })
      const gate = yield* Deferred.make<void>()
      const log: Array<string> = []
      site.others.start(() => Deferred.await(gate), () => log.push("accepted"))
      const closing = yield* Effect.fork(site.close(Effect.sync(() => log.push("farewell"))))
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(log, ["accepted", "farewell"])
      const stuck = yield* make({ closeTimeout: "2 seconds" })
      stuck.others.start(() => Effect.never, () => log.push("given up"))
      const ending = yield* Effect.fork(stuck.close(Effect.never))
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(ending)
      assert.deepStrictEqual(log.slice(2), ["given up"])
    }))

  it.effect("has a runtime on which `fetch` follows no redirects, and nobody makes spans of our requests", () =>
    Effect.gen(function*() {
      const inits: Array<RequestInit | undefined> = []
      const sent: Array<unknown> = []
      const fetch = (_: unknown, init?: RequestInit) => {
        inits.push(init)
        sent.push((init?.headers as Record<string, string>)?.traceparent)
        return Promise.resolve(new Response(""))
      }
      for (const tracing of [false, true]) {
        const runtime = yield* HttpConnection.runtimeOf(RemoteOptions.resolve({ tracing })).pipe(
          Effect.provideService(FetchHttpClient.RequestInit, { credentials: "include" })
        )
        const asking = Effect.flatMap(
          HttpClient.HttpClient,
          (client) => client.execute(HttpClientRequest.get("http://server.test"))
        ).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.provideService(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch)
        )
        yield* Effect.promise(() => Runtime.runPromise(runtime)(asking))
      }
      assert.deepInclude(inits[0], { redirect: "manual", credentials: "include" })
      assert.isUndefined(sent[0])
      assert.isString(sent[1])
    }))
})
