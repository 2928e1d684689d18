import { assert, describe, it } from "@effect/vitest"
import { SkillChanged, SkillError } from "@effect-mcp/extensions/Skill"

describe("The errors of skills", () => {
  it("name the file, and the line if there is one", () => {
    assert.strictEqual(
      new SkillError({ file: "a/SKILL.md", line: 3, problem: "it is wrong" }).message,
      "a/SKILL.md:3: it is wrong"
    )
    assert.strictEqual(
      new SkillError({ file: "a/SKILL.md", problem: "it is wrong" }).message,
      "a/SKILL.md: it is wrong"
    )
    assert.include(new SkillChanged({ uri: "skill://a/SKILL.md" }).message, "skill://a/SKILL.md has changed")
  })
})
