import { assert, describe, it } from "@effect/vitest"
import { SkillRefused } from "@effect-mcp/extensions/SkillRefused"

describe("The refusal of a skill", () => {
  it("names what was refused, shortened, and why", () => {
    const refused = new SkillRefused({ reason: "Digest", uri: `skill://${"x".repeat(500)}`, problem: "it differs" })
    assert.match(refused.message, /^skill:\/\/x{120}…: it differs$/)
  })
})
