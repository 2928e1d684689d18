import { assert, describe, it } from "@effect/vitest"
import type { Outcome } from "@effect-mcp/core/Outcome"
import type * as Tasks from "@effect-mcp/core/protocol/Tasks"
import { Either } from "effect"
import * as Ledger from "../../../src/client/legacy/Ledger.js"

const limits: Ledger.Limits = { maxRunning: 2, maxTasks: 3, maxSize: 10 }

const taskOf = (taskId: string): Tasks.Task => ({
  taskId,
  status: "working",
  createdAt: "2026-01-01T00:00:00.000Z",
  lastUpdatedAt: "2026-01-01T00:00:00.000Z",
  ttl: null
})

const completed: Outcome = { result: { content: [] } }
const failed: Outcome = { error: { code: 1, message: "No" } }

/** What happens to a ledger. A task that ends has an outcome of so many characters. */
type Deed =
  | readonly ["begin" | "cancel" | "fetch" | "expire", taskId: string]
  | readonly ["end", taskId: string, length: number, outcome?: Outcome]

const deedOf = (ledger: Ledger.Ledger, deed: Deed): Either.Either<Ledger.Change<unknown>, Error> => {
  const [verb, taskId] = deed
  switch (verb) {
    case "begin":
      return Ledger.begin(ledger, taskOf(taskId))
    case "cancel":
      return Ledger.cancel(ledger, taskId, 1000)
    case "fetch":
      return Either.right(Ledger.fetched(ledger, taskId))
    case "expire":
      return Either.right(Ledger.remove(ledger, taskId))
    case "end":
      return Either.right(Ledger.end(ledger, taskId, deed[3] ?? completed, deed[2], 1000))
  }
}

/** The ledger after these deeds, what the last deed has evicted, and why it was refused. */
const after = (deeds: ReadonlyArray<Deed>) => {
  let ledger = Ledger.make(limits)
  let said = ""
  for (const deed of deeds) {
    const changed = deedOf(ledger, deed)
    if (Either.isRight(changed)) ledger = changed.right[0]
    said = Either.isLeft(changed)
      ? `, refused: ${changed.left.message}`
      : changed.right[1].length === 0
      ? ""
      : `, evicted: ${changed.right[1].join(" ")}`
  }
  return { ledger, said }
}

const marks = { working: "", input_required: "?", completed: "+", failed: "-", cancelled: "x" }

const wordOf = (deeds: ReadonlyArray<Deed>): string => {
  const { ledger, said } = after(deeds)
  const entries = [...ledger.entries.values()].map(({ isFetched, task: { status, taskId } }) =>
    `${taskId}${marks[status]}${isFetched ? "!" : ""}`
  )
  return `${entries.join(" ")} (${ledger.size})${said}`
}

