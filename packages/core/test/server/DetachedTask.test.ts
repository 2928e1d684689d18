/**
 * Detached tasks: nodes that share a store of tasks, and an engine that the test plays.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as DetachedTask from "@effect-mcp/core/DetachedTask"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import type { Context } from "effect"
import { Deferred, Effect, Exit, Layer, Option, Schema, Scope } from "effect"
import { byHeader, connect, info, logbook, Sender, serve } from "./Serving.js"
import * as Tasking from "./Tasking.js"

class Empty extends Schema.TaggedError<Empty>()("Empty", { year: Schema.Int }) {}

const Report = Tool.make("report", {
  task: "required",
  parameters: { year: Schema.Int },
  success: Schema.Struct({ pages: Schema.Int }),
  failure: Empty
})

const sure = Ask.confirm("Publish?")

interface Job {
  readonly reference: DetachedTask.Reference
  readonly year: number
}

/** What an engine is told, and what a node gives it. */
const engine = (
  options: {
    readonly start?: (job: Job) => Effect.Effect<void, Empty>
    readonly answered?: Effect.Effect<void>
    readonly features?: (feature: Layer.Layer<never, never, Registry>) => Layer.Layer<never, never, Registry>
  } = {}
) =>
  Effect.gen(function*() {
    const jobs: Array<Job> = []
    const told: Array<string> = []
    const statuses: Array<string> = []
    const nodes: Array<DetachedTask.DetachedTasks> = []
    const store = yield* TaskStore.memory()
    const directory = yield* SessionDirectory.memory()
    const feature = Layer.unwrapScoped(Effect.gen(function*() {
      const tasks = yield* DetachedTask.make({
        name: "jobs",
        answered: (task, keys) =>
          Effect.zipRight(
            Effect.flatMap(Effect.orDie(store.get(task.owner, task.taskId)), (now) =>
              Effect.sync(() => {
                statuses.push(Option.getOrThrow(now).status)
                told.push(`answered ${keys.join()}`)
              })),
            options.answered ?? Effect.void
          ),
        stopped: (task) =>
          Effect.flatMap(Effect.orDie(store.get(task.owner, task.taskId)), (now) =>
            Effect.sync(() => {
              statuses.push(Option.getOrThrow(now).status)
              told.push("stopped")
            }))
      })
      nodes.push(tasks)
      return DetachedTask.tool(tasks, Report, ({ year }, reference) => {
        const job = { year, reference }
        jobs.push(job)
        return options.start?.(job) ?? Effect.void
      })
    }))
    const node = (more: Parameters<typeof Tasking.serving>[2] = {}) =>
      Effect.gen(function*() {
        const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const server = Tasking.serving(store, {}, more, options.features?.(feature) ?? feature).pipe(
          Layer.provide(Layer.succeed(SessionDirectory.SessionDirectory, directory))
        )
        const services = yield* Scope.extend(Layer.build(Layer.fresh(server)), scope)
        return { services, tasks: nodes.at(-1)!, close: Scope.close(scope, Exit.void) }
      })
    return { jobs, node, statuses, store, told }
  })

type Served = Context.Context<Dispatcher>

/** A client of each era: how it begins the task, answers its question, and reads the end of the task. */
const eras = {
  "2025-11-25": {
    connect: (services: Served) => Effect.provide(Tasking.legacy("ada"), services),
    begin: (peer: TestPeer, year: unknown = 2026) =>
      Effect.map(
        Tasking.result(peer, "tools/call", { name: "report", arguments: { year } as JsonObject, task: {} }),
        ({ task }) => (task as JsonObject).taskId as string
      ),
    answer: (peer: TestPeer, taskId: string) =>
      Effect.gen(function*() {
        const id = yield* peer.request("tasks/result", { taskId })
        const question = yield* Tasking.question(peer)
        assert.strictEqual(question.params.message, "Publish?")
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: Tasking.accept })
        return Effect.map(Tasking.until(peer, id), (messages) => messages.at(-1).result)
      })
  },
  "2026-07-28": {
    connect: (services: Served) => Effect.provide(Tasking.modern("ada"), services),
    begin: (peer: TestPeer, year: unknown = 2026) =>
      Effect.map(
        Tasking.result(peer, "tools/call", { name: "report", arguments: { year } as JsonObject }),
        ({ taskId }) => taskId as string
      ),
    answer: (peer: TestPeer, taskId: string) =>
      Effect.gen(function*() {
        const { inputRequests } = yield* Tasking.reached(peer, taskId, "input_required")
        assert.strictEqual((inputRequests as any).publish.params.message, "Publish?")
        yield* Tasking.result(peer, "tasks/update", { taskId, inputResponses: { publish: Tasking.accept } })
        return Effect.map(Tasking.reached(peer, taskId, "completed"), ({ result }) => result as JsonObject)
      })
  }
}

