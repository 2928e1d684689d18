/**
 * Durable tools over the engine in memory: nodes that share a store of tasks, and are closed while their tasks go on.
 */
import { assert, describe, it } from "@effect/vitest"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import * as Ask from "@effect-mcp/core/Ask"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import { Context, Deferred, type Duration, Effect, Exit, Layer, Option, Schema, Scope, TestClock } from "effect"

class Empty extends Schema.TaggedError<Empty>()("Empty", { year: Schema.Int }) {}

const Report = Tool.make("report", {
  task: "required",
  parameters: { year: Schema.Int },
  success: Schema.Struct({ pages: Schema.Int, isPublic: Schema.Boolean }),
  failure: Empty
})

/** How often each step has begun. */
class Steps extends Context.Tag("test/Steps")<Steps, { readonly begin: (step: string) => Effect.Effect<void> }>() {}

const ReportLive = DurableTool.layer(Report, function*({ year }, task) {
  const pages = yield* task.step("collect", {
    success: Schema.Int,
    failure: Empty,
    run: Effect.gen(function*() {
      yield* (yield* Steps).begin("collect")
      yield* task.progress("collected")
      return year === 0 ? yield* new Empty({ year }) : year % 100
    })
  })
  yield* task.sleep("night", "8 hours")
  const { sure } = yield* task.ask("publish", { sure: Ask.confirm("Publish?") })
  if (sure) {
    yield* task.step("publish", { run: Effect.flatMap(Steps, ({ begin }) => begin("publish")) })
  }
  return { pages, isPublic: sure }
})

const capabilities = { elicitation: { form: {} }, extensions: { [TasksServer.extension.id]: {} } }

type Feature = Layer.Layer<never, never, any>

/** An engine and a store, and nodes over them that can be closed. */
const cluster = Effect.gen(function*() {
  const engine = yield* Layer.build(WorkflowEngine.layerMemory)
  const memory = yield* TaskStore.memory()
  const refuse = { answers: false }
  const { changes, create, get, list } = memory
  const store: TaskStore.TaskStoreService = {
    changes,
    create,
    get,
    list,
    replace: (task) =>
      Effect.suspend(() =>
        refuse.answers && Object.keys(task.answers).length > 0
          ? new TaskStore.TaskStoreError({ reason: "Unavailable", message: "away" })
          : memory.replace(task)
      )
  }
  const begun: Array<string> = []
  const steps = { begin: (step: string) => Effect.sync(() => void begun.push(step)) }
  const node = (features: Feature = ReportLive, ttl: Duration.DurationInput = "1 day") =>
    Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const server = McpServer.layer(
        { name: "reports", version: "0.0.0" },
        Layer.merge(features, TasksServer.layerWith({ ttl })) as Layer.Layer<never, never, never>,
        { extensions: [TasksServer.extension] }
      ).pipe(
        Layer.provide(Layer.succeed(TaskStore.TaskStore, store)),
        Layer.provide(Layer.succeedContext(engine)),
        Layer.provide(Layer.succeed(Steps, steps))
      )
      const services = yield* Scope.extend(Layer.build(Layer.fresh(server)), scope)
      return { services, close: Scope.close(scope, Exit.void) }
    })
  return { begun, node, refuse, store }
})

const connect = (services: Context.Context<Dispatcher>) =>
  Effect.map(
    Effect.tap(
      TestPeer.client({ extensions: [TasksServer.extension] }),
      (peer) => Effect.addFinalizer(() => peer.hangUp)
    ),
    (peer) => peer.modern({ capabilities })
  ).pipe(Effect.provide(services))

const ask = (peer: TestPeer.TestPeer, method: string, params: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectResult)

const begin = (peer: TestPeer.TestPeer, name = "report", args: JsonObject = { year: 2026 }) =>
  Effect.map(ask(peer, "tools/call", { name, arguments: args }), ({ taskId }) => taskId as string)