describe("The tasks of a client, of which 2 may run and 3 are kept, with 10 characters", () => {
  const rows: ReadonlyArray<readonly [string, ReadonlyArray<Deed>, string]> = [
    ["begin", [["begin", "a"]], "a (0)"],
    [
      "do not begin while too many run",
      [["begin", "a"], ["begin", "b"], ["begin", "c"]],
      "a b (0), refused: 2 tasks are running, which is the limit: wait for a task to end, or cancel a task"
    ],
    ["begin when another has ended", [["begin", "a"], ["begin", "b"], ["end", "a", 3], ["begin", "c"]], "a+ b c (3)"],
    [
      "begin when another was cancelled",
      [["begin", "a"], ["begin", "b"], ["cancel", "a"], ["begin", "c"]],
      "ax! b c (0)"
    ],
    [
      "do not begin while the outcomes of too many were not fetched",
      [["begin", "a"], ["end", "a", 1], ["begin", "b"], ["end", "b", 1], ["begin", "c"], ["end", "c", 1], [
        "begin",
        "d"
      ]],
      "a+ b+ c+ (3), refused: 3 tasks are stored, which is the limit: fetch the result of a task"
    ],
    [
      "begin in place of the oldest whose outcome was fetched",
      [
        ...[["begin", "a"], ["end", "a", 1], ["begin", "b"], ["end", "b", 2], ["fetch", "b"]] as const,
        ...[["begin", "c"], ["end", "c", 4], ["fetch", "c"], ["begin", "d"]] as const
      ],
      "a+ c+! d (5), evicted: b"
    ],
    ["end with a result", [["begin", "a"], ["end", "a", 10]], "a+ (10)"],
    ["end with an error", [["begin", "a"], ["end", "a", 4, failed]], "a- (4)"],
    ["fail when their result is too large", [["begin", "a"], ["end", "a", 11]], "a- (0)"],
    [
      "fail when there is no room for their result",
      [["begin", "a"], ["begin", "b"], ["end", "a", 6], ["end", "b", 5]],
      "a+ b- (6)"
    ],
    [
      "end in place of one whose result was fetched",
      [["begin", "a"], ["begin", "b"], ["end", "a", 6], ["fetch", "a"], ["end", "b", 5]],
      "b+ (5), evicted: a"
    ],
    [
      "evict no more than is needed",
      [
        ...[["begin", "a"], ["end", "a", 4], ["fetch", "a"], ["begin", "b"], ["end", "b", 4], ["fetch", "b"]] as const,
        ...[["begin", "c"], ["end", "c", 6]] as const
      ],
      "b+! c+ (10), evicted: a"
    ],
    ["end once", [["begin", "a"], ["end", "a", 3], ["end", "a", 5, failed]], "a+ (3)"],
    ["end once when they were cancelled", [["begin", "a"], ["cancel", "a"], ["end", "a", 5]], "ax! (0)"],
    ["do not end when they have expired", [["begin", "a"], ["expire", "a"], ["end", "a", 5]], " (0)"],
    [
      "are not cancelled when they have ended",
      [["begin", "a"], ["end", "a", 3], ["cancel", "a"]],
      "a+ (3), refused: Invalid params: the task has ended already, it is completed"
    ],
    [
      "are not cancelled when they are unknown",
      [["begin", "a"], ["cancel", "b"]],
      "a (0), refused: Invalid params: there is no such task, or it has expired"
    ],
    [
      "expire, and leave their room",
      [["begin", "a"], ["begin", "b"], ["end", "a", 3], ["expire", "a"]],
      "b (0), evicted: a"
    ],
    ["expire once", [["begin", "a"], ["expire", "a"], ["expire", "a"]], " (0)"],
    ["stay as they are when an unknown outcome is fetched", [["begin", "a"], ["fetch", "b"]], "a (0)"]
  ]
  for (const [sentence, deeds, word] of rows) it(sentence, () => assert.strictEqual(wordOf(deeds), word))
})

describe("A task of a client", () => {
  const entryOf = (...deeds: ReadonlyArray<Deed>) => Either.getOrThrow(Ledger.find(after(deeds).ledger, "a"))
  const lastUpdatedAt = "1970-01-01T00:00:01.000Z"

  it("has the status of its outcome, and the time of its end", () => {
    const task = taskOf("a")
    const begun = ["begin", "a"] as const
    assert.deepStrictEqual(entryOf(begun).task, task)
    assert.deepStrictEqual(entryOf(begun, ["end", "a", 1]).task, { ...task, status: "completed", lastUpdatedAt })
    assert.deepStrictEqual(
      entryOf(begun, ["end", "a", 1, failed]).task,
      { ...task, status: "failed", statusMessage: "No", lastUpdatedAt }
    )
    assert.deepStrictEqual(
      entryOf(begun, ["cancel", "a"]).task,
      { ...task, status: "cancelled", statusMessage: "The server cancelled the task", lastUpdatedAt }
    )
  })

  const related = { "io.modelcontextprotocol/related-task": { taskId: "a" } }
  const rows: ReadonlyArray<readonly [string, Deed, Outcome]> = [
    ["a result, which names the task", ["end", "a", 1], { result: { content: [], _meta: related } }],
    ["an error", ["end", "a", 1, failed], failed],
    ["an error when the task was cancelled", ["cancel", "a"], {
      error: { code: -32800, message: "The task was cancelled" }
    }],
    ["an error when there was no room for the result", ["end", "a", 11], {
      error: { code: -32603, message: "The client has no room for a result of 11 characters" }
    }]
  ]
  for (const [sentence, deed, outcome] of rows) {
    it(`has ${sentence} for the server`, () =>
      assert.deepStrictEqual(Ledger.outcomeOf(entryOf(["begin", "a"], deed)), outcome))
  }
})
