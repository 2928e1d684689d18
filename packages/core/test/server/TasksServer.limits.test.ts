/**
 * The limits of tasks under one law, see `Limit`.
 */
import { assert } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Clock, Deferred, Effect, Layer, TestClock } from "effect"
import { law, type Limit } from "./Limit.js"
import { logbook, until } from "./Serving.js"
import * as Tasking from "./Tasking.js"

/** Tasks of a user that run. */
const tasks = (era: "legacy" | "modern"): Limit => ({
  what: `tasks of a client that run (${era})`,
  max: 2,
  ways: ["end", "die", "are cancelled"],
  together: ["expire"],
  misses: ["the store refuses", "the store gives up", "are cancelled before they begin"],
  make: Effect.gen(function*() {
    const gates: Array<Deferred.Deferred<void>> = []
    let refusal: Effect.Effect<never, TaskStore.TaskStoreError> | undefined
    const store = yield* Tasking.store(({ create }) => ({
      create: (task) => Effect.suspend(() => refusal ?? create(task))
    }))
    const tool = McpServer.tool(
      Tool.make("held", { task: "optional" }),
      () =>
        Effect.flatMap(Deferred.make<void>(), (gate) => {
          gates.push(gate)
          return Effect.as(Deferred.await(gate), "done")
        })
    )
    const server = Tasking.serving(store, { limits: { maxRunning: 2 }, ttl: "1 minute" }, {}, tool)
    const context = yield* Layer.build(Layer.provide(server, logbook().layer))
    const peer = yield* Effect.provide(Tasking.unchecked[era], context)
    const params = { name: "held", ...(era === "legacy" ? { task: {} } : {}) }
    const last = (id: unknown) => Effect.map(Tasking.until(peer, id), (messages) => messages.at(-1))
    const ask = (method: string, params: JsonObject) => Effect.flatMap(peer.request(method, params), last)
    const cancel = (taskId: string) => ask("tasks/cancel", { taskId })
    const refusing = (how: Effect.Effect<never, TaskStore.TaskStoreError>) =>
      Effect.gen(function*() {
        refusal = how
        const { error, result } = yield* ask("tools/call", params)
        assert.isTrue(error !== undefined || result.isError)
        refusal = undefined
      })
    return {
      take: Effect.gen(function*() {
        const begun = gates.length
        const { error, result } = yield* ask("tools/call", params)
        if (error !== undefined) return undefined
        const taskId: string = era === "legacy" ? result.task.taskId : result.taskId
        yield* until(() => gates.length > begun)
        const gate = gates[begun]!
        return {
          end: Deferred.succeed(gate, undefined),
          die: Deferred.die(gate, new Error("a bug")),
          "are cancelled": cancel(taskId),
          expire: TestClock.adjust("1 minute")
        }
      }),
      misses: {
        "the store refuses": refusing(new TaskStore.TaskStoreError({ reason: "Full", message: "full" })),
        "the store gives up": refusing(Effect.interrupt),
        "are cancelled before they begin": Effect.gen(function*() {
          const requestId = yield* peer.request("tools/call", params)
          yield* Effect.repeatN(Effect.yieldNow(), gates.length % 8)
          yield* peer.notify("notifications/cancelled", { requestId })
          yield* ask("ping-unknown", {})
          for (const { taskId } of (yield* store.list(null, { limit: 100 })).tasks) yield* cancel(taskId)
        })
      }
    }
  })
})

const limits: ReadonlyArray<Limit> = [
  tasks("legacy"),
  tasks("modern"),
  {
    what: "requests of a client that wait for the result of a task",
    max: 2,
    ways: ["are cancelled"],
    together: ["get the result"],
    make: Effect.gen(function*() {
      const context = yield* Layer.build(Tasking.serving(undefined, { limits: { maxRunning: 2 } }))
      const peer = yield* Effect.provide(Tasking.unchecked.legacy, context)
      let task: string | undefined
      return {
        take: Effect.gen(function*() {
          const taskId = task ??= (yield* Tasking.start(peer, "wait")).taskId
          const requestId = yield* peer.request("tasks/result", { taskId })
          const came = yield* Tasking.until(peer, yield* peer.request("tasks/get", { taskId }))
          if (came.some(({ id }) => id === requestId)) return undefined
          return {
            "are cancelled": peer.notify("notifications/cancelled", { requestId }),
            "get the result": Effect.suspend(() => {
              if (task === undefined) return Effect.void
              task = undefined
              return Effect.flatMap(peer.request("tasks/cancel", { taskId }), (id) => Tasking.until(peer, id))
            })
          }
        })
      }
    })
  },
  {
    what: "tasks of an owner in memory",
    max: 3,
    ways: [],
    together: ["expire"],
    misses: ["are there already"],
    make: Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxTasks: 3 })
      let ids = 0
      const create = (taskId: string, owner: string) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.either(store.create({
            taskId,
            owner,
            revision: "2026-07-28",
            version: 1,
            status: "working",
            createdAt: now,
            lastUpdatedAt: now,
            ttl: 60_000,
            pollInterval: 1000,
            questions: {},
            answers: {}
          })))
      yield* create("taken", "bob")
      return {
        take: Effect.map(
          Effect.suspend(() => create(`${ids++}`, "ada")),
          ({ _tag }) => _tag === "Left" ? undefined : { expire: TestClock.adjust("1 minute") }
        ),
        misses: { "are there already": create("taken", "ada") }
      }
    })
  }
]

limits.forEach(law)
