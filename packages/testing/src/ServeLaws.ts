/**
 * Checks (laws) for code that handles each message alone, without a conversation: `serve` of a `Dispatcher`, and an application's own
 * transport that calls `serve`.
 *
 * Each law starts its own servers, and moves the `TestClock`.
 *
 * @since 0.1.0
 */
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as EventLoop from "@effect-mcp/core/unstable/kit/EventLoop"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Law from "./Law.js"
import * as TestPeer from "./TestPeer.js"

/**
 * A function that handles the text of one message. The text may be malformed. The returned stream has the notifications for a request and
 * then the answer.
 *
 * @category models
 */
export type Serve = (text: string) => Stream.Stream<Message.Message, unknown>

/**
 * A function that starts the implementation under test with a server. The implementation and the server close with the scope.
 *
 * @category models
 */
export type Entrance = (server: Layer.Layer<Dispatcher>) => Effect.Effect<Serve, unknown, Scope.Scope>

/**
 * The `Entrance` for `serve` of a `Dispatcher` itself.
 *
 * @category utils
 */
export const dispatcher: Entrance = (server) =>
  Effect.map(
    Layer.build(server),
    (context) => (text) => Context.get(context, Dispatcher).serve(MessageText.parse(text))
  )

const Work = Tool.make("work", { success: Schema.String })

/** Starts a server with one tool, whose handler is `handler`. */
const start = (
  entrance: Entrance,
  handler: Effect.Effect<string, never, RequestContext>,
  options?: Pick<McpServer.Options, "limits">
) => entrance(McpServer.layer({ name: "laws", version: "1.0.0" }, McpServer.tool(Work, () => handler), options))

const eras = ["legacy", "modern"] as const

const request = (era: typeof eras[number], method: string, params?: Message.Params, id: Message.RequestId = 7) =>
  JSON.stringify(Message.request(id, method, {
    ...params,
    _meta: { ...(era === "modern" ? TestPeer.requestMeta() : undefined), progressToken: "token" }
  }))

const call = (era: typeof eras[number], id?: Message.RequestId) => request(era, "tools/call", { name: "work" }, id)

const isResult = (message: Message.Message | undefined, text: string): boolean =>
  message !== undefined && Message.isResponse(message) && "result" in message && message.id === 7 &&
  JSON.stringify(message.result).includes(`"${text}"`)

const isError = (message: Message.Message | undefined): message is Message.Failure =>
  message !== undefined && Message.isResponse(message) && "error" in message

const shown = (messages: ReadonlyArray<Message.Message>) => JSON.stringify(messages)

/** Makes a handler that waits until `open` runs, and effects that tell when the handler has started and how it has ended. */
const waiting = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<"done" | "interrupted">()
  const handler = Deferred.succeed(started, undefined).pipe(
    Effect.zipRight(Deferred.await(gate)),
    Effect.as("done"),
    Effect.onExit((exit) => Deferred.succeed(ended, Exit.isSuccess(exit) ? "done" : "interrupted"))
  )
  return { handler, started: Deferred.await(started), open: Deferred.succeed(gate, undefined), ended }
})

/** Lets other fibers and the event loop run until `holds` is true, for at most `steps` steps. */
const turnUntil = (holds: () => boolean, steps = 10_000): Effect.Effect<void> =>
  Effect.asVoid(Effect.iterate(0, {
    while: (step) => step < steps && !holds(),
    body: (step) => Effect.as(Effect.zipRight(EventLoop.worked, Effect.yieldNow()), step + 1)
  }))

