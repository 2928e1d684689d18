import * as LegacyMethods from "@effect-mcp/core/protocol/legacy/Methods"
import type { Method } from "@effect-mcp/core/protocol/Method"
import * as ModernMethods from "@effect-mcp/core/protocol/modern/Methods"
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"

const lists = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
  ["tasks/list", "tasks"]
] as const

const method = (table: ReadonlyMap<string, Method>, name: string) => {
  const found = table.get(name)
  return found?.kind === "request" ? found : undefined
}

describe("An empty cursor", () => {
  for (const [name, list] of lists) {
    it(`of ${name} is none up to 2025-11-25`, () => {
      const { decodeParams, decodeResult } = method(LegacyMethods.table, name)!
      expect(Either.getOrThrow(decodeParams({ cursor: "" }))).toEqual({})
      expect(Either.getOrThrow(decodeParams({ cursor: null }))).toEqual({})
      expect(Either.getOrThrow(decodeParams({ cursor: "a" }))).toEqual({ cursor: "a" })
      expect(Either.getOrThrow(decodeResult({ [list]: [], nextCursor: "" }))).toEqual({ [list]: [] })
      expect(Either.getOrThrow(decodeResult({ [list]: [], nextCursor: null }))).toEqual({ [list]: [] })
    })
  }

  it("is a cursor from 2026-07-28 on", () => {
    for (const [name, list] of lists.slice(0, 4)) {
      const { decodeResult } = method(ModernMethods.table, name)!
      const page = { [list]: [], nextCursor: "" }
      expect(Either.getOrThrow(decodeResult(page))).toBe(page)
    }
  })
})