for (const [era, { answer, begin, connect }] of Object.entries(eras)) {
  describe(`a detached task of ${era}`, () => {
    it.scoped("asks, is answered and ends at nodes that did not begin it, after the node that began it has stopped", () =>
      Effect.gen(function*() {
        const { jobs, node, statuses, store, told } = yield* engine()
        const first = yield* node(byHeader)
        const second = yield* node(byHeader)
        const taskId = yield* begin(yield* connect(first.services))
        const [{ reference, year }] = jobs as [Job]
        assert.deepStrictEqual([reference.taskId, reference.owner, reference.revision, year], [
          taskId,
          "ada",
          era,
          2026
        ])
        yield* first.close
        const left = Option.getOrThrow(yield* store.get("ada", taskId))
        assert.deepStrictEqual([left.status, left.node, left.detached], ["working", undefined, "jobs"])

        const { tasks } = second
        assert.isTrue(yield* tasks.progress(reference, "half"))
        assert.isTrue(yield* tasks.ask(reference, "publish", sure))
        assert.isTrue(yield* tasks.ask(reference, "publish", sure))
        assert.deepStrictEqual(yield* tasks.answer(reference, "publish"), Option.none())
        const peer = yield* connect(second.services)
        const end = yield* answer(peer, taskId)
        const given = yield* Effect.repeat(tasks.answer(reference, "publish"), { until: Option.isSome })
        // The engine knows of the answer before the store has it.
        assert.deepStrictEqual([told, statuses], [["answered publish"], ["input_required"]])
        assert.isTrue(yield* tasks.decode(reference, "publish", sure, Option.getOrThrow(given)))
        // Asked again by a step that is repeated.
        assert.isTrue(yield* tasks.ask(reference, "publish", sure))
        assert.strictEqual(Option.getOrThrow(yield* tasks.get(reference)).status, "working")
        assert.isTrue(yield* tasks.forget(reference, "publish"))
        assert.deepStrictEqual(yield* tasks.answer(reference, "publish"), Option.none())
        assert.isTrue(yield* tasks.end(reference, Report, Exit.succeed({ pages: 50 })))
        assert.isFalse(yield* tasks.end(reference, Report, Exit.succeed({ pages: 51 })))
        assert.isFalse(yield* tasks.ask(reference, "again", sure))
        assert.isFalse(yield* tasks.progress(reference, "late"))
        assert.isFalse(yield* tasks.forget(reference, "publish"))
        const result = yield* end
        assert.deepStrictEqual(result.structuredContent, { pages: 50 })
        const expected = era === "2026-07-28" ? info : undefined
        assert.deepStrictEqual((result._meta as JsonObject)["io.modelcontextprotocol/serverInfo"], expected)
      }))

    it.scoped("is cancelled at any node, and what runs it is told when the store has the end", () =>
      Effect.gen(function*() {
        const { jobs, node, statuses, told } = yield* engine()
        const [first, second] = [yield* node(byHeader), yield* node(byHeader)]
        const taskId = yield* begin(yield* connect(first.services))
        const peer = yield* connect(second.services)
        yield* Tasking.result(peer, "tasks/cancel", { taskId })
        assert.deepStrictEqual([told, statuses], [["stopped"], ["cancelled"]])
        // The client of a node that ended in between cancels once more.
        yield* Tasking.answer(peer, "tasks/cancel", { taskId })
        assert.deepStrictEqual(told, ["stopped", "stopped"])
        assert.isFalse(yield* second.tasks.end(jobs[0]!.reference, Report, Exit.succeed({ pages: 1 })))
      }))

    it.scoped("ends as its tool declares: with a failure, an error or a defect", () =>
      Effect.gen(function*() {
        const { layer, lines } = logbook()
        yield* Effect.gen(function*() {
          const { jobs, node } = yield* engine()
          const { services, tasks } = yield* node(byHeader)
          const peer = yield* connect(services)
          const ends = [
            Exit.fail(new Empty({ year: 2026 })),
            Exit.fail(new McpError.PeerError({ code: -32050, message: "Sold out" })),
            Exit.die(new Error("a bug"))
          ]
          const outcomes: Array<unknown> = []
          for (const [n, exit] of ends.entries()) {
            const taskId = yield* begin(peer)
            yield* tasks.end(jobs[n]!.reference, Report, exit)
            const { outcome, status } = Option.getOrThrow(yield* tasks.get(jobs[n]!.reference))
            assert.strictEqual((yield* Tasking.result(peer, "tasks/get", { taskId })).status, status)
            outcomes.push([status, "result" in outcome! ? outcome.result.isError : outcome!.error.code])
          }
          const failed = era === "2026-07-28" ? "completed" : "failed"
          assert.deepStrictEqual(outcomes, [[failed, true], ["failed", -32050], [failed, true]])
          assert.strictEqual(lines.filter(({ message }) => String(message).includes("died")).length, 1)
        }).pipe(Effect.provide(layer))
      }))

    it.scoped("is not a task where the arguments are refused, and has failed where its work did not start", () =>
      Effect.gen(function*() {
        const { jobs, node, statuses, store, told } = yield* engine({
          start: ({ year }) => Effect.fail(new Empty({ year }))
        })
        const { services } = yield* node(byHeader)
        const peer = yield* connect(services)
        const task = era === "2026-07-28" ? {} : { task: {} }
        const call = (year: unknown) =>
          Tasking.result(peer, "tools/call", { name: "report", arguments: { year } as JsonObject, ...task })
        assert.isTrue((yield* call("soon")).isError)
        assert.deepStrictEqual([jobs.length, (yield* store.list("ada", { limit: 10 })).tasks.length], [0, 0])
        assert.isTrue((yield* call(2026)).isError)
        const [failed] = (yield* store.list("ada", { limit: 10 })).tasks
        assert.notStrictEqual(failed!.status, "working")
        assert.deepStrictEqual([told, statuses], [["stopped"], [failed!.status]])
      }))

    it.scoped("is cancelled where its request is, before the client knows of it", () =>
      Effect.gen(function*() {
        const starting = yield* Deferred.make<void>()
        const { node, store, told } = yield* engine({
          start: () => Effect.zipRight(Deferred.succeed(starting, undefined), Effect.never)
        })
        const { services } = yield* node(byHeader)
        const peer = yield* connect(services)
        const task = era === "2026-07-28" ? {} : { task: {} }
        const id = yield* peer.request("tools/call", { name: "report", arguments: { year: 1 }, ...task })
        yield* Deferred.await(starting)
        yield* peer.notify("notifications/cancelled", { requestId: id })
        const [left] = yield* Effect.repeat(Effect.map(store.list("ada", { limit: 1 }), ({ tasks }) => tasks), {
          until: ([one]) => one?.status === "cancelled" && told.length > 0
        })
        assert.strictEqual(left!.status, "cancelled")
      }))
  })
}

