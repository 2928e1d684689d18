import { assert, describe, it } from "@effect/vitest"
import * as Skills from "@effect-mcp/extensions/SkillsServer"
import { Effect, Exit } from "effect"
import { markdown } from "./Skilled.js"

const uris = (files: ReadonlyArray<{ readonly uri: string }>) => files.map(({ uri }) => uri)

describe("What is no skill", () => {
  const problem = (text: string, path = "refunds/SKILL.md") =>
    Effect.map(Effect.flip(Skills.fromFiles({ [path]: text })), ({ message }) => message)

  it.effect("is refused with the file, the line, and what to do", () =>
    Effect.gen(function*() {
      for (
        const [text, expected] of [
          ["# Refunds", "refunds/SKILL.md:1: the file does not begin with a line \"---\""],
          ["---\nname: refunds\n", "refunds/SKILL.md:1: the YAML after the first line has no end"],
          ["---\nname: refunds\ndescription: [1\n---\n", "refunds/SKILL.md:3: the front matter is not YAML"],
          [
            "---\nname: refunds\nname: refunds\ndescription: x\n---\n",
            "refunds/SKILL.md:3: the front matter is not YAML"
          ],
          ["---\n- a\n---\n", "refunds/SKILL.md:2: the front matter must consist of fields"],
          ["---\n---\n", "refunds/SKILL.md:2: the front matter must consist of fields"],
          ["---\nname: refunds\n---\n", "refunds/SKILL.md:1: the front matter needs a field \"description\""],
          ["---\ndescription: x\nname: 7\n---\n", "refunds/SKILL.md:3: the front matter needs a field \"name\""],
          ["---\ndescription: x\nname: other\n---\n", "refunds/SKILL.md:3: the name is \"other\", but the directory"],
          ["---\ndescription: x\nname: Re--funds\n---\n", "refunds/SKILL.md:3: the name \"Re--funds\" must have"],
          [markdown("refunds", "x".repeat(1025)), "refunds/SKILL.md:3: the description has 1025 characters"],
          [
            "---\nname: refunds\ndescription: x\nn: .nan\n---\n",
            "refunds/SKILL.md:4: the field \"n\" cannot be written"
          ],
          ["---\nname: refunds\ndescription: !date x\n---\n", "refunds/SKILL.md:3: the front matter is not YAML"],
          ["---\nname: refunds\ndescription: x\n__proto__: {}\n---\n", "__proto__"],
          ["---\nname: refunds\ndescription: x\na: " + "[".repeat(20_000) + "\n---\n", "refunds/SKILL.md:"],
          [
            "---\nname: refunds\ndescription: x\na: " + "[".repeat(40) + "]".repeat(40) + "\n---\n",
            "nested too deeply"
          ],
          [
            "---\nname: refunds\ndescription: x\n" + "# ".repeat(40_000) + "\n---\n",
            "no end: no line \"---\" follows within"
          ]
        ] as const
      ) {
        assert.include(yield* problem(text), expected)
      }
      assert.include(yield* problem(markdown("x"), "SKILL.md"), "a skill needs a directory with the name of the skill")
      const bytes = yield* Effect.flip(Skills.fromFiles({ "a/SKILL.md": Uint8Array.of(0xff) }))
      assert.include(bytes.message, "a/SKILL.md: the file is not UTF-8 text")
    }))

  it.effect("is refused when aliases would blow it up", () =>
    Effect.gen(function*() {
      const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
      for (const [from, to] of ["ab", "bc", "cd", "de", "ef"].map((pair) => [...pair] as [string, string])) {
        bomb.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(", ")}]`)
      }
      const text = `---\nname: refunds\ndescription: x\n${bomb.join("\n")}\n---\n`
      assert.include(yield* problem(text), "repeats too much by aliases")
    }))

  it.effect("is refused when it is larger than a client must accept", () =>
    Effect.gen(function*() {
      const skill = { "a/SKILL.md": markdown("a"), "a/1": "xxx", "a/2": "xxx" }
      const error = (options: Skills.Limits) =>
        Effect.map(Effect.flip(Skills.fromFiles({ ...skill, "b/SKILL.md": markdown("b") }, options)), ({ message }) =>
          message)
      assert.include(yield* error({ maxFiles: 2 }), "a: the skill has more than 2 files")
      assert.include(yield* error({ maxBytes: markdown("a").length + 5 }), "a: the skill has more than")
      assert.include(yield* error({ maxSkills: 1 }), "there are 2 skills, more than 1")
    }))

  it.effect("has a path that does not mean itself", () =>
    Effect.gen(function*() {
      for (const path of ["a/../SKILL.md", "a//x", "a/./x", "../x", "a/x\u0000", "a/b\\c"]) {
        const files = { "a/SKILL.md": markdown("a"), "a/../SKILL.md": markdown(".."), [path]: "x" }
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Skills.fromFiles(files))), path)
      }
      const { message } = yield* Effect.flip(
        Skills.make("a", { description: "x", instructions: "x", files: { "SKILL.md": "" } })
      )
      assert.include(message, "give it as \"instructions\"")
    }))

  it.effect("is percent-encoded where its name has characters that URIs do not", () =>
    Effect.gen(function*() {
      const skill = yield* Skills.make("my team/a", {
        description: "x",
        instructions: "x",
        files: { "ä b#?%.md": "1", "ok(1)'!*.md": "2" }
      })
      assert.deepStrictEqual(uris(skill.files), [
        "skill://my%20team/a/SKILL.md",
        "skill://my%20team/a/ok%281%29%27%21%2A.md",
        "skill://my%20team/a/%C3%A4%20b%23%3F%25.md"
      ])
    }))
})
