import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { NotNegotiated, TaskEnded } from "@effect-mcp/core/ClientError"
import type * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Deferred, Effect, Either, Fiber, Layer, Option, Queue, Schema, type Scope, Stream } from "effect"

const Sum = Tool.make("sum", {
  parameters: { values: Schema.Array(Schema.NumberFromString) },
  success: Schema.Struct({ sum: Schema.NumberFromString }),
  failure: Schema.Struct({ empty: Schema.Boolean }),
  task: "required"
})
const SumLive = McpServer.tool(Sum, ({ values }) =>
  values.length === 0
    ? Effect.fail({ empty: true })
    : Effect.succeed({ sum: values.reduce((sum, value) => sum + value, 0) }))

const Endless = Tool.make("endless", { task: "required" })

/** A tool whose calls never end, and what is known of those that were interrupted. */
const endless = Effect.map(Effect.all([Queue.unbounded<void>(), Queue.unbounded<void>()]), ([started, ended]) => {
  let count = 0
  const noted = Effect.suspend(() => {
    count++
    return Queue.offer(ended, undefined)
  })
  return {
    interrupted: { started: Queue.take(started), next: Queue.take(ended), count: () => count },
    layer: McpServer.tool(
      Endless,
      () => Effect.onInterrupt(Effect.zipRight(Queue.offer(started, undefined), Effect.never), () => noted)
    )
  }
})

const Confirm = Tool.make("confirm", { task: "required" })
const ConfirmLive = McpServer.tool(Confirm, () =>
  Effect.flatMap(ServerSession, ({ elicit }) =>
    Effect.map(
      elicit({ message: "Go on?", schema: Schema.Struct({ sure: Schema.Boolean }) }),
      (answer) => answer.action === "accept" ? `sure: ${answer.content.sure}` : answer.action
    )))

const WorkLive = McpServer.tool(
  Tool.make("work", { task: "required" }),
  () =>
    Effect.flatMap(
      RequestContext,
      ({ progress }) => progress(1, { message: "reading" }).pipe(Effect.zipRight(Effect.sleep(500)), Effect.as("done"))
    )
)

const eras = ["2025-11-25", "2026-07-28"] as const

/** A client of a server with tasks, at this revision. */
const serving = <E, R>(
  version: (typeof eras)[number],
  features: Layer.Layer<never, E, R>,
  options: {
    readonly client?: Layer.Layer<never, never, ClientFeatures.ClientFeatures>
    readonly tasks?: TasksServer.Options
    readonly store?: TaskStore.TaskStoreService
    readonly transport?: "direct"
  } = {}
) =>
  TestServer.layer(
    Definition.make(),
    Layer.merge(features, TasksServer.layerWith({ pollInterval: 50, ...options.tasks })) as Layer.Layer<
      never,
      E,
      Registry | TaskStore.TaskStore
    >,
    {
      versions: [version],
      extensions: [TasksServer.extension],
      transport: options.transport,
      client: { extensions: [TasksClient.extension], features: options.client }
    }
  ).pipe(Layer.provide(
    options.store === undefined ? TaskStore.layerMemory : Layer.succeed(TaskStore.TaskStore, options.store)
  ))

/** One test in both eras. */
const both = (
  name: string,
  test: (version: (typeof eras)[number]) => Effect.Effect<void, unknown, Scope.Scope>
) => {
  for (const version of eras) it.scopedLive(`${name}, at ${version}`, () => test(version))
}

const text = (text: string) => ({ content: [{ type: "text" as const, text }] })

