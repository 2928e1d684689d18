import * as Sampling from "@effect-mcp/core/protocol/Sampling"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as SchemaCheck from "../../src/protocol/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const [params, result] = Canonical.legacy["sampling/createMessage"]!

describe("Sampling", () => {
  it("needs messages and a number of tokens", () => {
    const is = SchemaCheck.compile(Sampling.CreateMessageParams)
    expect(is({ messages: [], maxTokens: 1 })).toBe(true)
    expect(
      [{ messages: [] }, { maxTokens: 1 }, { messages: [], maxTokens: 1.5 }, { messages: [], maxTokens: "1" }].map(is)
    )
      .toEqual([false, false, false, false])
  })

  it("sends older revisions one block a message, without tools", () => {
    const narrow = Projection.compile(Sampling.CreateMessageParams, "2024-11-05")
    const narrowed = narrow(params as never) as Sampling.CreateMessageParams
    expect(narrowed).not.toHaveProperty("tools")
    expect(narrowed).not.toHaveProperty("toolChoice")
    expect(narrowed).not.toHaveProperty("task")
    expect(narrowed.messages.map(({ content, role }) => [role, (content as { readonly text?: string }).text])).toEqual([
      ["user", "hello"],
      ["assistant", undefined],
      ["assistant", "[audio: audio/wav]"],
      ["assistant", "[tool use: search] {\"q\":\"x\"}"],
      ["user", "[tool result]\nhello\n[resource: search] file:///notes/a.md"]
    ])
  })

  it("sends the modern era none of the fields that it dropped", () => {
    const narrowed = Projection.compile(Sampling.CreateMessageParams, "2026-07-28")(params as never)
    expect(narrowed).not.toHaveProperty("task")
    expect(narrowed).not.toHaveProperty("_meta")
    expect(narrowed).toMatchObject({ tools: [{ name: "search" }], toolChoice: { mode: "auto" } })
    expect((narrowed as Sampling.CreateMessageParams).tools![0]).not.toHaveProperty("execution")
  })

  it("answers older revisions with one block", () => {
    const narrow = Projection.compile(Sampling.CreateMessageResult, "2025-06-18")
    expect(narrow(result as never)).toMatchObject({
      content: { type: "text", text: "hello\n[tool use: search] {\"q\":\"x\"}" }
    })
    const one = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const
    expect(narrow(one)).toBe(one)
    expect(narrow({ ...one, content: [one.content] })).toEqual(one)
  })

  it("knows which capability it needs", () => {
    expect(Sampling.capability({})).toBe("sampling")
    expect(Sampling.capability({ tools: [] })).toBe("sampling.tools")
    expect(Sampling.capability({ toolChoice: {} })).toBe("sampling.tools")
  })

  it("has model preferences and tool choices", () => {
    const isPreference = SchemaCheck.compile(Sampling.ModelPreferences)
    expect([{}, { hints: [{}], costPriority: 1 }, { costPriority: 2 }, { hints: ["x"] }].map(isPreference))
      .toEqual([true, true, false, false])
    expect([{}, { mode: "none" }, { mode: "any" }].map(SchemaCheck.compile(Sampling.ToolChoice))).toEqual([
      true,
      true,
      false
    ])
    const isMessage = SchemaCheck.compile(Sampling.SamplingMessage)
    expect([{ role: "user", content: [] }, { role: "system", content: [] }].map(isMessage)).toEqual([true, false])
  })
})
