import * as Sampling from "@effect-mcp/protocol/Sampling"
import { describe, expect, it } from "vitest"
import * as Projection from "../src/schema/Projection.js"
import * as SchemaCheck from "../src/schema/SchemaCheck.js"
import * as Canonical from "./Canonical.js"

const [params, result] = Canonical.legacy["sampling/createMessage"]!

describe("Sampling", () => {
  it("needs messages and how much to sample", () => {
    const is = SchemaCheck.compile(Sampling.CreateMessageParams)
    expect(is({ messages: [], maxTokens: 1 })).toBe(true)
    expect(
      [{ messages: [] }, { maxTokens: 1 }, { messages: [], maxTokens: 1.5 }, { messages: [], maxTokens: "1" }].map(is)
    )
      .toEqual([false, false, false, false])
  })

  it("tells older revisions one block a message, without tools", () => {
    const tell = Projection.compile(Sampling.CreateMessageParams, "2024-11-05")
    const told = tell(params as never) as Sampling.CreateMessageParams
    expect(told).not.toHaveProperty("tools")
    expect(told).not.toHaveProperty("toolChoice")
    expect(told).not.toHaveProperty("task")
    expect(told.messages.map(({ content, role }) => [role, (content as { readonly text?: string }).text])).toEqual([
      ["user", "hello"],
      ["assistant", undefined],
      ["assistant", "[audio: audio/wav]"],
      ["assistant", "[tool use: search] {\"q\":\"x\"}"],
      ["user", "[tool result]\nhello\n[resource: search] file:///notes/a.md"]
    ])
  })

  it("has no word of what the modern era dropped", () => {
    const told = Projection.compile(Sampling.CreateMessageParams, "2026-07-28")(params as never)
    expect(told).not.toHaveProperty("task")
    expect(told).not.toHaveProperty("_meta")
    expect(told).toMatchObject({ tools: [{ name: "search" }], toolChoice: { mode: "auto" } })
    expect((told as Sampling.CreateMessageParams).tools![0]).not.toHaveProperty("execution")
  })

  it("answers older revisions in one block", () => {
    const tell = Projection.compile(Sampling.CreateMessageResult, "2025-06-18")
    expect(tell(result as never)).toMatchObject({
      content: { type: "text", text: "hello\n[tool use: search] {\"q\":\"x\"}" }
    })
    const one = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const
    expect(tell(one)).toBe(one)
    expect(tell({ ...one, content: [one.content] })).toEqual(one)
  })

  it("says which capability it needs", () => {
    expect(Sampling.capability({})).toBe("sampling")
    expect(Sampling.capability({ tools: [] })).toBe("sampling.tools")
    expect(Sampling.capability({ toolChoice: {} })).toBe("sampling.tools")
  })

  it("knows how a model may be chosen, and how tools", () => {
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