// Many of the tests wait for the next poll or for a timeout: they wait together.
describe.concurrent("A call without interest in tasks", () => {
  both("reports the progress of its task to `onProgress`", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      const said = yield* Deferred.make<void>()
      const heard: Array<string | undefined> = []
      const result = yield* client.callTool("work", {}, {
        onProgress: ({ message, progress }) =>
          Effect.zipRight(
            Effect.sync(() => {
              assert.isAbove(progress, heard.length)
              heard.push(message)
            }),
            Deferred.succeed(said, undefined)
          )
      }).pipe(Effect.zipLeft(Deferred.await(said)))
      assert.deepStrictEqual([result.content, ...heard], [text("done").content, "reading"])
    }).pipe(Effect.provide(serving(version, WorkLive))))

  both(
    "finds the progress of a task in its status, also when it was attached to later",
    (version) =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const { taskId } = yield* client.tasks.start("work")
        const { status } = yield* client.tasks.attach(Option.getOrThrow(taskId))
        const messages = status.pipe(
          Stream.map(({ status, statusMessage }) => `${status} ${statusMessage}`),
          Stream.changes,
          Stream.dropWhile((line) => line === "working undefined"),
          Stream.runCollect
        )
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* messages), ["working reading", "completed undefined"])
      }).pipe(Effect.provide(serving(version, WorkLive)))
  )

  both("MUST wait for the result of the task that it has become", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      const calls = Client.of(client, Definition.make(Sum))
      assert.deepStrictEqual(yield* calls.sum({ values: [1, 2] }), { sum: 3 })
      assert.deepStrictEqual(yield* Effect.flip(calls.sum({ values: [] })), { empty: true })
      assert.deepStrictEqual((yield* client.callTool("sum", { values: ["1"] })).structuredContent, { sum: "1" })
    }).pipe(Effect.provide(serving(version, SumLive))))

  both("answers the questions of the task with the features of the client", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      assert.deepInclude(yield* client.callTool("confirm"), text("sure: true"))
    }).pipe(Effect.provide(
      serving(version, ConfirmLive, {
        client: TestFeatures.elicitation([{ action: "accept", content: { sure: true } }])
      })
    )))

  both(
    "cancels the task when it is interrupted, or its time is over, and not otherwise",
    (version) =>
      Effect.gen(function*() {
        const { interrupted, layer } = yield* endless
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const fiber = yield* Effect.fork(client.callTool("endless"))
          yield* interrupted.started
          yield* Fiber.interrupt(fiber)
          yield* interrupted.next
          const error = yield* Effect.flip(client.callTool("endless", {}, { maxTotalTimeout: 1000 }))
          assert.deepInclude(error, { _tag: "RequestTimeout", method: "tools/call", millis: 1000 })
          yield* interrupted.next
          assert.strictEqual(interrupted.count(), 2)
          yield* Effect.flip(client.callTool("endless", {}, { maxTotalTimeout: 1000, cancelOnAbandon: false }))
          assert.strictEqual(interrupted.count(), 2)
        }).pipe(Effect.provide(serving(version, layer)))
      })
  )

  both("is not cut by the timeout of a request: a task may live longer", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      assert.deepInclude(yield* client.callTool("slow", {}, { timeout: 1000 }), text("done"))
    }).pipe(Effect.provide(
      serving(
        version,
        McpServer.tool(Tool.make("slow", { task: "required" }), () => Effect.delay(Effect.succeed("done"), 2000))
      )
    )))

  both("is made through a group of servers too", (version) =>
    Effect.scoped(Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      yield* group.add("one", yield* Client.Client)
      assert.deepStrictEqual((yield* group.callTool("sum", { values: ["1"] })).structuredContent, { sum: "1" })
    })).pipe(Effect.provide(serving(version, SumLive))))
})

