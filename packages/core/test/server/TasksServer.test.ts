import { assert, describe, it } from "@effect/vitest"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Registry from "@effect-mcp/core/Registry"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Cause, Deferred, Effect, Exit, Layer } from "effect"
import * as Modern from "./modern/Modern.js"
import { connect, logbook, result, serve } from "./Serving.js"
import * as Tasking from "./Tasking.js"

const Endless = Tool.make("endless", { task: "optional" })
const EndlessLive = McpServer.tool(Endless, () => Effect.never)

const declaring = { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } }

const server = (options?: TasksServer.Options) =>
  Layer.provide(
    serve(Layer.merge(EndlessLive, TasksServer.layerWith(options)), { extensions: [TasksServer.extension] }),
    TaskStore.layerMemory
  )

const modern = Effect.tap(
  TestPeer.client({ extensions: [TasksServer.extension] }),
  (peer) => Effect.addFinalizer(() => peer.hangUp)
)

const legacyTask = (peer: TestPeer.TestPeer, ttl?: number) =>
  Effect.map(
    Effect.flatMap(
      peer.request("tools/call", { name: "endless", task: ttl === undefined ? {} : { ttl } }),
      peer.expectResult
    ),
    ({ task }) => task as { readonly taskId: string; readonly ttl: number; readonly pollInterval: number }
  )