const delivery = Law.make<Entrance>(
  "returns the notifications of a request in order, then one answer, and ends",
  (entrance, expect) =>
    Effect.gen(function*() {
      const handler = Effect.flatMap(RequestContext, ({ progress }) =>
        Effect.as(
          Effect.forEach(Array.from({ length: 100 }, (_, n) => n), (n) => progress(n + 1)),
          "done"
        ))
      const serve = yield* start(entrance, handler)
      for (const era of eras) {
        const messages = yield* StreamArrays.collect(serve(call(era)))
        yield* expect(messages.length === 101, `${messages.length} messages in place of 101 are the answer`)
        for (const [n, message] of messages.slice(0, 100).entries()) {
          const progress = "params" in message ? message.params?.progress : undefined
          yield* expect(progress === n + 1, `progress ${n + 1} came as ${JSON.stringify(message)}`)
        }
        yield* expect(isResult(messages[100], "done"), `the last message is ${JSON.stringify(messages[100])}`)
      }
    })
)

const interruption = Law.make<Entrance>(
  "interrupts a request of revision 2026-07-28 or later when its stream is closed",
  (entrance, expect) =>
    Effect.gen(function*() {
      const { ended, handler, started } = yield* waiting
      const serve = yield* start(entrance, handler)
      const reader = yield* Effect.forkScoped(Stream.runDrain(serve(call("modern"))))
      yield* started
      yield* Fiber.interrupt(reader)
      const end = yield* Deferred.await(ended)
      yield* expect(end === "interrupted", "the handler was not interrupted")
    })
)

const abandonment = Law.make<Entrance>(
  "lets a request of revision 2025-11-25 or earlier continue when its stream is closed, until a deadline or the end of the server",
  (entrance, expect) =>
    Effect.gen(function*() {
      const ends = [
        ["done", (open: Effect.Effect<unknown>) => open],
        ["interrupted", () => TestClock.adjust("1 hour")],
        ["interrupted", (_: Effect.Effect<unknown>, close: Effect.Effect<unknown>) => close]
      ] as const
      for (const [end, act] of ends) {
        const { ended, handler, open, started } = yield* waiting
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const serve = yield* Scope.extend(start(entrance, handler), scope)
        const reader = yield* Effect.forkScoped(Stream.runDrain(serve(call("legacy"))))
        yield* started
        yield* Fiber.interrupt(reader)
        yield* turnUntil(() => false, 1000)
        yield* act(open, Scope.close(scope, Exit.void))
        const found = yield* Deferred.await(ended)
        yield* expect(found === end, `the handler was ${found} in place of ${end}`)
      }
    })
)

const apart = Law.make<Entrance>(
  "keeps two requests with the same id separate",
  (entrance, expect) =>
    Effect.gen(function*() {
      for (const era of eras) {
        const first = yield* waiting
        let calls = 0
        const serve = yield* start(
          entrance,
          Effect.suspend(() => calls++ === 0 ? first.handler : Effect.succeed("second"))
        )
        const reader = yield* Effect.forkScoped(StreamArrays.collect(serve(call(era))))
        yield* first.started
        const ofSecond = yield* StreamArrays.collect(serve(call(era)))
        yield* expect(ofSecond.length === 1 && isResult(ofSecond[0], "second"), `the second got ${shown(ofSecond)}`)
        yield* first.open
        const ofFirst = yield* Fiber.join(reader)
        yield* expect(ofFirst.length === 1 && isResult(ofFirst[0], "done"), `the first got ${shown(ofFirst)}`)
      }
    })
)

const errors = Law.make<Entrance>(
  "answers with one error to input that is not a message, and to a request that the server does not serve",
  (entrance, expect) =>
    Effect.gen(function*() {
      const serve = yield* start(entrance, Effect.succeed("done"))
      const wrong: ReadonlyArray<readonly [text: string, id: Message.RequestId | undefined]> = [
        ["{", undefined],
        [`{"jsonrpc":"2.0","id":7}`, 7],
        [`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}`, 7],
        ...eras.flatMap((era) =>
          [request(era, "nothing/such"), request(era, "tools/call", { name: 7 })].map((text) => [text, 7] as const)
        )
      ]
      for (const [text, id] of wrong) {
        const messages = yield* StreamArrays.collect(serve(text))
        yield* expect(
          messages.length === 1 && isError(messages[0]) && (messages[0].id ?? undefined) === id,
          `${text} got ${shown(messages)}`
        )
      }
    })
)

