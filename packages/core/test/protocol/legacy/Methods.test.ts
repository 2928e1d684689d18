import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Canonical from "../Canonical.js"

const names = (version: Version.LegacyVersion) =>
  [...Methods.table.values()].filter((method) => Method.isIn(method, version)).map(({ name }) => name)

const news = (version: Version.LegacyVersion, before: Version.LegacyVersion) =>
  names(version).filter((name) => !names(before).includes(name)).sort()

describe("legacy/Methods", () => {
  it("lists what each revision added, and removes nothing", () => {
    expect(names("2024-11-05").length).toBe(24)
    expect(news("2025-03-26", "2024-11-05")).toEqual([])
    expect(news("2025-06-18", "2025-03-26")).toEqual(["elicitation/create"])
    expect(news("2025-11-25", "2025-06-18")).toEqual([
      "notifications/elicitation/complete",
      "notifications/tasks/status",
      "tasks/cancel",
      "tasks/get",
      "tasks/list",
      "tasks/result"
    ])
    for (const version of Version.legacy) expect(news("2024-11-05", version)).toEqual([])
  })

  it("decode their own messages", () => {
    for (const method of Methods.table.values()) {
      const [params, result] = Canonical.legacy[method.name]!
      expect(Either.getOrThrow(method.decodeParams(params)), method.name).toBe(params)
      if (method.kind === "request") expect(Either.getOrThrow(method.decodeResult(result)), method.name).toBe(result)
      // A client leaves out the `_meta` that it cannot read; what it needs is still missing, where it needs anything.
      const needsNothing = Either.isRight(method.decodeParams({}))
      expect(Either.isLeft(method.decodeParams({ _meta: 1 })), method.name)
        .toBe(method.from !== "server" || !needsNothing)
    }
  })

  it("send a peer only what its revision knows", () => {
    const [, result] = Canonical.legacy["tools/call"]!
    const narrowed = Methods.callTool.narrowResult("2024-11-05")(result as never) as typeof result & {
      readonly content: ReadonlyArray<{ readonly type: string }>
    }
    expect(narrowed).not.toHaveProperty("structuredContent")
    expect(narrowed!.content.map(({ type }) => type)).toEqual(["text", "image", "text", "text", "resource"])
  })

  it("add nothing of the modern era", () => {
    for (const version of Version.legacy) {
      expect(Methods.listTools.narrowResult(version)({ tools: [] })).toEqual({ tools: [] })
    }
  })

  it("accept a notification without parameters", () => {
    expect(Either.getOrThrow(Methods.initialized.decodeParams(undefined))).toEqual({})
    expect(Either.getOrThrow(Methods.rootsListChanged.decodeParams(undefined))).toEqual({})
  })

  it("are sent by both sides only where both may", () => {
    const both = [...Methods.table.values()].filter(({ from }) => from === "both").map(({ name }) => name).sort()
    expect(both).toEqual([
      "notifications/cancelled",
      "notifications/progress",
      "notifications/tasks/status",
      "ping",
      "tasks/cancel",
      "tasks/get",
      "tasks/list",
      "tasks/result"
    ])
  })
})
