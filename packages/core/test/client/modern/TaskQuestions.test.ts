import { assert, describe, it } from "@effect/vitest"
import type { InputRequest } from "@effect-mcp/core/protocol/modern/InputRequired"
import type * as Tasks from "@effect-mcp/core/protocol/Tasks"
import * as TaskQuestions from "../../../src/client/modern/TaskQuestions.js"

const MAX_ROUNDS = 2

interface Facts {
  readonly status?: Tasks.TaskStatus
  /** The keys of the questions in the state. */
  readonly outstanding?: ReadonlyArray<string>
  readonly answered?: ReadonlyArray<string>
  readonly rounds?: number
  /** The keys of questions that are being answered together. */
  readonly unsent?: ReadonlyArray<ReadonlyArray<string>>
}

const question: InputRequest = { method: "roots/list" }

const wordOf = ({ answered = [], outstanding, rounds = 0, status = "input_required", unsent = [] }: Facts): string => {
  const inputRequests = outstanding && Object.fromEntries(outstanding.map((key) => [key, question]))
  const known = { answered: new Set(answered), rounds }
  const next = TaskQuestions.next(known, unsent.map((keys) => ({ keys })), { status, inputRequests }, MAX_ROUNDS)
  switch (next._tag) {
    case "End":
      return "end"
    case "Refuse":
      return `refuse: ${next.error._tag}`
    case "Continue": {
      const withdraw = next.withdraw.map(({ keys }) => keys.join("+"))
      return `ask [${next.ask.map(([key]) => key)}], withdraw [${withdraw}]`
    }
  }
}

describe("A client that has read a state of a task", () => {
  const rows: ReadonlyArray<readonly [string, Facts, string]> = [
    ["is at the end when the task is completed", { status: "completed" }, "end"],
    ["is at the end when the task has failed, whatever it still asks", { status: "failed", outstanding: ["a"] }, "end"],
    ["is at the end when the task was cancelled after too many rounds", { status: "cancelled", rounds: 9 }, "end"],
    ["waits while the task works", { status: "working" }, "ask [], withdraw []"],
    ["answers new questions together", { outstanding: ["a", "b"] }, "ask [a,b], withdraw []"],
    [
      "answers no question twice",
      { outstanding: ["a", "b"], answered: ["a"], unsent: [["a"]] },
      "ask [b], withdraw []"
    ],
    ["answers a question whatever the status", { status: "working", outstanding: ["a"] }, "ask [a], withdraw []"],
    [
      "gives up an answer that the server wants no longer",
      { outstanding: ["b"], answered: ["a"], unsent: [["a"]] },
      "ask [b], withdraw [a]"
    ],
    [
      "gives up answers when the state has no questions",
      { status: "working", answered: ["a"], unsent: [["a"]] },
      "ask [], withdraw [a]"
    ],
    [
      "goes on with answers of which the server wants one",
      { outstanding: ["b"], answered: ["a", "b"], unsent: [["a", "b"]] },
      "ask [], withdraw []"
    ],
    [
      "gives up only the answers that are not wanted",
      { outstanding: ["b"], answered: ["a", "b"], unsent: [["a"], ["b"]] },
      "ask [], withdraw [a]"
    ],
    ["refuses a round too many", { outstanding: ["c"], rounds: MAX_ROUNDS }, "refuse: TooManyRounds"],
    ["answers the last round", { outstanding: ["c"], rounds: MAX_ROUNDS - 1 }, "ask [c], withdraw []"],
    [
      "waits after the last round for a question that is answered",
      { outstanding: ["a"], answered: ["a"], rounds: MAX_ROUNDS },
      "ask [], withdraw []"
    ],
    [
      "takes no member of an object for a question",
      { outstanding: [], unsent: [["toString"]] },
      "ask [], withdraw [toString]"
    ]
  ]
  for (const [sentence, facts, word] of rows) it(sentence, () => assert.strictEqual(wordOf(facts), word))
})

describe("The questions that a client knows", () => {
  const known = TaskQuestions.asked(TaskQuestions.asked(TaskQuestions.none, ["a"]), ["b", "c"])

  it("are all that were asked, and each time counts as a round", () => {
    assert.deepStrictEqual(known, { answered: new Set(["a", "b", "c"]), rounds: 2 })
    assert.deepStrictEqual(TaskQuestions.none, { answered: new Set<string>(), rounds: 0 })
  })

  it("are without those that were not answered, and the round still counts", () =>
    assert.deepStrictEqual(TaskQuestions.unasked(known, ["b", "c"]), { answered: new Set(["a"]), rounds: 2 }))
})