describe("an answer to a detached task", () => {
  const asked = Effect.fnUntraced(function*(options: Parameters<typeof engine>[0], more = byHeader) {
    const made = yield* engine(options)
    const first = yield* made.node(more)
    const { begin, connect } = eras["2026-07-28"]
    const peer = yield* connect(first.services)
    const taskId = yield* begin(peer)
    yield* first.tasks.ask(made.jobs[0]!.reference, "publish", sure)
    return { ...made, ...first, peer, taskId }
  })
  const params = (taskId: string) => ({ taskId, inputResponses: { publish: Tasking.accept } })

  it.scoped("is refused where what runs the task cannot be told, and the question stays", () =>
    Effect.gen(function*() {
      const { layer } = logbook()
      yield* Effect.gen(function*() {
        const { peer, taskId } = yield* asked({ answered: Effect.die(new Error("away")) })
        const { message } = yield* Tasking.error(peer, "tasks/update", params(taskId))
        assert.include(message, "send it again")
        yield* Tasking.reached(peer, taskId, "input_required")
      }).pipe(Effect.provide(layer))
    }))

  it.scoped("is refused at a node without the engine, and the question stays", () =>
    Effect.gen(function*() {
      const { store, taskId } = yield* asked({})
      const older = yield* Layer.build(Layer.fresh(Tasking.serving(store, {}, byHeader)))
      const peer = yield* Effect.provide(Tasking.modern("ada"), older)
      const { message } = yield* Tasking.error(peer, "tasks/update", params(taskId))
      assert.include(message, "has no engine \"jobs\"")
      yield* Tasking.reached(peer, taskId, "input_required")
      // A cancellation needs no engine.
      yield* Tasking.result(peer, "tasks/cancel", { taskId })
      yield* Tasking.reached(peer, taskId, "cancelled")
    }))

  it.scoped("is told once it is known: another user, an unknown key and an ended task tell nothing", () =>
    Effect.gen(function*() {
      const { jobs, peer, services, taskId, tasks, told } = yield* asked({})
      const bob = yield* Effect.provide(Tasking.modern("bob"), services)
      yield* Tasking.error(bob, "tasks/update", params(taskId))
      yield* Tasking.result(peer, "tasks/update", { taskId, inputResponses: { other: Tasking.accept } })
      yield* tasks.end(jobs[0]!.reference, Report, Exit.succeed({ pages: 1 }))
      yield* Tasking.result(peer, "tasks/update", params(taskId))
      yield* Tasking.error(bob, "tasks/cancel", { taskId })
      assert.deepStrictEqual(told, [])
    }))

  it.scoped("and a cancellation are told after the check of scopes", () =>
    Effect.gen(function*() {
      let isPermitted = true
      const authenticator = Authenticator.make(Sender, {
        id: (id) => id,
        http: ({ headers }) => Effect.succeed(headers.authorization),
        permit: () => isPermitted ? undefined : HttpRefusal.forbidden("Forbidden")
      })
      const { peer, taskId, told } = yield* asked({ features: Feature.requires(["reports:write"]) }, { authenticator })
      isPermitted = false
      yield* Tasking.error(peer, "tasks/update", params(taskId))
      yield* Tasking.error(peer, "tasks/cancel", { taskId })
      assert.deepStrictEqual(told, [])
      isPermitted = true
      yield* Tasking.result(peer, "tasks/update", params(taskId))
      assert.deepStrictEqual(told, ["answered publish"])
    }))

  it.scoped("that is none fails to decode, and so does one of a client that lacks the capability to ask", () =>
    Effect.gen(function*() {
      const { jobs, node, peer, taskId, tasks } = yield* asked({})
      const { reference } = jobs[0]!
      yield* Tasking.result(peer, "tasks/update", { taskId, inputResponses: { publish: { action: "odd" } } })
      const given = Option.getOrThrow(yield* tasks.answer(reference, "publish"))
      assert.strictEqual((yield* Effect.flip(tasks.decode(reference, "publish", sure, given)))._tag, "InvalidParams")
      const silent = yield* Effect.provide(Tasking.modern("ada", {}), (yield* node(byHeader)).services)
      yield* eras["2026-07-28"].begin(silent)
      const refused = yield* Effect.flip(tasks.ask(jobs[1]!.reference, "publish", sure))
      assert.strictEqual(refused._tag, "MissingClientCapability")
    }))
})

