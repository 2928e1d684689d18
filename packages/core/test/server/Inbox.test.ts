import { describe, it } from "@effect/vitest"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as InboxLaws from "@effect-mcp/testing/InboxLaws"
import { Effect } from "effect"

describe("inboxes in memory", () => {
  for (const { check, name } of InboxLaws.laws) {
    it.effect(name, () => check(Effect.map(Inbox.memory(), (one) => [one, one] as const)))
  }
  for (const { check, name } of InboxLaws.bounded) {
    it.effect(name, () => check(Effect.map(Inbox.memory(InboxLaws.small), (one) => [one, one] as const)))
  }
})