describe.concurrent("The task of a tool", () => {
  both("has a status that ends, and a result that is decoded as that of a call", (version) =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const Wait = McpServer.tool(Sum, () => Effect.as(Deferred.await(go), { sum: 7 }))
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const task = yield* TasksClient.start(client, Sum, { values: [] }, { ttl: "1 minute" })
        assert.isTrue(Option.isSome(task.taskId))
        const states = yield* Effect.fork(Stream.runCollect(
          Stream.tap(task.status, ({ status }) => status === "working" ? Deferred.succeed(go, undefined) : Effect.void)
        ))
        assert.deepStrictEqual(yield* task.result, { sum: 7 })
        const seen = Chunk.toReadonlyArray(yield* Fiber.join(states)).map(({ status }) => status)
        assert.deepStrictEqual([seen[0], seen.at(-1)], ["working", "completed"])
        // Again, and after the end.
        assert.deepStrictEqual(yield* task.result, { sum: 7 })
        yield* task.cancel
      }).pipe(Effect.provide(serving(version, Wait)))
    }))

  both("has a status that tells each state once, however often it is requested", (version) =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const go = yield* Deferred.make<void>()
      let reads = 0
      const counting: TaskStore.TaskStoreService = {
        ...store,
        get: (owner, taskId) =>
          Effect.tap(store.get(owner, taskId), () => ++reads > 4 ? Deferred.succeed(go, undefined) : Effect.void)
      }
      const Wait = McpServer.tool(Sum, () => Effect.as(Deferred.await(go), { sum: 7 }))
      yield* Effect.gen(function*() {
        const task = yield* TasksClient.start(yield* Client.Client, Sum, { values: [] })
        const seen = Chunk.toReadonlyArray(yield* Stream.runCollect(task.status)).map(({ status }) => status)
        assert.deepStrictEqual(seen, ["working", "completed"])
      }).pipe(Effect.provide(serving(version, Wait, { store: counting })))
    }))

  both("fails with the failure that the definition declares", (version) =>
    Effect.gen(function*() {
      const task = yield* TasksClient.start(yield* Client.Client, Sum, { values: [] })
      assert.deepStrictEqual(yield* Effect.flip(task.result), { empty: true })
    }).pipe(Effect.provide(serving(version, SumLive))))

  both(
    "is not cancelled by interrupting what waits for it; a later client attaches to it",
    (version) =>
      Effect.gen(function*() {
        const store = yield* TaskStore.memory()
        const go = yield* Deferred.make<void>()
        const Wait = McpServer.tool(Sum, () => Effect.as(Deferred.await(go), { sum: 7 }))
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const task = yield* TasksClient.start(client, Sum, { values: [] })
          const first = yield* Effect.fork(task.result)
          yield* Effect.yieldNow()
          yield* Fiber.interrupt(first)
          const taskId = Option.getOrThrow(task.taskId)
          const dispatcher = yield* TestServer.connector({ extensions: [TasksServer.extension] })
          yield* Deferred.succeed(go, undefined)
          yield* Effect.scoped(Effect.gen(function*() {
            const later = yield* Client.make(dispatcher, { versions: [version], extensions: [TasksClient.extension] })
            assert.deepStrictEqual(yield* (yield* TasksClient.attach(later, Sum, taskId)).result, { sum: 7 })
            const raw = yield* TasksClient.attach(later, "sum", taskId)
            assert.deepStrictEqual((yield* raw.result).structuredContent, { sum: "7" })
          }))
        }).pipe(Effect.provide(serving(version, Wait, { store })))
      })
  )

  both("ends without a result when it was cancelled, for all that wait for it", (version) =>
    Effect.gen(function*() {
      const { interrupted, layer } = yield* endless
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const task = yield* TasksClient.start(client, Endless)
        const other = yield* TasksClient.attach(client, Endless, Option.getOrThrow(task.taskId))
        const waiting = yield* Effect.fork(Effect.all([task.result, other.result].map(Effect.flip), { concurrency: 2 }))
        const states = yield* Effect.fork(Stream.runLast(other.status))
        yield* interrupted.started
        yield* task.cancel
        for (const error of yield* Fiber.join(waiting)) {
          assert.instanceOf(error, TaskEnded)
          assert.deepInclude(error, { reason: "Cancelled" })
        }
        assert.deepInclude(Option.getOrThrow(yield* Fiber.join(states)), { status: "cancelled" })
        yield* other.cancel
      }).pipe(Effect.provide(serving(version, layer)))
    }))

  both("has one outcome when it is cancelled while it completes", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      for (let i = 0; i < 20; i++) {
        const task = yield* TasksClient.start(client, Sum, { values: [1] })
        const [result] = yield* Effect.all([Effect.either(task.result), task.cancel], { concurrency: 2 })
        const again = yield* Effect.either(task.result)
        assert.deepStrictEqual(Either.isRight(result), Either.isRight(again))
        if (Either.isRight(result)) assert.deepStrictEqual(result.right, { sum: 1 })
        else assert.instanceOf(result.left, TaskEnded)
      }
    }).pipe(Effect.provide(serving(version, SumLive))))

  both("is gone when its time to live has passed, or the server never had it", (version) =>
    Effect.gen(function*() {
      const { layer } = yield* endless
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const task = yield* TasksClient.start(client, Endless)
        const unknown = yield* TasksClient.attach(client, Endless, "never")
        for (const one of [task, unknown]) {
          const error = yield* Effect.flip(one.result)
          assert.deepInclude(error, { _tag: "TaskEnded", reason: "Gone" })
          assert.include((error as TaskEnded).message, "Start the tool again")
          assert.deepInclude(yield* Effect.flip(Stream.runDrain(one.status)), { _tag: "TaskEnded", reason: "Gone" })
          assert.deepInclude(yield* Effect.flip(one.cancel), { _tag: "TaskEnded", reason: "Gone" })
        }
      }).pipe(Effect.provide(serving(version, layer, { tasks: { ttl: 200 } })))
    }))

  both("asks the user once, however many wait for its result", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      const task = yield* TasksClient.start(client, "confirm")
      const results = yield* Effect.all([task.result, task.result, task.result], { concurrency: 3 })
      for (const result of results) assert.deepInclude(result, text("sure: true"))
    }).pipe(Effect.provide(
      serving(version, ConfirmLive, {
        client: TestFeatures.elicitation([{ action: "accept", content: { sure: true } }])
      })
    )))

  both("is none when the server has answered the call at once", (version) =>
    Effect.gen(function*() {
      const task = yield* TasksClient.start(yield* Client.Client, "quick")
      assert.deepStrictEqual(task.taskId, Option.none())
      assert.deepInclude(yield* task.result, text("quick"))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Stream.runCollect(task.status)), [])
      yield* task.cancel
    }).pipe(Effect.provide(serving(version, McpServer.tool(Tool.make("quick"), () => Effect.succeed("quick"))))))

  both("is one of hundreds that a client waits for", (version) =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      const tasks = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, i) => i),
        (value) => TasksClient.start(client, Sum, { values: [value] }),
        { concurrency: 20 }
      )
      const results = yield* Effect.all(tasks.map(({ result }) => result), { concurrency: "unbounded" })
      assert.deepStrictEqual(results.map(({ sum }) => sum), results.map((_, i) => i))
    }).pipe(Effect.provide(serving(version, SumLive, { tasks: { limits: { maxRunning: 300 } }, transport: "direct" }))))

  it.scopedLive("SHOULD be listed at 2025-11-25, and is not by later revisions", () =>
    Effect.gen(function*() {
      const client = yield* Client.Client
      const task = yield* TasksClient.start(client, Sum, { values: [1] })
      const error = yield* Effect.flip(Stream.runDrain(TasksClient.list(client)))
      assert.instanceOf(error, NotNegotiated)
      assert.isTrue(Option.isSome(task.taskId))
    }).pipe(Effect.provide(serving("2026-07-28", SumLive))))

  it.scopedLive("MUST carry one progress token through its life, at 2025-11-25", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const reporting = Effect.flatMap(RequestContext, ({ progress }) =>
        Effect.zipRight(
          Deferred.await(go),
          Effect.forEach([1, 2, 3], (step) => progress(step), { discard: true })
        ))
      const layer = McpServer.tool(Tool.make("steps", { task: "required" }), () => Effect.as(reporting, "done"))
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const heard: Array<number> = []
        const task = yield* TasksClient.start(client, "steps", {}, {
          onProgress: ({ progress }) => Effect.sync(() => void heard.push(progress))
        })
        const progress = yield* Effect.fork(Stream.runCollect(task.progress))
        const result = yield* Effect.fork(task.result)
        yield* Effect.sleep(50)
        yield* Deferred.succeed(go, undefined)
        assert.deepInclude(yield* Fiber.join(result), text("done"))
        assert.deepStrictEqual(heard, [1, 2, 3])
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(progress)).map((one) => one.progress), heard)
        yield* client.callTool("steps", {}, {
          onProgress: ({ progress }) => Effect.sync(() => void heard.push(progress))
        })
        assert.deepStrictEqual(heard, [1, 2, 3, 1, 2, 3])
      }).pipe(Effect.provide(serving("2025-11-25", layer)))
    }))
})
