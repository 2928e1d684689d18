/** The progress of a task, which a client reads from the task in both eras, also when it comes later. */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import type * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect } from "effect"
import { until } from "./Serving.js"
import * as Tasking from "./Tasking.js"

type Report = (context: RequestContext["Type"]) => Effect.Effect<unknown>

/** `work` reports its progress, and waits until it may end. */
const reporting = (report: Report) => {
  const ending = Deferred.make<void>()
  return Effect.map(ending, (end) => ({
    end: Deferred.succeed(end, undefined),
    tools: McpServer.tool(
      Tool.make("work", { task: "optional" }),
      () => Effect.zipRight(Effect.flatMap(RequestContext, report), Effect.as(Deferred.await(end), "done"))
    )
  }))
}

const eras = {
  "2025-11-25": {
    connect: Effect.tap(Tasking.legacy(), Tasking.dropping),
    start: (peer: TestPeer.TestPeer) => Tasking.start(peer, "work")
  },
  "2026-07-28": {
    connect: Tasking.modern(),
    start: (peer: TestPeer.TestPeer) => Tasking.begin(peer, "work")
  }
}

/** Polls until the task has a message that `holds`. */
const saying = (
  peer: TestPeer.TestPeer,
  taskId: string,
  holds: (message: unknown) => boolean
): Effect.Effect<JsonObject, any> =>
  Effect.flatMap(
    Tasking.result(peer, "tasks/get", { taskId }),
    (task) => holds(task.statusMessage) ? Effect.succeed(task) : saying(peer, taskId, holds)
  )

for (const [version, { connect, start }] of Object.entries(eras)) {
  describe(`The progress of a task at ${version}`, () => {
    it.scoped("is the message of its status, also for a client that comes later, and not of its end", () =>
      Effect.gen(function*() {
        const { end, tools } = yield* reporting(({ progress }) =>
          Effect.zipRight(progress(1), progress(2, { total: 3, message: "reading" }))
        )
        yield* Tasking.onServer(
          Effect.gen(function*() {
            const { taskId } = yield* start(yield* connect)
            const later = yield* connect
            assert.strictEqual((yield* saying(later, taskId, (message) => message === "reading")).status, "working")
            yield* end
            assert.notProperty(yield* Tasking.reached(later, taskId, "completed"), "statusMessage")
          }),
          Tasking.serving(undefined, {}, {}, tools)
        )
      }))

    it.scoped("is said in numbers where the handler has no words, and cut where it has too many", () =>
      Effect.gen(function*() {
        const next = yield* Deferred.make<void>()
        const more = yield* Deferred.make<void>()
        const { tools } = yield* reporting(({ progress }) =>
          progress(4).pipe(
            Effect.zipRight(Deferred.await(next)),
            Effect.zipRight(progress(5, { total: 10 })),
            Effect.zipRight(Deferred.await(more)),
            Effect.zipRight(progress(6, { message: "x".repeat(5000) }))
          )
        )
        yield* Tasking.onServer(
          Effect.gen(function*() {
            const peer = yield* connect
            const { taskId } = yield* start(peer)
            yield* saying(peer, taskId, (message) => message === "4")
            yield* Deferred.succeed(next, undefined)
            yield* saying(peer, taskId, (message) => message === "5 of 10")
            yield* Deferred.succeed(more, undefined)
            yield* saying(peer, taskId, (message) => message === "x".repeat(1000))
          }),
          Tasking.serving(undefined, {}, {}, tools)
        )
      }))

    it.scoped("is written once at a time, the newest wins, and no report waits for the store", () =>
      Effect.gen(function*() {
        const written: Array<string | undefined> = []
        const gate = yield* Deferred.make<void>()
        let running = 0
        const store = yield* Tasking.store(({ replace }): Partial<TaskStore.TaskStoreService> => ({
          replace: (task) =>
            Effect.suspend(() => {
              assert.strictEqual(++running, 1)
              written.push(task.statusMessage)
              return Effect.ensuring(
                Effect.zipRight(Deferred.await(gate), replace(task)),
                Effect.sync(() => void running--)
              )
            })
        }))
        const { tools } = yield* reporting(({ progress }) =>
          Effect.forEach(
            Array.from({ length: 10_000 }, (_, n) => n),
            (n) => Effect.zipRight(n % 100 === 0 ? Effect.yieldNow() : Effect.void, progress(n))
          ).pipe(Effect.zipRight(Deferred.succeed(gate, undefined)))
        )
        yield* Tasking.onServer(
          Effect.gen(function*() {
            const peer = yield* connect
            const { taskId } = yield* start(peer)
            yield* saying(peer, taskId, (message) => message === "9999")
            assert.isAtMost(written.length, 3, written.join())
          }),
          Tasking.serving(store, {}, {}, tools)
        )
      }))

    it.scoped("that the store does not take harms neither the task nor its end", () =>
      Effect.gen(function*() {
        let refused = 0
        const store = yield* Tasking.store(({ replace }): Partial<TaskStore.TaskStoreService> => ({
          replace: (task) =>
            Effect.suspend(() => {
              if (task.statusMessage === undefined) return replace(task)
              refused++
              return Effect.die("a bug of the store")
            })
        }))
        const { end, tools } = yield* reporting(({ progress }) => progress(1))
        yield* Tasking.onServer(
          Effect.gen(function*() {
            const peer = yield* connect
            const { taskId } = yield* start(peer)
            yield* until(() => refused > 0)
            yield* end
            yield* Tasking.reached(peer, taskId, "completed")
          }),
          Tasking.serving(store, {}, {}, tools)
        )
      }))
  })
}

describe("A client", () => {
  it.scoped("of 2025-11-25 is notified of the progress of its task, which it may not have asked for", () =>
    Effect.gen(function*() {
      const { end, tools } = yield* reporting(({ progress }) => progress(1, { message: "reading" }))
      yield* Tasking.onServer(
        Effect.gen(function*() {
          const peer = yield* Tasking.legacy()
          const { taskId } = yield* Tasking.start(peer, "work")
          assert.deepInclude(yield* peer.expectNotification("notifications/tasks/status"), {
            taskId,
            status: "working",
            statusMessage: "reading"
          })
          yield* end
          const { status, statusMessage } = yield* peer.expectNotification("notifications/tasks/status")
          assert.deepStrictEqual([status, statusMessage], ["completed", undefined])
        }),
        Tasking.serving(undefined, {}, {}, tools)
      )
    }))

  it.scoped("of 2026-07-28 is notified of the progress of a task that it listens to", () =>
    Effect.gen(function*() {
      const begin = yield* Deferred.make<void>()
      const { tools } = yield* reporting(({ progress }) =>
        Effect.zipRight(Deferred.await(begin), progress(1, { message: "reading" }))
      )
      yield* Tasking.onServer(
        Effect.gen(function*() {
          const peer = yield* Tasking.modern()
          const { taskId } = yield* Tasking.begin(peer, "work")
          yield* peer.request("subscriptions/listen", { notifications: { taskIds: [taskId] } })
          yield* peer.expectNotification("notifications/subscriptions/acknowledged")
          yield* Deferred.succeed(begin, undefined)
          const { status, statusMessage } = yield* peer.expectNotification("notifications/tasks")
          assert.deepStrictEqual([status, statusMessage], ["working", "reading"])
        }),
        Tasking.serving(undefined, {}, {}, tools)
      )
    }))
})
