/**
 * Bodies that come in parts, at a web handler, with limits for what is incomplete.
 */
import { assert, describe, it } from "@effect/vitest"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Effect, Fiber, TestClock } from "effect"
import { byHeader, GreetLive, serve } from "../Serving.js"
import { url } from "../WebRequests.js"
import { initialize, proper } from "./TestExchange.js"

const utf8 = new TextEncoder()
const message = JSON.stringify(initialize())

/** Clients of a web handler that send the first half of a body, and the other half when the test says so. */
const clients = (limits: HttpOptions["limits"]) =>
  Effect.map(
    WebHandler.make({ limits }),
    ({ handler }) => (half: string = message.slice(0, 20)) =>
      Effect.gen(function*() {
        let body!: ReadableStreamDefaultController<Uint8Array>
        const request = new Request(url, {
          method: "POST",
          body: new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) }),
          duplex: "half",
          headers: proper
        } as RequestInit)
        const answer = yield* Effect.fork(Effect.promise(() => handler(request)))
        yield* Effect.yieldNow()
        body.enqueue(utf8.encode(half))
        return {
          status: Effect.map(Fiber.join(answer), ({ status }) => status),
          finish: Effect.sync(() => {
            body.enqueue(utf8.encode(message.slice(half.length)))
            body.close()
          })
        }
      })
  )

describe("A body that comes in parts", () => {
  it.scoped("has `bodyTimeout` at least, also when another one has had it, and twice that time at most", () =>
    Effect.gen(function*() {
      const begin = yield* clients({ bodyTimeout: "10 seconds" })
      const old = yield* begin()
      yield* TestClock.adjust("9 seconds")
      const young = yield* begin()
      yield* TestClock.adjust("9 seconds")
      yield* young.finish
      assert.strictEqual(yield* young.status, 200)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* old.status, 408)
      // Also when there was none meanwhile.
      yield* TestClock.adjust("1 minute")
      const late = yield* begin()
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* late.status, 408)
    }).pipe(Effect.provide(serve(GreetLive))))
})

describe("Beyond the limit of all incomplete bodies", () => {
  const headersOf = (sender: string, session: string): Record<string, string> =>
    sender === "" ? {} : sender === "session" ? { "mcp-session-id": session } : { authorization: sender }

  const LIMIT = 1_000_000
  /** Who sends half a body, in order, with how many bytes; and whether the body is refused. */
  const rows: ReadonlyArray<
    readonly [string, ReadonlyArray<readonly [sender: string, bytes: number, isRefused: boolean]>]
  > = [
    ["a body without a user is refused, although it is the youngest", [["ada", 600_000, false], ["", 600_000, true]]],
    ["the bodies without a user are refused first, the oldest first", [
      ["ada", 300_000, false],
      ["", 300_000, true],
      ["", 300_000, false],
      ["bob", 300_000, false]
    ]],
    ["the user that holds the most loses a body, although another body is older", [
      ["ada", 200_000, false],
      ["bob", 300_000, true],
      ["bob", 300_000, false],
      ["ada", 250_000, false]
    ]],
    ["the body of a user that begins is refused where the user holds the most", [
      ["ada", 300_000, false],
      ["bob", 800_000, true]
    ]],
    ["a body without a session is refused before a body with a session that the server knows", [
      ["session", 600_000, false],
      ["", 600_000, true]
    ]],
    ["a session that the server does not know is worth nothing", [
      ["session", 600_000, false],
      ["ada", 10, false],
      ["stranger", 600_000, true]
    ]]
  ]
  for (const [sentence, bodies] of rows) {
    it.scoped(sentence, () =>
      Effect.gen(function*() {
        const { handler } = yield* WebHandler.make({ limits: { maxIncompleteBytes: LIMIT } })
        const opened = yield* Effect.promise(() =>
          handler(new Request(url, { method: "POST", headers: proper, body: message } as RequestInit))
        )
        const session = opened.headers.get("mcp-session-id")!
        const answers = yield* Effect.forEach(bodies, ([sender, bytes]) =>
          Effect.gen(function*() {
            const body = new ReadableStream<Uint8Array>({
              start: (controller) => controller.enqueue(new Uint8Array(bytes))
            })
            const given: Record<string, string> = sender === "stranger"
              ? { "mcp-session-id": crypto.randomUUID() }
              : headersOf(sender, session)
            const headers = { ...proper, ...given } as HeadersInit
            const request = new Request(url, { method: "POST", headers, body, duplex: "half" } as RequestInit)
            const answer = yield* Effect.fork(Effect.promise(() => handler(request)))
            yield* Effect.promise(() => new Promise<void>((resume) => setImmediate(resume)))
            return answer
          }))
        for (const [at, [, , isRefused]] of bodies.entries()) {
          if (isRefused) assert.strictEqual((yield* Fiber.join(answers[at]!)).status, 503, `body ${at}`)
          else assert.isNull(answers[at]!.unsafePoll(), `body ${at}`)
        }
      }).pipe(Effect.provide(serve(GreetLive, byHeader))))
  }
})

describe("A body that a framework has made into a stream", () => {
  const bytes = utf8.encode(message)
  const long = "x".repeat(100)
  const rows: ReadonlyArray<readonly [string, (controller: ReadableStreamDefaultController<unknown>) => void, number]> =
    [
      ["is read where its pieces are bytes of another type", (body) => body.enqueue(new DataView(bytes.buffer)), 200],
      ["is refused where a piece is a text", (body) => body.enqueue(message), 400],
      ["is refused where a later piece is a text", (body) => {
        body.enqueue(bytes.slice(0, 20))
        body.enqueue(long)
      }, 400],
      ["is refused where a piece is missing", (body) => body.enqueue(undefined), 400],
      ["is refused where a piece is an object that has a length", (body) => body.enqueue({ length: 3 }), 400],
      ["is refused where a piece is a buffer", (body) => body.enqueue(bytes.buffer), 400],
      ["is refused where a piece is an array", (body) => body.enqueue([...bytes]), 400],
      ["is refused where the stream fails", (body) => body.error("gone"), 400],
      ["is refused where it gives nothing without end", (body) => {
        for (let n = 0; n < 2000; n++) body.enqueue(new Uint8Array(0))
      }, 400]
    ]
  for (const [sentence, start, status] of rows) {
    it.scopedLive(sentence, () =>
      Effect.gen(function*() {
        const { handler } = yield* WebHandler.make()
        const body = new ReadableStream<unknown>({
          start: (controller) => {
            start(controller)
            if (status === 200) controller.close()
          }
        })
        const request = new Request(url, { method: "POST", headers: proper, body: "{}" } as RequestInit)
        Object.defineProperty(request, "body", { value: body })
        request.headers.delete("content-length")
        assert.strictEqual((yield* Effect.promise(() => handler(request))).status, status)
      }).pipe(Effect.provide(serve(GreetLive))))
  }
})
