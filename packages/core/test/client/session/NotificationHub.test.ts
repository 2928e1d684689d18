import { assert, describe, it } from "@effect/vitest"
import { Diagnostic } from "@effect-mcp/core/Diagnostic"
import * as Message from "@effect-mcp/core/Message"
import { Chunk, Deferred, Effect, Exit, Fiber, Logger, LogLevel, Scope, Stream } from "effect"
import * as MethodTable from "../../../src/client/legacy/MethodTable.js"
import * as NotificationHub from "../../../src/client/session/NotificationHub.js"
import { waiting } from "../Scripts.js"

const make = NotificationHub.make(MethodTable.notifications)

const numbered = (n: number) => Message.notification("notifications/ours", { n })
const numbers = (received: Chunk.Chunk<Message.Notification>) => Chunk.toArray(received).map(({ params }) => params?.n)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const diagnostic = (method: string) => Diagnostic.Overloaded({ method, limit: 1 })

describe("The notifications of a hub", () => {
  it.scoped("reach every listener in order, from when it begins to listen", () =>
    Effect.gen(function*() {
      const { end, publish, streams: { notifications } } = yield* make
      publish(numbered(0))
      const early = yield* waiting(Stream.runCollect(notifications))
      publish(numbered(1))
      publish(numbered(2))
      const late = yield* waiting(Stream.runCollect(notifications))
      publish(numbered(3))
      yield* end
      assert.deepStrictEqual(numbers(yield* Fiber.join(early)), [1, 2, 3])
      assert.deepStrictEqual(numbers(yield* Fiber.join(late)), [3])
    }))

  it.scoped("wait for a slow listener, up to 256; then it loses the oldest, and no other listener does", () =>
    Effect.gen(function*() {
      const { end, publish, streams: { notifications } } = yield* make
      const wake = yield* Deferred.make<void>()
      const taken = yield* Deferred.make<void>()
      const slow = yield* waiting(Stream.runCollect(
        Stream.tap(notifications, () => Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(wake)))
      ))
      const fast = yield* waiting(Stream.runCollect(notifications))
      // The slow one reads the first and waits.
      publish(numbered(0))
      yield* Deferred.await(taken)
      for (const n of range(1, 1001)) {
        publish(numbered(n))
        // Time enough for the fast one.
        if (n % 100 === 0) yield* Effect.repeatN(Effect.yieldNow(), 10)
      }
      yield* end
      yield* Deferred.succeed(wake, undefined)
      assert.deepStrictEqual(numbers(yield* Fiber.join(fast)), range(0, 1001))
      assert.deepStrictEqual(numbers(yield* Fiber.join(slow)), [0, ...range(1001 - 256, 1001)])
    }))

  for (const name of ["notifications", "logs", "diagnostics"] as const) {
    it.scoped(`have 16 Mi characters at most while they wait for a slow listener, and one more, whatever their size: ${name}`, () =>
      Effect.gen(function*() {
        for (const length of [100_000, 400_000, 3_000_000]) {
          const { end, publish, report, streams } = yield* make
          const wake = yield* Deferred.make<void>()
          const taken = yield* Deferred.make<void>()
          const stream: Stream.Stream<unknown> = streams[name]
          const slow = yield* waiting(Stream.runCollect(
            Stream.tap(stream, () => Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(wake)))
          ))
          const text = "x".repeat(length)
          const send = name === "diagnostics"
            ? report(Diagnostic.UnknownResponse({ response: Message.success(1, { text }), late: false }))
            : Effect.sync(() => publish(Message.notification("notifications/message", { level: "info", data: text })))
          yield* send
          yield* Deferred.await(taken)
          for (let n = 0; n < 256; n++) yield* send
          yield* end
          yield* Deferred.succeed(wake, undefined)
          const received = Chunk.size(yield* Fiber.join(slow)) * length
          assert.isBelow(received, 16 * 1024 * 1024 + 2 * length)
          assert.isAbove(received, 16 * 1024 * 1024 - 2 * length)
        }
      }))
  }

  it.scoped("end after the last one; a later listener gets none", () =>
    Effect.gen(function*() {
      const { end, publish, streams: { diagnostics, logs, notifications } } = yield* make
      yield* end
      yield* end
      publish(numbered(1))
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(notifications)), 0)
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(logs)), 0)
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(diagnostics)), 0)
    }))

  it.scoped("end with their scope, after those that listeners have not read yet", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { publish, streams: { notifications } } = yield* Scope.extend(make, scope)
      const listening = yield* waiting(Stream.runCollect(notifications))
      publish(numbered(1))
      publish(numbered(2))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(numbers(yield* Fiber.join(listening)), [1, 2])
    }))

  it.scoped("that are valid log messages are in `logs`", () =>
    Effect.gen(function*() {
      const { end, publish, streams: { logs } } = yield* make
      const listening = yield* waiting(Stream.runCollect(logs))
      const log = (params: Message.Params | undefined) => publish(Message.notification("notifications/message", params))
      log({ level: "info", data: "text" })
      log({ level: "error", data: { a: [1, null] }, logger: "db" })
      log({ level: "debug", data: null })
      log({ level: "loud", data: 1 })
      log({ level: "info" })
      log({ data: 1 })
      log(undefined)
      publish(numbered(1))
      yield* end
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(listening)), [
        { level: "info", data: "text" },
        { level: "error", data: { a: [1, null] }, logger: "db" },
        { level: "debug", data: null }
      ])
    }))

  it.scoped("that are valid changes, updates and completions have their streams", () =>
    Effect.gen(function*() {
      const { end, onElicitation, publish, streams } = yield* make
      onElicitation("1")
      const texts: ReadonlyArray<Stream.Stream<string>> = [
        streams.listChanges,
        streams.resourceUpdates,
        streams.elicitationsCompleted
      ]
      const listening = yield* Effect.forEach(texts, (stream) => waiting(Stream.runCollect(stream)))
      const say = (method: string, params?: Message.Params) => publish(Message.notification(method, params))
      for (const kind of ["tools", "prompts", "resources", "smells"]) say(`notifications/${kind}/list_changed`)
      for (const uri of ["a:b", 7, undefined]) say("notifications/resources/updated", { uri })
      for (const elicitationId of ["1", 1, null]) say("notifications/elicitation/complete", { elicitationId })
      yield* end
      const received = yield* Effect.forEach(listening, (fiber) => Effect.map(Fiber.join(fiber), Chunk.toArray))
      assert.deepStrictEqual(received, [["tools", "prompts", "resources"], ["a:b"], ["1"]])
    }))

  it.scoped("MUST ignore the completion of an elicitation that is unknown, or completed already", () =>
    Effect.gen(function*() {
      const { end, onElicitation, publish, streams } = yield* make
      const ids = yield* waiting(Stream.runCollect(streams.elicitationsCompleted))
      const all = yield* waiting(Stream.runCollect(streams.notifications))
      const complete = (elicitationId: string) =>
        publish(Message.notification("notifications/elicitation/complete", { elicitationId }))
      const long = "x".repeat(1025)
      for (const id of ["a", "b", long, 7, undefined]) onElicitation(id)
      for (const id of ["a", "a", "unknown", "b", "a", long]) {
        complete(id)
        // The listeners read before more comes than they may hold.
        yield* Effect.yieldNow()
      }
      yield* end
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(ids)), ["a", "b"])
      assert.lengthOf(Chunk.toArray(yield* Fiber.join(all)), 2)
    }))

  it.scoped("remembers the last elicitations only", () =>
    Effect.gen(function*() {
      const { end, onElicitation, publish, streams } = yield* make
      const ids = yield* waiting(Stream.runCollect(streams.elicitationsCompleted))
      for (let n = 0; n <= 1024; n++) onElicitation(`id ${n}`)
      for (const n of [0, 1, 1024]) {
        publish(Message.notification("notifications/elicitation/complete", { elicitationId: `id ${n}` }))
      }
      yield* end
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(ids)), ["id 1", "id 1024"])
    }))

  it.scoped("are not kept for a listener that has stopped", () =>
    Effect.gen(function*() {
      const { end, publish, report, streams: { diagnostics, notifications } } = yield* make
      const listening = yield* waiting(Stream.runDrain(notifications))
      const once = yield* waiting(Stream.runHead(notifications))
      const reading = yield* waiting(Stream.runDrain(diagnostics))
      publish(numbered(1))
      assert.strictEqual((yield* Fiber.join(once))._tag, "Some")
      yield* Fiber.interrupt(listening)
      yield* Fiber.interrupt(reading)
      publish(numbered(2))
      yield* report(diagnostic("unread"))
      yield* end
    }))
})

describe("A diagnostic", () => {
  /** What is logged at any level while this runs. */
  const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => {
        lines.push(String(message))
      })
      return Effect.as(effect, lines).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.All)
      )
    })

  it.scoped("reaches the listeners, and the log when there is none", () =>
    Effect.gen(function*() {
      const { report, streams: { diagnostics } } = yield* make
      const unread = yield* logged(report(diagnostic("first")))
      assert.deepStrictEqual(unread, ["Refused \"first\": 1 are in flight"])
      const listening = yield* waiting(Stream.runCollect(Stream.take(diagnostics, 1)))
      assert.deepStrictEqual(yield* logged(report(diagnostic("second"))), [])
      assert.deepStrictEqual(Chunk.toArray(yield* Fiber.join(listening)), [diagnostic("second")])
      assert.lengthOf(yield* logged(report(diagnostic("third"))), 1)
    }))
})
