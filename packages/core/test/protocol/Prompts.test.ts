import * as Prompts from "@effect-mcp/core/protocol/Prompts"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

describe("Prompts", () => {
  it("send each revision the fields that it knows", () => {
    const narrow = (version: "2024-11-05" | "2025-06-18") =>
      Projection.compile(Prompts.Prompt, version)(Canonical.prompt as never)
    expect(narrow("2024-11-05")).toEqual({
      name: "search",
      description: "Greets",
      arguments: [{ name: "search", description: "Who", required: true }]
    })
    const { icons: _, ...rest } = Canonical.prompt
    expect(narrow("2025-06-18")).toEqual(rest)
  })

  it("accept strings as arguments, and nothing else", () => {
    const is = SchemaCheck.compile(Prompts.GetPromptParams)
    expect([{ name: "x" }, { name: "x", arguments: { a: "" } }].map(is)).toEqual([true, true])
    expect([1, null, {}, ["x"]].map((a) => is({ name: "x", arguments: { a } }))).toEqual([false, false, false, false])
  })

  it("send each revision the kinds of content that it knows", () => {
    const result = { messages: [{ role: "user", content: Canonical.link }] }
    expect(SchemaCheck.compile(Prompts.GetPromptResult)(result)).toBe(true)
    expect(Projection.compile(Prompts.GetPromptResult, "2025-03-26")(result as never)).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "[resource: search] file:///notes/a.md" } }]
    })
    expect(SchemaCheck.compile(Prompts.GetPromptResult)({ messages: [{ role: "user", content: [Canonical.text] }] }))
      .toBe(
        false
      )
  })
})
