import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Remote from "@effect-mcp/client/Remote"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Effect, Exit, Fiber, Scope, TestClock } from "effect"
import * as Played from "./Played.js"

/** A conversation over HTTP+SSE. */
const overSse = Effect.gen(function*() {
  const http = yield* Played.make()
  const connecting = yield* Effect.forkScoped(Played.connect({ transport: "sse", http }))
  const stream = yield* Effect.flatMap(http.expect("GET"), (asked) => asked.events())
  yield* stream.push("event: endpoint\ndata: /messages\n\n")
  return { stream, talk: yield* Effect.orDie(Fiber.join(connecting)) }
})

describe("A connection over HTTP", () => {
  it.scoped("sends requests to its URL, with the headers of the application", () =>
    Effect.gen(function*() {
      const http = yield* Played.make()
      const { connect } = Remote.connector("http://server.test/mcp?a=b", { headers: { "x-a": "1", "X-B": "1" } })
      const transport = yield* Effect.provideService(connect, HttpClient.HttpClient, http.client)
      transport.unsafeSend(Message.notification("n"))
      const { accept, request } = yield* http.expect("n")
      yield* accept
      assert.deepInclude(request.headers, { "x-a": "1", "x-b": "1", accept: "application/json, text/event-stream" })
      assert.strictEqual(request.url, "http://server.test/mcp")
      assert.deepStrictEqual(request.urlParams, [["a", "b"]])
    }))

  it.scoped("interrupts its requests when the server ends it, and takes no message after that", () =>
    Effect.gen(function*() {
      const { stream, talk } = yield* overSse
      yield* talk.call("tools/call")
      yield* talk.expect("tools/call")
      yield* stream.cut
      const error = yield* Effect.flip(talk.conversation.ended)
      assert.strictEqual(error.message, "The stream of events was cut off")
      yield* talk.idle
      assert.isFalse(talk.transport.unsafeSend(Message.request(7, "late")))
      yield* talk.quiet
    }))

  it.scoped("waits at its end until messages are accepted, then for the end of the session", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const talk = yield* Scope.extend(Played.talk({ id: "s-1", closeTimeout: "2 seconds" }), scope)
      talk.transport.unsafeSend(Message.notification("last"))
      const last = yield* talk.expect("last")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      assert.lengthOf(talk.deleted, 0)
      yield* last.accept
      yield* Fiber.join(closing)
      assert.lengthOf(talk.deleted, 1)
      yield* talk.idle
    }))

  it.scoped("gives up what the server accepts too late, and a session that it does not end", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const options = { id: "s-1", closeTimeout: "2 seconds", deletes: false } as const
      const talk = yield* Scope.extend(Played.talk(options), scope)
      talk.transport.unsafeSend(Message.notification("last"))
      const last = yield* talk.expect("last")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(talk.deleted, 1)
      assert.isFalse(last.isOver)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      yield* talk.idle
    }))

  for (const tracing of [false, true]) {
    it.effect(`lets fetch follow no redirect and makes ${tracing ? "" : "no "}spans, also at its end`, () =>
      Effect.gen(function*() {
        const inits: Array<RequestInit> = []
        const fetch = (_: unknown, init?: RequestInit) => {
          inits.push(init!)
          const headers = { "content-type": "application/json", "mcp-session-id": "s-1" }
          return Promise.resolve(Response.json(Message.success(1, Played.initialized()), { headers }))
        }
        yield* Effect.scoped(Effect.gen(function*() {
          const transport = yield* Remote.connector(Played.URL, { tracing }).connect
          const answering = yield* Effect.fork(Effect.async<void, never>((resume) => {
            Effect.runFork(Effect.ignore(transport.run!(() => resume(Effect.void))))
          }))
          transport.unsafeSend(Message.request(1, "initialize"))
          yield* Fiber.join(answering)
        })).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.provideService(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch),
          Effect.provideService(FetchHttpClient.RequestInit, { credentials: "include" })
        )
        assert.deepStrictEqual(inits.map(({ method }) => method), ["POST", "DELETE"])
        for (const init of inits) {
          assert.deepInclude(init, { redirect: "manual", credentials: "include" })
          assert.strictEqual(typeof (init.headers as Record<string, string>).traceparent === "string", tracing)
        }
      }))
  }
})
