import type { SamplingMessage } from "@effect-mcp/core/protocol/Sampling"
import { describe, expect, it } from "vitest"
import * as ToolUseRules from "../../../src/protocol/rules/ToolUseRules.js"

const text = { type: "text", text: "x" } as const
const use = (id: string) => ({ type: "tool_use", id, name: "t", input: {} }) as const
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [] }) as const
const user = (...content: ReadonlyArray<any>): SamplingMessage => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<any>): SamplingMessage => ({ role: "assistant", content })

describe("ToolUseRules", () => {
  it.each<[what: string, messages: ReadonlyArray<SamplingMessage>]>([
    ["nothing", []],
    ["text", [user(text), assistant(text), { role: "user", content: text }]],
    ["a use and its result", [user(text), assistant(use("a")), user(result("a"))]],
    ["two at once, in any order", [user(text), assistant(text, use("a"), use("b")), user(result("b"), result("a"))]],
    ["one after the other, with one id", [
      assistant(use("a")),
      user(result("a")),
      assistant(use("a")),
      { role: "user", content: result("a") }
    ]]
  ])("accepts %s", (_, messages) => expect(ToolUseRules.problem(messages)).toBeUndefined())

  it.each<[what: string, messages: ReadonlyArray<SamplingMessage>, at: number, message: string]>([
    ["text beside a result", [assistant(use("a")), user(result("a"), text)], 1, "must not have other content"],
    ["a use without a result", [assistant(use("a"))], 0, "not answered"],
    ["text in place of a result", [assistant(use("a")), user(text)], 1, "not answered"],
    ["half of the results", [assistant(use("a"), use("b")), user(result("a"))], 1, "not answered"],
    ["a late result", [assistant(use("a")), user(text), user(result("a"))], 1, "not answered"],
    ["a result without a use", [user(result("a"))], 0, "answers no tool use"],
    ["a result of another use", [assistant(use("a")), user(result("a"), result("b"))], 1, "answers no tool use"],
    ["a result twice", [assistant(use("a")), user(result("a"), result("a"))], 1, "twice"],
    ["one id for two uses", [assistant(use("a"), use("a")), user(result("a"))], 0, "same id"],
    ["results of the assistant", [assistant(use("a")), assistant(result("a"))], 1, "only a message of the user"],
    ["uses of the user", [user(use("a")), user(result("a"))], 0, "only a message of the assistant"]
  ])("MUST refuse %s", (_, messages, at, message) => {
    expect(ToolUseRules.problem(messages)).toMatchObject({ at, message: expect.stringContaining(message) })
  })

  it.each(
    [
      ["required", [text], "had to"],
      ["required", [text, use("a")], undefined],
      ["none", [use("a")], "must not"],
      ["none", [text], undefined],
      ["auto", [use("a")], undefined],
      ["auto", [use("a"), use("a")], "same id"],
      ["auto", [result("a")], "only a message of the user"],
      [undefined, [text], undefined]
    ] as const
  )("holds an answer to its tool choice %s", (mode, content, problem) => {
    const found = ToolUseRules.problemOfAnswer(
      { role: "assistant", content },
      mode === undefined ? undefined : { mode }
    )
    if (problem === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(problem)
  })
})
