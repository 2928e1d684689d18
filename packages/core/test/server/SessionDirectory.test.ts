import { describe, it } from "@effect/vitest"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import { Effect } from "effect"

describe("directory in memory", () => {
  for (const { check, name } of SessionDirectoryLaws.laws) {
    it.effect(name, () => check(Effect.map(SessionDirectory.memory(), (one) => [one, one] as const)))
  }
})
