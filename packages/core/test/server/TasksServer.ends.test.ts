import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer, Stream, TestClock } from "effect"
import * as Modern from "./modern/Modern.js"
import { byHeader, connect, logbook, serve } from "./Serving.js"
import * as Tasking from "./Tasking.js"

const declaring = {
  capabilities: { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } }
}

const modern = Effect.tap(
  TestPeer.client({ extensions: [TasksServer.extension] }),
  (peer) => Effect.addFinalizer(() => peer.hangUp)
)

const serving = (
  features: Parameters<typeof serve>[0],
  store: TaskStore.TaskStoreService,
  options: TasksServer.Options = {},
  more: object = {}
) =>
  Layer.provide(
    serve(Layer.merge(features as Layer.Layer<never>, TasksServer.layerWith(options)), {
      extensions: [TasksServer.extension],
      ...more
    }),
    Layer.succeed(TaskStore.TaskStore, store)
  )

const reached = (
  store: TaskStore.TaskStoreService,
  taskId: unknown,
  status: string
): Effect.Effect<TaskStore.StoredTask, TaskStore.TaskStoreError> =>
  Stream.runHead(Stream.filter(store.changes(null, String(taskId)), (task) => task.status === status)).pipe(
    Effect.flatMap((found) => found._tag === "Some" ? Effect.succeed(found.value) : Effect.die("The task is gone"))
  )