const silence = Law.make<Entrance>(
  "does not answer notifications or responses",
  (entrance, expect) =>
    Effect.gen(function*() {
      const serve = yield* start(entrance, Effect.succeed("done"))
      const unanswered = [
        Message.notification("notifications/initialized"),
        Message.notification("notifications/cancelled", { requestId: 7, _meta: TestPeer.requestMeta() }),
        Message.success(7, {})
      ]
      for (const message of unanswered) {
        const messages = yield* StreamArrays.collect(serve(JSON.stringify(message)))
        yield* expect(messages.length === 0, `${JSON.stringify(message)} got ${shown(messages)}`)
      }
    })
)

const backpressure = Law.make<Entrance>(
  "suspends a handler until its notifications are read",
  (entrance, expect) =>
    Effect.gen(function*() {
      const total = 5000
      for (const era of eras) {
        let sent = 0
        const handler = Effect.flatMap(RequestContext, ({ progress }) =>
          Effect.as(
            Effect.whileLoop({ while: () => sent < total, body: () => progress(sent + 1), step: () => void sent++ }),
            "done"
          ))
        const serve = yield* start(entrance, handler)
        const gate = yield* Deferred.make<void>()
        const reader = yield* Effect.forkScoped(
          Stream.runCount(Stream.tap(serve(call(era)), () => Deferred.await(gate)))
        )
        yield* turnUntil(() => sent === total)
        yield* expect(sent < total, `a handler has sent ${total} notifications to a client that reads none`)
        yield* Deferred.succeed(gate, undefined)
        const received = yield* Fiber.join(reader)
        yield* expect(received === total + 1, `${received} messages came in place of ${total + 1}`)
      }
    })
)

const limits = Law.make<Entrance>(
  "applies the limits of the server to all requests together",
  (entrance, expect) =>
    Effect.gen(function*() {
      for (const era of eras) {
        const gate = yield* Deferred.make<void>()
        let running = 0
        const handler = Effect.suspend(() => {
          running++
          return Effect.as(Deferred.await(gate), "done")
        })
        const serve = yield* start(entrance, handler, { limits: { maxExchanges: 2, maxWaiting: 1 } })
        const answers = yield* Queue.unbounded<ReadonlyArray<Message.Message>>()
        for (let n = 0; n < 4; n++) {
          yield* Effect.forkScoped(
            Effect.flatMap(StreamArrays.collect(serve(call(era))), (all) => Queue.offer(answers, all))
          )
        }
        yield* turnUntil(() => running > 2, 1000)
        yield* expect(running <= 2, `${running} requests ran in place of 2`)
        const refused = yield* Queue.take(answers)
        yield* expect(refused.length === 1 && isError(refused[0]), `one request too many got ${shown(refused)}`)
        yield* Deferred.succeed(gate, undefined)
        for (let n = 0; n < 3; n++) {
          const served = yield* Queue.take(answers)
          yield* expect(served.length === 1 && isResult(served[0], "done"), `a request got ${shown(served)}`)
        }
      }
    })
)

const closing = Law.make<Entrance>(
  "answers each running request with one error when the server closes",
  (entrance, expect) =>
    Effect.gen(function*() {
      for (const era of eras) {
        const { handler, started } = yield* waiting
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const serve = yield* Scope.extend(start(entrance, handler), scope)
        const reader = yield* Effect.forkScoped(StreamArrays.collect(serve(call(era))))
        yield* started
        yield* Scope.close(scope, Exit.void)
        const messages = yield* Fiber.join(reader)
        yield* expect(messages.length === 1 && isError(messages[0]), `the request got ${shown(messages)}`)
      }
    })
)

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Entrance>> = [
  delivery,
  interruption,
  abandonment,
  apart,
  errors,
  silence,
  backpressure,
  limits,
  closing
]