describe("The tasks of a server", () => {
  it.scoped("serve clients of both eras at the same time, and neither sees the tasks of the other", () =>
    Effect.gen(function*() {
      const old = yield* connect("2025-11-25")
      const young = yield* modern
      const ofOld = yield* legacyTask(old)
      const ofYoung = yield* Modern.call(young, "endless", {}, declaring)
      assert.strictEqual(ofYoung.resultType, "task")
      const foreign = yield* Modern.error(young, "tasks/get", { taskId: ofOld.taskId }, declaring)
      const { code, message } = yield* old.expectError(yield* old.request("tasks/get", { taskId: ofYoung.taskId }))
      const unknown = yield* old.expectError(yield* old.request("tasks/get", { taskId: "unknown" }))
      assert.deepStrictEqual([foreign.code, code, message], [-32602, unknown.code, unknown.message])
    }).pipe(Effect.scoped, Effect.provide(server())))

  it.scoped("are begun for each run of a call that middleware runs twice, and the client gets the last", () =>
    Effect.gen(function*() {
      const { statuses, store } = yield* Tasking.recording
      const middleware = Middleware.make(({ method }, next) =>
        method === "tools/call" ? Effect.zipRight(next, next) : next
      )
      yield* Tasking.onServer(
        Effect.gen(function*() {
          const peer = yield* Tasking.legacy()
          const { task } = yield* Tasking.result(peer, "tools/call", { name: "wait", task: {} })
          const ids = [...statuses.keys()]
          assert.deepStrictEqual([ids.length, (task as JsonObject).taskId], [2, ids[1]])
          yield* Effect.forEach(ids, (taskId) => Tasking.result(peer, "tasks/cancel", { taskId }))
          assert.deepStrictEqual([...statuses.values()], [["working", "cancelled"], ["working", "cancelled"]])
        }),
        Tasking.serving(store, {}, { middleware })
      )
    }))

  it.scoped("are stored as long as the client wants, up to the limit of the server", () =>
    Effect.gen(function*() {
      const peer = yield* connect("2025-11-25")
      const { pollInterval, ttl } = yield* legacyTask(peer)
      assert.deepStrictEqual([ttl, pollInterval], [60_000, 50])
      assert.strictEqual((yield* legacyTask(peer, 5000)).ttl, 5000)
      assert.strictEqual((yield* legacyTask(peer, 1e15)).ttl, 120_000)
      assert.strictEqual((yield* legacyTask(peer, -1)).ttl, 1)
    }).pipe(
      Effect.scoped,
      Effect.provide(server({ ttl: "1 minute", limits: { maxTtl: "2 minutes" }, pollInterval: "50 millis" }))
    ))

  it.scoped("do not exist on a server without `TasksServer.layer`: the call waits for its result", () =>
    Effect.gen(function*() {
      const peer = yield* connect("2025-11-25")
      const result = yield* peer.expectResult(yield* peer.request("tools/call", { name: "quick", task: {} }))
      assert.deepStrictEqual(result, { content: [{ type: "text", text: "quick" }] })
      assert.strictEqual((yield* peer.expectError(yield* peer.request("tasks/get", { taskId: "x" }))).code, -32601)
    }).pipe(
      Effect.scoped,
      Effect.provide(serve(McpServer.tool(Tool.make("quick", { task: "required" }), () => Effect.succeed("quick"))))
    ))

  it.scoped("are surrounded by the middleware of their tool to their end", () =>
    Effect.gen(function*() {
      const steps: Array<string> = []
      const step = (name: string) =>
        Effect.sync(() => {
          steps.push(name)
        })
      const go = yield* Deferred.make<void>()
      const bracket = FeatureMiddleware.make(({ next }) =>
        Effect.acquireUseRelease(step("opened"), () => next, () => step("closed"))
      )
      const Guarded = McpServer.tool(
        Tool.make("guarded", { task: "optional" }),
        () => Effect.zipRight(Deferred.await(go), step("handled"))
      ).pipe(FeatureMiddleware.around(bracket))
      const one = Layer.provide(
        serve(Layer.merge(Guarded, TasksServer.layer), { extensions: [TasksServer.extension] }),
        TaskStore.layerMemory
      )
      yield* Effect.gen(function*() {
        const peer = yield* modern
        const { resultType, taskId } = yield* Modern.call(peer, "guarded", {}, declaring)
        assert.deepStrictEqual([resultType, ...steps], ["task", "opened"])
        yield* Deferred.succeed(go, undefined)
        yield* Effect.repeat(Modern.result(peer, "tasks/get", { taskId }, declaring), {
          until: ({ status }) => status === "completed"
        })
        assert.deepStrictEqual(steps, ["opened", "handled", "closed"])
      }).pipe(Effect.scoped, Effect.provide(one))
    }))

  for (const era of ["legacy", "modern"] as const) {
    it.scopedLive(`end before the server has shut down, a thousand of them, each after its finalizers (${era})`, () =>
      Effect.gen(function*() {
        let released = 0
        const store = yield* TaskStore.memory()
        const Held = McpServer.tool(
          Tool.make("held", { task: "optional" }),
          () =>
            Effect.onInterrupt(Effect.never, () =>
              Effect.sync(() => {
                released++
              }))
        )
        const one = Layer.provide(
          serve(Layer.merge(Held, TasksServer.layerWith({ limits: { maxRunning: 1000 } })), {
            extensions: [TasksServer.extension]
          }),
          Layer.succeed(TaskStore.TaskStore, store)
        )
        yield* Effect.gen(function*() {
          const peer = yield* era === "legacy" ? connect("2025-11-25") : modern
          const call = era === "legacy"
            ? Effect.flatMap(peer.request("tools/call", { name: "held", task: {} }), peer.expectResult)
            : Modern.call(peer, "held", {}, declaring)
          yield* Effect.repeatN(call, 999)
          yield* Modern.silence(peer)
        }).pipe(Effect.scoped, Effect.provide(one))
        assert.strictEqual(released, 1000)
        const { tasks } = yield* store.list(null, { limit: 2000 })
        const message = "The server was shut down before the task ended"
        assert.deepStrictEqual(
          tasks.map(({ status, statusMessage }) => [status, statusMessage]),
          Array.from({ length: 1000 }, () => ["failed", message])
        )
      }))
  }

  it.scoped("cannot be run twice by one server", () =>
    Effect.gen(function*() {
      const twice = serve(Layer.merge(TasksServer.layer, TasksServer.layerWith({ limits: { maxRunning: 1 } })))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Layer.provide(twice, TaskStore.layerMemory))))
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isFailure(exit)) {
        assert.include(Cause.pretty(exit.cause), "has `TasksServer.layer` twice among its features")
      }
    }))

  it.scoped("cannot be added to a server that runs: it has begun without tasks", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Registry.add(TasksServer.layer))
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isFailure(exit)) {
        assert.include(Cause.pretty(exit.cause), "give it to McpServer.layer together with the other features")
      }
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(serve(Layer.empty), TaskStore.layerMemory))))

  it.scoped("are missed by tools that require them, where a server runs none: it warns when it is built, and serves the calls", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const tool = (name: string, task?: "optional" | "required") =>
        McpServer.tool(Tool.make(name, { task }), () => Effect.succeed("done"))
      const tools = Layer.mergeAll(
        tool("render", "required"),
        tool("report", "required"),
        tool("a", "optional"),
        tool("b")
      )
      const given = { extensions: [TasksServer.extension] }
      const withTasks = Layer.provide(serve(Layer.merge(tools, TasksServer.layer), given), TaskStore.layerMemory)
      const called = Effect.gen(function*() {
        const { content } = yield* result(yield* connect("2025-11-25"), "render")
        assert.deepStrictEqual(content, [{ type: "text", text: "done" }])
      })
      yield* Effect.scoped(Layer.build(Layer.provide(withTasks, layer)))
      yield* Effect.scoped(Layer.build(Layer.provide(serve(tools, { versions: ["2025-06-18"] }), layer)))
      assert.deepStrictEqual(lines, [])
      yield* called.pipe(Effect.scoped, Effect.provide(Layer.provide(serve(tools, given), layer)))
      assert.deepStrictEqual(lines.map(({ level, message }) => [level, message]), [[
        "Warning",
        "This server runs no tasks, so these tools, which require a task, are served without a task: \"render\", \"report\". Add " +
        "`TasksServer.layer` to its features"
      ]])
    }))
})