describe("A task", () => {
  it.scopedLive("ends with an error when a finalizer of its handler dies", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const { layer } = logbook()
      const handler = Effect.as(Effect.addFinalizer(() => Effect.die("a bug")), "done")
      const features = Layer.mergeAll(
        McpServer.tool(Tool.make("first", { task: "optional" }), () => handler),
        McpServer.tool(Tool.make("later", { task: "optional" }), () => handler, { startsTask: true })
      )
      yield* Effect.gen(function*() {
        const peer = yield* modern
        const { taskId } = yield* Modern.call(peer, "first", {}, declaring)
        const { outcome } = yield* reached(store, taskId, "completed")
        assert.deepNestedInclude(outcome, { "result.isError": true })
        assert.strictEqual((yield* Modern.call(peer, "later", {}, declaring)).isError, true)
      }).pipe(Effect.scoped, Effect.provide(serving(features, store)), Effect.provide(layer))
    }))

  it.scopedLive("that is refused releases what the call has acquired", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      let released = 0
      const middleware = Middleware.make((_, next) =>
        Effect.zipRight(Effect.addFinalizer(() => Effect.sync(() => void released++)), next)
      )
      const features = McpServer.tool(Tool.make("held", { task: "optional" }), () => Effect.never)
      yield* Effect.gen(function*() {
        const peer = yield* modern
        yield* Modern.error(peer, "tools/call", { name: "held" }, declaring)
        assert.strictEqual(released, 1)
      }).pipe(Effect.scoped, Effect.provide(serving(features, store, { limits: { maxRunning: 0 } }, { middleware })))
    }))

  it.scopedLive("counts among the running ones from before the store has it", () =>
    Effect.gen(function*() {
      const memory = yield* TaskStore.memory()
      const asked = yield* Deferred.make<void>()
      const open = yield* Deferred.make<void>()
      const store: TaskStore.TaskStoreService = {
        create: (task) =>
          Effect.zipRight(
            Deferred.succeed(asked, undefined),
            Effect.zipRight(Deferred.await(open), memory.create(task))
          ),
        get: memory.get,
        replace: memory.replace,
        list: memory.list,
        changes: memory.changes
      }
      const features = McpServer.tool(Tool.make("held", { task: "optional" }), () => Effect.never)
      yield* Effect.gen(function*() {
        const peer = yield* modern
        const first = yield* Modern.request(peer, "tools/call", { name: "held" }, declaring)
        yield* Deferred.await(asked)
        yield* Modern.error(peer, "tools/call", { name: "held" }, declaring)
        yield* Deferred.succeed(open, undefined)
        assert.strictEqual((yield* peer.expectResult(first)).resultType, "task")
      }).pipe(Effect.scoped, Effect.provide(serving(features, store, { limits: { maxRunning: 1 } })))
    }))

  for (const era of ["legacy", "modern"] as const) {
    it.scopedLive(
      `is cancelled with its call, when the client cancels that before it knows of the task (${era})`,
      () =>
        Effect.gen(function*() {
          const open = yield* Deferred.make<void>()
          const asked = yield* Deferred.make<void>()
          const slow = yield* Tasking.store(({ create }) => ({
            create: (task) =>
              Effect.zipRight(Deferred.succeed(asked, undefined), Effect.zipRight(Deferred.await(open), create(task)))
          }))
          yield* Tasking.onServer(
            Effect.gen(function*() {
              const peer = yield* Tasking.unchecked[era]
              const id = yield* peer.request("tools/call", { name: "wait", ...(era === "legacy" ? { task: {} } : {}) })
              yield* Deferred.await(asked)
              yield* peer.notify("notifications/cancelled", { requestId: id })
              yield* peer.expectSilence
              yield* Deferred.succeed(open, undefined)
              const created = Effect.map(Effect.orDie(slow.list(null, { limit: 2 })), ({ tasks }) => tasks)
              yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), created), {
                until: ([task]) => task?.version === 2
              })
              const [task] = yield* created
              assert.deepStrictEqual([task?.status, task?.outcome], ["cancelled", undefined])
            }),
            Tasking.serving(slow)
          )
        })
    )
  }

  it.scoped("counts for its owner only", () =>
    Tasking.onServer(
      Effect.gen(function*() {
        const ada = yield* Tasking.modern("ada")
        yield* Tasking.begin(ada, "wait")
        const { message } = yield* Tasking.error(ada, "tools/call", { name: "wait" })
        assert.include(message, "1 tasks are running")
        yield* Tasking.begin(yield* Tasking.modern("bob"), "wait")
      }),
      Tasking.serving(undefined, { limits: { maxRunning: 1 } }, byHeader)
    ))

  it.scopedLive("is one, however often its handler begins it", () =>
    Effect.gen(function*() {
      const memory = yield* TaskStore.memory()
      const store: TaskStore.TaskStoreService = {
        create: (task) => Effect.zipRight(Effect.yieldNow(), memory.create(task)),
        get: memory.get,
        replace: memory.replace,
        list: memory.list,
        changes: memory.changes
      }
      const features = McpServer.tool(
        Tool.make("twice", { task: "optional" }),
        () =>
          Effect.flatMap(ServerSession, ({ startTask }) =>
            Effect.zipRight(
              Effect.all([startTask, startTask], { concurrency: "unbounded", discard: true }),
              Effect.never
            )),
        { startsTask: true }
      )
      yield* Effect.gen(function*() {
        const peer = yield* modern
        yield* Modern.call(peer, "twice", {}, declaring)
        yield* Effect.sleep(20)
        assert.strictEqual((yield* store.list(null, { limit: 10 })).tasks.length, 1)
      }).pipe(Effect.scoped, Effect.provide(serving(features, store)))
    }))

  it.scoped("that expires ends the requests that wait for its result", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const features = McpServer.tool(Tool.make("held", { task: "optional" }), () => Effect.never)
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25")
        const { task } = yield* Effect.flatMap(
          peer.request("tools/call", { name: "held", task: { ttl: 1000 } }),
          peer.expectResult
        )
        const id = yield* peer.request("tasks/result", { taskId: (task as JsonObject).taskId })
        yield* peer.expectError(yield* peer.request("tasks/get", { taskId: "unknown" }))
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* peer.expectError(id)).code, -32602)
      }).pipe(Effect.scoped, Effect.provide(serving(features, store)))
    }))

  it.scopedLive("waits for its answer when the client that was asked disconnects", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const ask = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
      const features = McpServer.tool(Tool.make("asking", { task: "optional" }), () => Effect.as(ask, "done"))
      yield* Effect.gen(function*() {
        const peer = yield* connect("2025-11-25", { elicitation: { form: {} } })
        const { task } = yield* Effect.flatMap(
          peer.request("tools/call", { name: "asking", task: {} }),
          peer.expectResult
        )
        const { taskId } = task as JsonObject
        yield* peer.request("tasks/result", { taskId })
        yield* peer.expectNotification("notifications/tasks/status")
        yield* peer.expectRequest("elicitation/create")
        yield* peer.hangUp
        yield* Effect.sleep(50)
        assert.strictEqual((yield* reached(store, taskId, "input_required")).status, "input_required")
      }).pipe(Effect.scoped, Effect.provide(serving(features as never, store)))
    }))

  it.scopedLive("that was cancelled asks nothing any more, and its handler ends", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const ended = yield* Deferred.make<void>()
      const ask = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
      const features = Layer.merge(
        McpServer.tool(Tool.make("asking", { task: "optional" }), () =>
          Effect.ensuring(
            Effect.onInterrupt(Effect.never, () => Effect.exit(ask)),
            Deferred.succeed(ended, undefined)
          )),
        McpServer.tool(Tool.make("patient", { task: "optional" }), () =>
          Effect.ensuring(Effect.uninterruptible(Effect.asVoid(Effect.exit(ask))), Deferred.succeed(ended, undefined)))
      ) as never
      yield* Effect.gen(function*() {
        const peer = yield* modern
        for (const [name, status] of [["asking", "working"], ["patient", "input_required"]] as const) {
          const { taskId } = yield* Modern.call(peer, name, {}, declaring)
          yield* reached(store, taskId, status)
          yield* Modern.result(peer, "tasks/cancel", { taskId: taskId as string }, declaring)
          yield* Deferred.await(ended)
        }
      }).pipe(Effect.scoped, Effect.provide(serving(features, store)))
    }))

  it.scopedLive(
    "notifies of its end also with a store that answers after it has told of the change",
    () =>
      Effect.gen(function*() {
        const memory = yield* TaskStore.memory()
        const store: TaskStore.TaskStoreService = {
          create: memory.create,
          get: memory.get,
          replace: (task) => Effect.tap(memory.replace(task), () => Effect.sleep(5)),
          list: memory.list,
          changes: memory.changes
        }
        const go = yield* Deferred.make<void>()
        const features = McpServer.tool(
          Tool.make("quick", { task: "optional" }),
          () => Effect.as(Deferred.await(go), "q")
        )
        yield* Effect.gen(function*() {
          const peer = yield* modern
          const { taskId } = yield* Modern.call(peer, "quick", {}, declaring)
          yield* Modern.request(peer, "subscriptions/listen", {
            notifications: { taskIds: [taskId as string] }
          }, declaring)
          yield* peer.expectNotification("notifications/subscriptions/acknowledged")
          yield* Deferred.succeed(go, undefined)
          const params = yield* peer.expectNotification("notifications/tasks")
          assert.strictEqual(params.status, "completed")
        }).pipe(Effect.scoped, Effect.provide(serving(features, store)))
      })
  )

  it.scoped("is interrupted after its time also when the store lost its changes", () =>
    Effect.gen(function*() {
      const memory = yield* TaskStore.memory()
      const { layer } = logbook()
      const store: TaskStore.TaskStoreService = {
        create: memory.create,
        get: memory.get,
        replace: memory.replace,
        list: memory.list,
        changes: () => Stream.fail(new TaskStore.TaskStoreError({ reason: "Unavailable", message: "lost" }))
      }
      const interrupted = yield* Deferred.make<void>()
      const features = McpServer.tool(Tool.make("held", { task: "optional" }), () =>
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      yield* Effect.gen(function*() {
        const peer = yield* modern
        yield* Modern.call(peer, "held", {}, declaring)
        yield* TestClock.adjust("2 hours")
        yield* Deferred.await(interrupted)
      }).pipe(Effect.scoped, Effect.provide(serving(features, store)), Effect.provide(layer))
    }))

  for (
    const [era, client, begin] of [["legacy", Tasking.legacy, Tasking.start], [
      "modern",
      Tasking.modern,
      Tasking.begin
    ]] as const
  ) {
    it.scoped(
      `is polled in vain while the store is away, of which the log says when it begins (${era})`,
      () =>
        Effect.gen(function*() {
          let isAway = false
          const store = yield* Tasking.store(({ get }) => ({
            get: (owner, taskId) =>
              isAway
                ? new TaskStore.TaskStoreError({ reason: "Unavailable", message: "ECONNREFUSED" })
                : get(owner, taskId)
          }))
          const { layer, lines } = logbook()
          yield* Tasking.onServer(
            Effect.gen(function*() {
              const peer = yield* client()
              const { taskId } = yield* begin(peer, "wait")
              for (const times of [1, 2]) {
                isAway = true
                for (let n = 0; n < 10; n++) {
                  const { message } = yield* Tasking.error(peer, "tasks/get", { taskId })
                  assert.strictEqual(message, "The store of tasks cannot be reached at the moment; try again")
                }
                assert.lengthOf(lines.filter(({ message }) => message.includes("ECONNREFUSED")), times)
                isAway = false
                yield* Tasking.result(peer, "tasks/get", { taskId })
              }
            }),
            Tasking.serving(store)
          ).pipe(Effect.provide(layer))
        })
    )
  }

  for (const back of ["comes back", "comes back when the server closes"]) {
    it.scoped(`ends as its handler did when the store was away for a minute and ${back}`, () =>
      Effect.gen(function*() {
        let isAway = false
        let tries = 0
        const memory = yield* TaskStore.memory()
        const store = yield* Tasking.store(() => ({
          ...memory,
          replace: (task) =>
            isAway && ++tries > 0
              ? new TaskStore.TaskStoreError({ reason: "Unavailable", message: "ECONNREFUSED" })
              : memory.replace(task)
        }))
        const gate = yield* Effect.makeLatch()
        const features = McpServer.tool(Tool.make("held", { task: "optional" }), () =>
          gate.whenOpen(Effect.succeed("done")))
        const status = (taskId: unknown) =>
          Effect.map(memory.get(null, String(taskId)), (found) =>
            found._tag === "Some" ? found.value.status : "gone")
        const taskId = yield* Effect.gen(function*() {
          const peer = yield* modern
          const { taskId } = yield* Modern.call(peer, "held", {}, declaring)
          isAway = true
          yield* gate.open
          yield* TestClock.adjust("1 minute")
          assert.isAbove(tries, 6)
          assert.strictEqual(yield* status(taskId), "working")
          isAway = false
          if (back === "comes back") {
            yield* TestClock.adjust("1 second")
            assert.strictEqual(yield* status(taskId), "completed")
          }
          return taskId
        }).pipe(Effect.scoped, Effect.provide(serving(features, store)), Effect.provide(logbook().layer))
        assert.strictEqual(yield* status(taskId), "completed")
      }))
  }
})
