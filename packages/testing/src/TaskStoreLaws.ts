/**
 * Checks (laws) that every implementation of `TaskStore` must pass.
 *
 * The tests of the stores in core, `sql` and `redis` run these laws. A law gets two services over one empty store, like the services of two
 * nodes.
 *
 * @since 0.1.0
 */
import type { StoredTask, TaskStoreService } from "@effect-mcp/core/TaskStore"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Law from "./Law.js"
import { isSame } from "./laws/StoredJson.js"

/**
 * Two services over one store: the same service twice, or the services of two nodes.
 *
 * @category models
 */
export type Stores = readonly [TaskStoreService, TaskStoreService]

const task = (taskId: string, createdAt: number, changes: Partial<StoredTask> = {}): StoredTask => ({
  taskId,
  owner: "ada",
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt,
  lastUpdatedAt: createdAt,
  ttl: 3_600_000,
  pollInterval: 1000,
  questions: {},
  answers: {},
  ...changes
})

const next = (task: StoredTask, changes: Partial<StoredTask> = {}): StoredTask => ({
  ...task,
  version: task.version + 1,
  ...changes
})

const found = Law.make<Stores>(
  "finds a task unchanged, with all values that JSON can represent",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const full = task("t-1", now, {
        requires: ["notes:admin", "notes:write"],
        status: "input_required",
        statusMessage: "\u{1f600} \u2028 \\ \"",
        questions: {
          "elicit-1": { method: "elicitation/create", params: { message: "Sure?", n: 1.5, list: [null, true] } }
        },
        answers: { "": { result: { action: "accept", content: { constructor: "x" } } } },
        outcome: { error: { code: -32603, message: "Internal error", data: { why: "ü" } } }
      })
      yield* one.create(full)
      yield* expect(isSame(yield* two.get("ada", "t-1"), full), "the task that was found is another one")
    })
)

const unknown = Law.make<Stores>(
  "does not find a task that is unknown, of another owner, or expired",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      yield* one.create(task("mine", now))
      yield* one.create(task("anonymous", now, { owner: null }))
      yield* one.create(task("old", now - 10_000, { ttl: 10_000 }))
      for (
        const [owner, taskId] of [
          ["ada", "other"],
          ["bob", "mine"],
          [null, "mine"],
          ["ada", "anonymous"],
          ["null", "anonymous"],
          ["", "anonymous"],
          ["ada", "old"]
        ] as const
      ) {
        const name = `the task "${taskId}" for ${String(owner)}`
        yield* expect(Option.isNone(yield* two.get(owner, taskId)), `get found ${name}`)
        yield* expect(
          !(yield* two.replace(next(task(taskId, now, { owner })))),
          `replace changed ${name}`
        )
        yield* expect((yield* StreamArrays.collect(two.changes(owner, taskId))).length === 0, `changes gave ${name}`)
      }
      yield* expect((yield* two.list("bob", { limit: 10 })).tasks.length === 0, "list gave tasks of another owner")
      const mine = (yield* two.list("ada", { limit: 10 })).tasks.map(({ taskId }) => taskId)
      yield* expect(mine.join() === "mine", `list gave ${mine.join()} instead of the one task that is left`)
    })
)

const swap = Law.make<Stores>("replaces a version once", ([one, two], expect) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const first = task("t-1", now)
    yield* one.create(first)
    const attempts = Array.from({ length: 20 }, (_, i) => next(first, { statusMessage: `attempt ${i}` }))
    const successes = yield* Effect.forEach(
      attempts,
      (attempt, i) => (i % 2 === 0 ? one : two).replace(attempt),
      { concurrency: "unbounded" }
    )
    const winners = attempts.filter((_, i) => successes[i])
    yield* expect(winners.length === 1, `${winners.length} of 20 replacements of one version succeeded`)
    yield* expect(
      isSame(yield* two.get("ada", "t-1"), winners[0]!),
      "the store does not have the version that won"
    )
    yield* expect(!(yield* two.replace(first)), "an older version replaced a newer one")
    yield* expect(!(yield* two.replace(next(next(next(first))))), "a replacement skipped a version")
    yield* expect(yield* one.replace(next(winners[0]!)), "the next version was refused")
  }))

const twice = Law.make<Stores>("refuses a second task of the same id", ([one, two], expect) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    yield* one.create(task("t-1", now))
    const exit = yield* Effect.either(two.create(task("t-1", now, { owner: "bob" })))
    yield* expect(exit._tag === "Left", "the second task was created")
    yield* expect(Option.isSome(yield* two.get("ada", "t-1")), "the first task is gone")
  }))

