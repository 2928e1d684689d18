import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import { assert, describe, it } from "@effect/vitest"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as Message from "@effect-mcp/core/Message"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as Sse from "@effect-mcp/core/Sse"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, TestClock } from "effect"
import { call, initialize, proper } from "./http/TestExchange.js"
import { act, GreetLive, serve } from "./Serving.js"

type Handler = (request: Request) => Promise<Response>

const handler = (options?: HttpOptions) =>
  Effect.map(HttpEndpoint.make(options), (app): Handler => HttpApp.toWebHandler(app))

const url = "http://localhost:3000/mcp"

const fetch = (handler: Handler, init: RequestInit & { readonly url?: string }) =>
  Effect.promise(() => handler(new Request(init.url ?? url, init)))

const post = (handler: Handler, body: unknown, headers = {}, at = url) =>
  fetch(handler, {
    url: at,
    method: "POST",
    headers: { ...proper, ...headers } as Record<string, string>,
    body: typeof body === "string" || body instanceof Uint8Array ? body as BodyInit : JSON.stringify(body)
  })

const handshake = (handler: Handler, at = url) =>
  Effect.map(
    post(handler, initialize(), {}, at),
    (response) => ({ "mcp-session-id": response.headers.get("mcp-session-id")! })
  )

const json = (response: Response) => Effect.promise(() => response.json() as Promise<any>)

const read = (response: Response) => {
  const reader = response.body!.getReader()
  const decoder = new Sse.Decoder()
  return {
    next: Effect.map(
      Effect.promise(() => reader.read()),
      ({ value }) => value === undefined ? undefined : decoder.push(value)
    ),
    cancel: Effect.promise(() => reader.cancel())
  }
}

const log = (data: unknown) => Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

const progress = Effect.flatMap(RequestContext.RequestContext, (context) => context.progress(1))

const shells = {
  "HttpEndpoint as a web handler": handler,
  WebHandler: (options?: HttpOptions) => Effect.map(WebHandler.make(options), (web): Handler => web.handler)
}