describe("a tool with detached tasks", () => {
  it.scoped("refuses the calls of clients without tasks", () =>
    Effect.gen(function*() {
      const { jobs, node } = yield* engine()
      const { services } = yield* node()
      const old = yield* Effect.provide(connect("2025-06-18"), services)
      const { code, message } = yield* Tasking.error(old, "tools/call", { name: "report", arguments: { year: 1 } })
      assert.deepStrictEqual([code, jobs.length], [-32601, 0])
      assert.include(message, "runs only as a task")
    }))

  it.scoped("dies where its definition leaves the task to the client", () =>
    Effect.gen(function*() {
      const feature = Layer.unwrapScoped(Effect.map(
        DetachedTask.make({ name: "jobs", answered: () => Effect.void, stopped: () => Effect.void }),
        (tasks) => DetachedTask.tool(tasks, Tool.make("report", { task: "optional" }), () => Effect.void)
      ))
      const died = yield* Effect.exit(Layer.build(Tasking.serving(undefined, {}, {}, feature)))
      assert.include(String(died), "runs only as a task: add task")
      const two = Layer.effectDiscard(
        DetachedTask.make({ name: "one", answered: () => Effect.void, stopped: () => Effect.void })
      )
      const twice = Layer.merge(Layer.fresh(two), Layer.fresh(two))
      assert.include(
        String(yield* Effect.exit(Layer.build(Tasking.serving(undefined, {}, {}, twice as any)))),
        "two engines"
      )
    }))

  it.scoped("fails the operations of its engine on a server without tasks", () =>
    Effect.gen(function*() {
      let tasks: DetachedTask.DetachedTasks | undefined
      const feature = Layer.scopedDiscard(Effect.map(
        DetachedTask.make({ name: "jobs", answered: () => Effect.void, stopped: () => Effect.void }),
        (made) => {
          tasks = made
        }
      ))
      yield* Layer.build(serve(feature))
      const reference = { taskId: "t", owner: null, revision: "2026-07-28" as const, capabilities: {} }
      const { message, reason } = yield* Effect.flip(tasks!.get(reference))
      assert.deepStrictEqual([reason, message.includes("TasksServer.layer")], ["Unavailable", true])
    }))

  it.scoped("ends as failed with a result that the store has no room for", () =>
    Effect.gen(function*() {
      const Large = Tool.make("large", { task: "required" })
      const store = yield* TaskStore.memory({ maxSize: 100_000 })
      const ended = yield* Deferred.make<DetachedTask.Reference>()
      let tasks: DetachedTask.DetachedTasks | undefined
      const feature = Layer.unwrapScoped(Effect.map(
        DetachedTask.make({ name: "jobs", answered: () => Effect.void, stopped: () => Effect.void }),
        (made) => {
          tasks = made
          return DetachedTask.tool(made, Large, (_, reference) => Deferred.succeed(ended, reference))
        }
      ))
      const services = yield* Layer.build(Tasking.serving(store, {}, {}, feature))
      const peer = yield* Effect.provide(Tasking.modern(), services)
      const { taskId } = yield* Tasking.begin(peer, "large")
      assert.isTrue(yield* tasks!.end(yield* Deferred.await(ended), Large, Exit.succeed("x".repeat(50_000))))
      assert.include(JSON.stringify(yield* Tasking.reached(peer, taskId, "failed")), "characters")
    }))

  it.scoped("tells the clients that listen of each change, whichever node makes it", () =>
    Effect.gen(function*() {
      const { jobs, node } = yield* engine()
      const { services, tasks } = yield* node(byHeader)
      const { begin, connect } = eras["2026-07-28"]
      const peer = yield* connect(services)
      const taskId = yield* begin(peer)
      yield* peer.request("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      yield* tasks.progress(jobs[0]!.reference, "half")
      const { statusMessage } = yield* peer.expectNotification("notifications/tasks")
      assert.strictEqual(statusMessage, "half")
    }))
})