const pages = Law.make<Stores>(
  "lists each task of an owner one time, in the order of creation",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const ids = Array.from({ length: 25 }, (_, i) => `t-${(i * 7) % 25}`)
      for (const id of ids) {
        yield* one.create(task(id, now))
        yield* one.create(task(`b-${id}`, now, { owner: "bob" }))
      }
      const listed: Array<string> = []
      let after: string | undefined
      do {
        const page = yield* two.list("ada", { after, limit: 10 })
        yield* expect(page.tasks.length <= 10, `a page has ${page.tasks.length} tasks, and the limit is 10`)
        for (const { taskId } of page.tasks) listed.push(taskId)
        // Tasks that are created or changed between two pages must not move other tasks.
        yield* one.create(task(`later-${listed.length}`, now, { owner: "bob" }))
        yield* one.replace(next(task(listed[0]!, now), { version: 1 + Math.ceil(listed.length / 10) }))
        after = page.next
      } while (after !== undefined && listed.length <= ids.length)
      yield* expect(listed.join() === ids.join(), `the pages have ${listed.join()} instead of ${ids.join()}`)
    })
)

const watched = Law.make<Stores>(
  "returns the current task, then newer versions, and always the newest version",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const first = task("t-1", now)
      yield* one.create(first)
      yield* one.replace(next(first))
      const seen: Array<number> = []
      const reader = yield* two.changes("ada", "t-1").pipe(
        Stream.tap(({ version }) =>
          Effect.sync(() => {
            seen.push(version)
          })
        ),
        Stream.takeUntil(({ status }) => status === "completed"),
        Stream.runDrain,
        Effect.fork
      )
      let current = next(first)
      for (let i = 0; i < 50; i++) {
        current = next(current)
        yield* one.replace(current)
        if (i % 10 === 0) yield* Effect.yieldNow()
      }
      const last = next(current, { status: "completed", outcome: { result: { content: [] } } })
      yield* one.replace(last)
      yield* Fiber.join(reader)
      yield* expect(seen[0]! >= 2, `a reader first got version ${seen[0]}, which was no longer the present one`)
      yield* expect(seen.every((version, i) => i === 0 || version > seen[i - 1]!), `versions came as ${seen.join()}`)
      yield* expect(seen.at(-1) === last.version, "the newest version did not come")
    })
)

const ends = Law.make<Stores>(
  "ends a task of an owner who has as many characters as the store allows",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const first = task("t-1", now)
      yield* one.create(first)
      const large = Array.from({ length: 20 }, () => 1024 * 1024)
      const smaller = Array.from({ length: 20 }, (_, n) => 1024 * 1024 / 2 ** n)
      // A store with a smaller limit refuses some of these tasks.
      for (const [n, size] of [...large, ...smaller].entries()) {
        yield* Effect.ignore(one.create(task(`full-${n}`, now, { statusMessage: "x".repeat(size) })))
      }
      const message = "x".repeat(1000)
      const last = next(first, {
        status: "failed",
        statusMessage: message,
        outcome: { error: { code: -32603, message } }
      })
      yield* expect(yield* two.replace(last), "the store has not taken the end of the task")
      yield* expect(isSame(yield* one.get("ada", "t-1"), last), "the task has another end")
    })
)

const detached = Law.make<Stores>(
  "keeps a detached task without a node, and stores its end one time, whichever node ends the task",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const first = task("t-1", now, { detached: "jobs", status: "input_required" })
      yield* one.create(first)
      const found = yield* two.get("ada", "t-1")
      yield* expect(isSame(found, first), "the task that was found is another one")
      yield* expect(Option.getOrThrow(found).node === undefined, "the task has the name of a node")
      const answered = next(first, { answers: { sure: { result: { action: "accept" } } } })
      yield* two.replace(answered)
      const ends = ["completed", "failed", "cancelled"].map((status) =>
        next(answered, { status: status as StoredTask["status"], answers: {} })
      )
      const ended = yield* Effect.forEach(
        ends,
        (end, i) => (i % 2 === 0 ? one : two).replace(end),
        { concurrency: "unbounded" }
      )
      const [end] = ends.filter((_, i) => ended[i])
      yield* expect(ended.filter((isEnded) => isEnded).length === 1, "the task has not ended once")
      yield* expect(isSame(yield* one.get("ada", "t-1"), end!), "the task has another end than the first")
    })
)

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Stores>> = [found, unknown, swap, twice, pages, watched, ends, detached]