const reached = (peer: TestPeer.TestPeer, taskId: string, status: string): Effect.Effect<any> =>
  Effect.flatMap(
    Effect.orDie(ask(peer, "tasks/get", { taskId })),
    (found) =>
      found.status === status
        ? Effect.succeed(found)
        : Effect.zipRight(TestClock.adjust("1 millis"), reached(peer, taskId, status))
  )

const answer = (peer: TestPeer.TestPeer, taskId: string, action: string, key = "publish.sure") =>
  ask(peer, "tasks/update", { taskId, inputResponses: { [key]: { action, content: {} } } })

describe("A durable tool", () => {
  it.scoped("goes on at the next node, and repeats no step that has ended", () =>
    Effect.gen(function*() {
      const { begun, node } = yield* cluster
      const first = yield* node()
      const peer = yield* connect(first.services)
      const taskId = yield* begin(peer)
      while ((yield* ask(peer, "tasks/get", { taskId })).statusMessage !== "collected") yield* Effect.yieldNow()
      yield* TestClock.adjust("8 hours")
      yield* reached(peer, taskId, "input_required")
      yield* first.close

      const later = yield* connect((yield* node()).services)
      yield* answer(later, taskId, "accept")
      const { result } = yield* reached(later, taskId, "completed")
      assert.deepStrictEqual(result.structuredContent, { pages: 26, isPublic: true })
      assert.deepStrictEqual(begun, ["collect", "publish"])
    }))

  it.scoped("asks again when an answer does not fit to its question", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const peer = yield* connect((yield* node()).services)
      const taskId = yield* begin(peer)
      yield* TestClock.adjust("9 hours")
      yield* reached(peer, taskId, "input_required")
      yield* answer(peer, taskId, "odd")
      while (!("publish.sure-2" in ((yield* reached(peer, taskId, "input_required")).inputRequests))) {
        yield* Effect.yieldNow()
      }
      yield* answer(peer, taskId, "decline", "publish.sure-2")
      const { result } = yield* reached(peer, taskId, "completed")
      assert.deepStrictEqual(result.structuredContent, { pages: 26, isPublic: false })
    }))

  it.scoped("fails as it declares, and its client reads the failure", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const peer = yield* connect((yield* node()).services)
      const taskId = yield* begin(peer, "report", { year: 0 })
      const { result } = yield* reached(peer, taskId, "completed")
      assert.isTrue(result.isError)
      assert.include(JSON.stringify(result), "Empty")
    }))

  it.scoped("has its step interrupted by a cancellation at another node, and stores no other end", () =>
    Effect.gen(function*() {
      const { node, store } = yield* cluster
      const [running, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const Endless = Tool.make("endless", { task: "required" })
      const EndlessLive = DurableTool.layer(Endless, function*(_, task) {
        yield* task.step("endless", {
          run: Effect.zipRight(Deferred.succeed(running, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
        })
      })
      const peer = yield* connect((yield* node(EndlessLive)).services)
      const taskId = yield* begin(peer, "endless", {})
      yield* Deferred.await(running)
      // A node that does not know the tool, nor its engine.
      const other = yield* connect((yield* node(Layer.empty)).services)
      yield* ask(other, "tasks/cancel", { taskId })
      yield* Deferred.await(interrupted)
      assert.strictEqual(Option.getOrThrow(yield* store.get(null, taskId)).status, "cancelled")
    }))

  it.scoped("is cancelled while it waits, and does not go on", () =>
    Effect.gen(function*() {
      const { begun, node } = yield* cluster
      const peer = yield* connect((yield* node()).services)
      const taskId = yield* begin(peer)
      yield* TestClock.adjust("1 hour")
      yield* ask(peer, "tasks/cancel", { taskId })
      yield* TestClock.adjust("10 hours")
      yield* reached(peer, taskId, "cancelled")
      assert.deepStrictEqual(begun, ["collect"])
    }))

  it.scoped("waits at a node that does not know it, until one does", () =>
    Effect.gen(function*() {
      const { begun, node } = yield* cluster
      const Other = Tool.make("other", { task: "required" })

      const OtherLive = DurableTool.layer(Other, function*() {
        return undefined
      })
      const first = yield* node()
      // The engine in memory runs what goes on at the server that came last.
      const older = yield* connect((yield* node(OtherLive)).services)
      const taskId = yield* begin(yield* connect(first.services))
      yield* TestClock.adjust("1 minute")
      yield* first.close
      yield* TestClock.adjust("9 hours")
      assert.strictEqual((yield* ask(older, "tasks/get", { taskId })).status, "working")
      const newer = yield* connect((yield* node()).services)
      yield* TestClock.adjust("1 minute")
      yield* reached(newer, taskId, "input_required")
      assert.deepStrictEqual(begun, ["collect"])
    }))

  it.scoped("asks again when it was told of an answer that the store did not get", () =>
    Effect.gen(function*() {
      const { node, refuse } = yield* cluster
      const peer = yield* connect((yield* node()).services)
      const taskId = yield* begin(peer)
      yield* TestClock.adjust("9 hours")
      yield* reached(peer, taskId, "input_required")
      refuse.answers = true
      const params = { taskId, inputResponses: { "publish.sure": { action: "accept", content: {} } } }
      yield* Effect.flatMap(peer.request("tasks/update", params), peer.expectError)
      refuse.answers = false
      yield* TestClock.adjust("10 seconds")
      while (!("publish.sure-2" in ((yield* reached(peer, taskId, "input_required")).inputRequests))) {
        yield* Effect.yieldNow()
      }
      yield* answer(peer, taskId, "accept", "publish.sure-2")
      yield* reached(peer, taskId, "completed")
    }))

  it.scoped("stops when its time to live has passed", () =>
    Effect.gen(function*() {
      const { begun, node, store } = yield* cluster
      const peer = yield* connect((yield* node(ReportLive, "1 hour")).services)
      const taskId = yield* begin(peer)
      yield* TestClock.adjust("1 minute")
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* store.get(null, taskId), Option.none())
      yield* TestClock.adjust("8 hours")
      assert.deepStrictEqual(begun, ["collect"])
    }))

  it.scoped("fails a body with two steps of one name", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const Twice = Tool.make("twice", { task: "required" })
      const TwiceLive = DurableTool.layer(Twice, function*(_, task) {
        yield* task.step("same", { run: Effect.void })
        yield* task.step("same", { run: Effect.void })
      })
      const peer = yield* connect((yield* node(TwiceLive)).services)
      const taskId = yield* begin(peer, "twice", {})
      const { result } = yield* reached(peer, taskId, "completed")
      assert.isTrue(result.isError)
    }))

  it("does not compile with other effects, two steps at a time, or undeclared ends", () => {
    assert.isFunction(DurableTool.layer)
    void (() =>
      // @ts-expect-error an effect is no step: it would run again each time
      DurableTool.layer(Report, function*() {
        yield* Effect.succeed(1)
        return { pages: 1, isPublic: false }
      }))
    void (() =>
      DurableTool.layer(Report, function*(_, task) {
        // @ts-expect-error two steps at a time could end in another order when the body runs again
        Effect.race(task.sleep("one", "1 hour"), task.sleep("two", "2 hours"))
        return { pages: 1, isPublic: false }
      }))
    void (() =>
      // @ts-expect-error the failure is not declared
      DurableTool.layer(Report, function*(_, task) {
        yield* task.step("fails", { failure: Schema.String, run: Effect.fail("no luck") })
        return { pages: 1, isPublic: false }
      }))
    void (() =>
      // @ts-expect-error the success is another one
      DurableTool.layer(Report, function*() {
        return { pages: "one" }
      }))
  })
})