for (const [shell, handler] of Object.entries(shells)) {
  describe(shell, () => {
    it.scoped("serves a session", () =>
      Effect.gen(function*() {
        const web = yield* handler()
        const session = yield* handshake(web)
        const accepted = yield* post(web, Message.notification("notifications/initialized"), session)
        assert.strictEqual(accepted.status, 202)
        const greeted = yield* post(web, call(1, "greet", { name: "you" }), session)
        assert.strictEqual(greeted.headers.get("content-type"), "application/json")
        assert.strictEqual((yield* json(greeted)).result.content[0].text, "Hello, you!")
        const ended = yield* fetch(web, { method: "DELETE", headers: session })
        assert.strictEqual(ended.status, 200)
        assert.strictEqual((yield* post(web, call(1, "greet"), session)).status, 404)
      }).pipe(Effect.provide(serve(GreetLive))))

    it.scoped("streams what the handler sends, when it sends it", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        yield* Effect.gen(function*() {
          const web = yield* handler()
          const session = yield* handshake(web)
          const response = yield* post(web, call(1, "act"), session)
          assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
          assert.strictEqual(response.headers.get("x-accel-buffering"), "no")
          const stream = read(response)
          const first = yield* stream.next
          assert.include(JSON.stringify(first), "hello")
          yield* Deferred.succeed(gate, undefined)
          assert.include(JSON.stringify(yield* stream.next), "\\\"id\\\":1")
          assert.isUndefined(yield* stream.next)
        }).pipe(Effect.provide(serve(act(Effect.zipRight(log("hello"), Deferred.await(gate))))))
      }))

    it.scoped("has a standalone stream, which a client can close and open again", () =>
      Effect.gen(function*() {
        const web = yield* handler()
        const session = yield* handshake(web)
        const get = fetch(web, { headers: { ...session, accept: "text/event-stream" } })
        const first = read(yield* get)
        // A comment, so that the headers leave.
        assert.deepStrictEqual(yield* first.next, [])
        assert.strictEqual((yield* get).status, 409)
        yield* first.cancel
        const again = yield* Effect.repeat(get, { until: ({ status }) => status === 200 })
        yield* read(again).cancel
      }).pipe(Effect.provide(serve(GreetLive))))

    it.scoped("has the limits of every endpoint", () =>
      Effect.gen(function*() {
        const web = yield* handler({ limits: { maxBodyBytes: 200 }, path: "/mcp" })
        assert.strictEqual((yield* post(web, "x".repeat(201))).status, 413)
        assert.strictEqual((yield* post(web, new Uint8Array([0x22, 0xff, 0x22]))).status, 400)
        assert.strictEqual((yield* post(web, initialize(), {}, "http://localhost/other")).status, 404)
        assert.strictEqual((yield* post(web, initialize(), { host: "evil.com" })).status, 403)
        const preflight = yield* fetch(web, {
          method: "OPTIONS",
          headers: { ...proper, origin: "http://localhost" } as any
        })
        assert.strictEqual(preflight.status, 204)
        assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "http://localhost")
      }).pipe(Effect.provide(serve(GreetLive))))

    it.scoped("has the same limits for a body whose length a header declares, truly or not", () =>
      Effect.gen(function*() {
        const web = yield* handler({ limits: { maxBodyBytes: 200 } })
        const declared = (body: string | Uint8Array, length: number) =>
          post(web, body, { "content-length": String(length) })
        const text = JSON.stringify(initialize())
        assert.strictEqual((yield* declared(text, text.length)).status, 200)
        assert.strictEqual((yield* declared("", 0)).status, 400)
        assert.strictEqual((yield* declared(new Uint8Array([0x22, 0xff, 0x22]), 3)).status, 400)
        assert.strictEqual((yield* declared("x".repeat(201), 201)).status, 413)
        assert.strictEqual((yield* declared("x".repeat(201), 1)).status, 413)
      }).pipe(Effect.provide(serve(GreetLive))))

    it.scoped("takes the host from the URL when there is no Host header", () =>
      Effect.gen(function*() {
        const web = yield* handler()
        const { host: _, ...headers } = proper
        const ask = (at: string) =>
          fetch(web, { url: at, method: "POST", headers: headers as any, body: JSON.stringify(initialize()) })
        assert.strictEqual((yield* ask("http://localhost:1/")).status, 200)
        assert.strictEqual((yield* ask("http://evil.com/")).status, 403)
      }).pipe(Effect.provide(serve(GreetLive))))

    it.scoped("continues after a client has disconnected", () =>
      Effect.gen(function*() {
        const [began, gate, ended] = yield* Effect.all([
          Deferred.make<void>(),
          Deferred.make<void>(),
          Deferred.make<void>()
        ])
        const live = act(
          Deferred.succeed(began, undefined).pipe(
            Effect.zipRight(Deferred.await(gate)),
            Effect.zipRight(Deferred.succeed(ended, undefined))
          )
        )
        yield* Effect.gen(function*() {
          const web = yield* handler()
          const session = yield* handshake(web)
          const controller = new AbortController()
          void web(
            new Request(url, {
              method: "POST",
              headers: { ...proper, ...session } as any,
              body: JSON.stringify(call(1, "act")),
              signal: controller.signal
            })
          )
          yield* Deferred.await(began)
          controller.abort()
          yield* Deferred.succeed(gate, undefined)
          yield* Deferred.await(ended)
        }).pipe(Effect.provide(serve(live)))
      }))
  })

  describe(`${shell}, without sessions`, () => {
    it.scoped("a handler runs on after its client has left the stream, for 30 seconds at most", () =>
      Effect.gen(function*() {
        const stopped = yield* Deferred.make<void>()
        const waiting = Effect.zipRight(progress, Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
        yield* Effect.gen(function*() {
          const web = yield* handler({ legacy: { sessions: false } })
          const stream = read(
            yield* post(web, Message.request(1, "tools/call", { name: "act", _meta: { progressToken: 1 } }))
          )
          while ((yield* stream.next)?.length === 0);
          yield* stream.cancel
          yield* TestClock.adjust("29 seconds")
          assert.isFalse(yield* Deferred.isDone(stopped))
          yield* TestClock.adjust("1 seconds")
          yield* Deferred.await(stopped)
        }).pipe(Effect.provide(serve(act(waiting))))
      }))
  })
}

describe("An HttpEndpoint below a router", () => {
  it.scoped("serves any path, and sends clients of 2024-11-05 the path that they used", () =>
    Effect.gen(function*() {
      const app = yield* HttpEndpoint.make({ legacy: { ssePath: "/sse" } })
      const web = HttpApp.toWebHandler(HttpRouter.empty.pipe(HttpRouter.mountApp("/deep", app)))
      const session = yield* handshake(web, "http://localhost/deep/mcp")
      assert.match(session["mcp-session-id"], /.+/)
      const stream = read(
        yield* fetch(web, { url: "http://localhost/deep/sse", headers: { accept: "text/event-stream" } })
      )
      let events: ReadonlyArray<any> | undefined = []
      while (events?.length === 0) events = yield* stream.next
      assert.match(events![0].data, /^\/deep\/sse\?sessionId=/)
      const response = yield* post(web, initialize("2024-11-05"), {}, `http://localhost${events![0].data}`)
      assert.strictEqual(response.status, 202)
      assert.include(JSON.stringify(yield* stream.next), "protocolVersion")
      yield* stream.cancel
    }).pipe(Effect.provide(serve(GreetLive))))
})
