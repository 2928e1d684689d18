import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import { Context, Effect, Exit, Fiber, Scope, TestClock, Tracer } from "effect"
import * as PlatformClient from "../../../src/client/http/PlatformClient.js"
import * as ScriptedServer from "./ScriptedServer.js"

const ofCall = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16), context: Context.empty() })

const tracer = Effect.runSync(Effect.tracer)

/** A conversation over HTTP+SSE. */
const overSse = Effect.gen(function*() {
  const http = yield* ScriptedServer.make()
  const connecting = yield* Effect.forkScoped(ScriptedServer.connect({ transport: "sse", http }))
  const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
  yield* stream.push("event: endpoint\ndata: /messages\n\n")
  return { stream, pair: yield* Effect.orDie(Fiber.join(connecting)) }
})

describe("A connection over HTTP", () => {
  it.scoped("sends requests to its URL, with the headers of the application", () =>
    Effect.gen(function*() {
      const http = yield* ScriptedServer.make()
      const { connect } = Remote.connector("http://server.test/mcp?a=b", { headers: { "x-a": "1", "X-B": "1" } })
      const transport = yield* Effect.provideService(connect, HttpClient.HttpClient, http.client)
      transport.unsafeSend(Message.notification("n"))
      const { accept, request } = yield* http.expect("n")
      yield* accept
      assert.deepInclude(request.headers, { "x-a": "1", "x-b": "1", accept: "application/json, text/event-stream" })
      assert.strictEqual(request.url, "http://server.test/mcp")
      assert.deepStrictEqual([...request.urlParams], [["a", "b"]])
    }))

  it.scoped("interrupts its requests when the server ends it, and takes no message after that", () =>
    Effect.gen(function*() {
      const { pair, stream } = yield* overSse
      yield* pair.call("tools/call")
      yield* pair.expect("tools/call")
      yield* stream.cut
      const error = yield* Effect.flip(pair.conversation.ended)
      assert.strictEqual(error.message, "The stream of events was cut off")
      yield* pair.idle
      assert.isFalse(pair.transport.unsafeSend(Message.request(7, "late")))
      yield* pair.quiet
    }))

  it.scoped("waits at its end until messages are accepted, then for the end of the session", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const pair = yield* Scope.extend(ScriptedServer.pair({ id: "s-1", closeTimeout: "2 seconds" }), scope)
      pair.transport.unsafeSend(Message.notification("last"))
      const last = yield* pair.expect("last")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      assert.lengthOf(pair.deleted, 0)
      yield* last.accept
      yield* Fiber.join(closing)
      assert.lengthOf(pair.deleted, 1)
      yield* pair.idle
    }))

  it.scoped("gives up what the server accepts too late, and a session that it does not end", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const options = { id: "s-1", closeTimeout: "2 seconds", deletes: false } as const
      const pair = yield* Scope.extend(ScriptedServer.pair(options), scope)
      pair.transport.unsafeSend(Message.notification("last"))
      const last = yield* pair.expect("last")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(pair.deleted, 1)
      assert.isFalse(last.isOver)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      yield* pair.idle
    }))

  for (const around of [undefined, PlatformClient.below(ofCall, tracer)]) {
    const tracing = around !== undefined
    it.effect(`lets fetch follow no redirect and makes ${tracing ? "" : "no "}spans of a call ${tracing ? "with" : "without"} one`, () =>
      Effect.gen(function*() {
        const inits: Array<RequestInit> = []
        const fetch = (_: unknown, init?: RequestInit) => {
          inits.push(init!)
          const headers = { "content-type": "application/json", "mcp-session-id": "s-1" }
          return Promise.resolve(Response.json(Message.success(1, ScriptedServer.initializeResult()), { headers }))
        }
        yield* Effect.scoped(Effect.gen(function*() {
          const transport = yield* Remote.connector(ScriptedServer.URL).connect
          const answering = yield* Effect.fork(Effect.async<void, never>((resume) => {
            Effect.runFork(Effect.ignore(transport.run!(() => resume(Effect.void))))
          }))
          transport.unsafeSend(Message.request(1, "initialize"), around && { around })
          yield* Fiber.join(answering)
        })).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.provideService(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch),
          Effect.provideService(FetchHttpClient.RequestInit, { credentials: "include" })
        )
        assert.deepStrictEqual(inits.map(({ method }) => method), ["POST", "DELETE"])
        for (const init of inits) {
          assert.deepInclude(init, { redirect: "manual", credentials: "include" })
          const { traceparent = "" } = init.headers as Record<string, string>
          // The request that ends the session belongs to no call.
          if (tracing && init.method === "POST") assert.include(traceparent, ofCall.traceId)
          else assert.strictEqual(traceparent, "")
        }
      }))
  }
})
