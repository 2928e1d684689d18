import { assert, describe, it } from "@effect/vitest"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import { Effect, Fiber, Option, Schedule, Stream, TestClock } from "effect"
import * as StoredTasks from "../../../src/server/tasks/StoredTasks.js"
import { logbook } from "../Serving.js"

const task: TaskStore.StoredTask = {
  taskId: "t",
  owner: "ada",
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt: 0,
  lastUpdatedAt: 0,
  ttl: 60_000,
  pollInterval: 1000,
  questions: {},
  answers: {}
}

const viewer = { owner: "ada", isOfEra: () => true, refusal: () => undefined }

const away = new TaskStore.TaskStoreError({ reason: "Unavailable", message: "away" })

describe("a store of tasks", () => {
  it.scoped("is logged once as not giving changes, while it gives tasks, and again after it has given some", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      let changes: ReadonlyArray<TaskStore.StoredTask> = []
      const store = StoredTasks.logging({
        ...yield* TaskStore.memory(),
        get: () => Effect.succeedNone,
        changes: () => Stream.concat(Stream.fromIterable([task, ...changes]), Stream.fail(away))
      })
      const follow = Effect.zipRight(store.get("ada", "t"), Effect.flip(Stream.runDrain(store.changes("ada", "t"))))
      for (const times of [1, 2]) {
        for (let n = 0; n < 10; n++) assert.strictEqual(yield* follow, away)
        assert.deepStrictEqual(
          lines.map(({ message }) => message),
          Array.from({ length: times }, () => "Waiting for changes in the store of tasks failed: away")
        )
        changes = [{ ...task, version: 2 }]
        if (times === 1) yield* follow
        changes = []
      }
    }).pipe(Effect.provide(layer))
  })

  it.scoped("fails with its bugs, so that what waits for it tries again", () =>
    Effect.gen(function*() {
      const bug = Effect.die(new Error("a bug"))
      const store = StoredTasks.logging({
        create: () => bug,
        get: () => bug,
        replace: () => bug,
        list: () => bug,
        changes: () => Stream.die(new Error("a bug"))
      })
      const operations: ReadonlyArray<Effect.Effect<unknown, TaskStore.TaskStoreError>> = [
        store.create(task),
        store.get("ada", "t"),
        store.replace(task),
        store.list("ada", { limit: 1 }),
        Stream.runDrain(store.changes("ada", "t"))
      ]
      for (const operation of operations) {
        const { message, reason } = yield* Effect.flip(operation)
        assert.deepStrictEqual([reason, message.slice(0, 12)], ["Unavailable", "Error: a bug"])
      }
    }).pipe(Effect.provide(logbook().layer)))

  it.scoped("looks up answers to the questions of a task only, however many a client sends", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const question = { method: "elicitation/create", params: {} }
      yield* store.create({ ...task, status: "input_required", questions: { one: question, two: question } })
      const lookedUp: Array<string> = []
      yield* new StoredTasks.StoredTasks(store).answer(
        viewer,
        "t",
        (key) => {
          lookedUp.push(key)
          return key === "two" ? { result: { action: "decline" } } : undefined
        }
      )
      assert.deepStrictEqual(lookedUp, ["one", "two"])
      const { answers, questions, status } = Option.getOrThrow(yield* store.get("ada", "t"))
      assert.deepStrictEqual(
        { answers, questions, status },
        { answers: { two: { result: { action: "decline" } } }, questions: { one: question }, status: "input_required" }
      )
    }))

  it.scoped("gives a handler its answers also when it is away for a moment after they came", () =>
    Effect.gen(function*() {
      const memory = yield* TaskStore.memory()
      const question = { method: "elicitation/create", params: {} }
      let failures = 0
      const tasks = new StoredTasks.StoredTasks({
        create: memory.create,
        get: memory.get,
        // The write that takes the answers is the only one without a question and without an answer.
        replace: (task) =>
          Object.keys(task.questions).length + Object.keys(task.answers).length === 0 && failures++ < 3
            ? Effect.fail(away)
            : memory.replace(task),
        list: memory.list,
        changes: memory.changes
      })
      yield* memory.create(task)
      const asking = yield* Effect.fork(tasks.ask(task, { one: question }, () => Effect.void))
      const asked = Effect.map(memory.get("ada", "t"), (found) => "one" in Option.getOrThrow(found).questions)
      yield* Effect.repeat(asked, { until: (is) => is, schedule: Schedule.recurs(1000) })
      yield* tasks.answer(viewer, "t", () => ({ result: { action: "decline" } }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(asking), { one: { result: { action: "decline" } } })
      assert.strictEqual(failures, 4)
      assert.deepStrictEqual(Option.getOrThrow(yield* memory.get("ada", "t")).answers, {})
    }))

  it.scoped("that has another change before ours gets our change again, to the task as it is then", () =>
    Effect.gen(function*() {
      const memory = yield* TaskStore.memory()
      let others = 2
      const tasks = new StoredTasks.StoredTasks({
        create: memory.create,
        get: memory.get,
        list: memory.list,
        changes: memory.changes,
        replace: (next) =>
          Effect.gen(function*() {
            if (others-- > 0) {
              const now = Option.getOrThrow(yield* memory.get("ada", "t"))
              const requires = [...now.requires ?? [], `scope:${others}`]
              assert.isTrue(yield* memory.replace({ ...now, requires, version: now.version + 1 }))
            }
            return yield* memory.replace(next)
          })
      })
      yield* memory.create(task)
      const heard: Array<TaskStore.StoredTask> = []
      yield* tasks.onChange((changed) => Effect.sync(() => heard.push(changed)))
      const [cancelled, isCancelled] = yield* tasks.cancel(viewer, "t")
      assert.isTrue(isCancelled)
      assert.deepInclude(cancelled, { status: "cancelled", version: 4, requires: ["scope:1", "scope:0"] })
      assert.deepStrictEqual(Option.getOrThrow(yield* memory.get("ada", "t")), cancelled)
      assert.deepStrictEqual(heard, [cancelled])
      assert.deepStrictEqual(yield* tasks.cancel(viewer, "t"), [cancelled, false])
      assert.lengthOf(heard, 1)
    }).pipe(Effect.scoped))

  it.scoped("has a question no more when its handler is interrupted, nor an answer to it; other questions stay", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory()
      const tasks = new StoredTasks.StoredTasks(store)
      const question = { method: "elicitation/create", params: {} }
      const stored = Effect.map(store.get("ada", "t"), (found) => Option.getOrThrow(found))
      const asked = (...keys: ReadonlyArray<string>) =>
        Effect.repeat(stored, {
          until: ({ questions }) => Object.keys(questions).join() === keys.join(),
          schedule: Schedule.recurs(1000)
        })
      yield* store.create(task)
      const asks = (...keys: ReadonlyArray<string>) =>
        Effect.fork(tasks.ask(task, Object.fromEntries(keys.map((key) => [key, question])), () => Effect.void))
      const first = yield* asks("one", "two")
      yield* asked("one", "two")
      const second = yield* asks("three")
      yield* asked("one", "two", "three")
      yield* tasks.answer(viewer, "t", (key) => key === "one" ? { result: { action: "decline" } } : undefined)
      yield* Fiber.interrupt(first)
      assert.deepInclude(yield* stored, { questions: { three: question }, answers: {}, status: "input_required" })
      yield* Fiber.interrupt(second)
      assert.deepInclude(yield* stored, { questions: {}, answers: {}, status: "working" })
    }))

  it.scoped("ends a task as failed when its result does not fit, also of an owner who has no room left", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.memory({ maxOwnerSize: JSON.stringify(task).length })
      yield* store.create(task)
      const result = { text: "x".repeat(10_000) }
      yield* new StoredTasks.StoredTasks(store).end(task, { status: "completed", outcome: { result } })
      const { outcome, status } = Option.getOrThrow(yield* store.get("ada", "t"))
      assert.strictEqual(status, "failed")
      assert.deepInclude(outcome, {
        error: {
          code: -32603,
          message: `The tasks of this owner have ${JSON.stringify(task).length} characters, and this is the limit`
        }
      })
    }))
})
