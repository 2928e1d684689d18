import { assert, describe, it } from "@effect/vitest"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import { Effect, Logger } from "effect"
import { markdown } from "./Skilled.js"

const uris = (files: ReadonlyArray<{ readonly uri: string }>) => files.map(({ uri }) => uri)

/** The skills among files, and what the log says of the others. */
const served = (files: Readonly<Record<string, string | Uint8Array>>, options?: SkillsServer.FilesOptions) =>
  Effect.suspend(() => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message)))
    return SkillsServer.fromFiles(files, options).pipe(
      Effect.map((skills) => ({ skills, logged })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

describe("What is not a skill", () => {
  /** What the log says of a skill that is left out. The skill beside it stays. */
  const problem = (text: string | Uint8Array, path = "refunds/SKILL.md") =>
    Effect.map(served({ [path]: text, "other/SKILL.md": markdown("other") }), ({ logged, skills }) => {
      assert.deepStrictEqual(uris(skills), ["skill://other/SKILL.md"])
      assert.lengthOf(logged, 1)
      assert.include(logged[0]!, "A skill is left out: ")
      return logged[0]!
    })

  it.effect("is left out with the file, the line, and what to do", () =>
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
      assert.include(yield* problem(Uint8Array.of(0xff), "a/SKILL.md"), "a/SKILL.md: the file is not UTF-8 text")
      const { message } = yield* Effect.flip(SkillsServer.fromFiles({ "SKILL.md": markdown("x") }))
      assert.include(message, "a skill needs a directory with the name of the skill")
    }))

  it.effect("is not a field whose text has an unquoted colon, which hosts read", () =>
    Effect.gen(function*() {
      const read = (...fields: ReadonlyArray<string>) =>
        Effect.map(
          served({ "refunds/SKILL.md": `---\nname: refunds\n${fields.join("\n")}\n---\n` }),
          ({ logged, skills }) => skills[0]?.frontmatter.description ?? logged[0]
        )
      for (
        const [line, expected] of [
          ["Use when: a \"customer\" asks", "Use when: a \"customer\" asks"],
          ["Use it for refunds:", "Use it for refunds:"],
          ["Use when: it's #1\r", "Use when: it's #1"],
          ["Use it (4.x)\n  or when: a customer\n  asks", "Use it (4.x) or when: a customer asks"]
        ] as const
      ) {
        assert.strictEqual(yield* read(`description: ${line}`, "license: MIT"), expected)
      }
      for (
        const fields of [
          ["description: \"Use\" when: asked"],
          ["description: [Use when: asked"],
          ["description: Use when: asked", "other: [1"]
        ]
      ) {
        assert.include(yield* read(...fields), "the front matter is not YAML")
      }
    }))

  it.effect("is left out when aliases would blow it up", () =>
    Effect.gen(function*() {
      const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
      for (const [from, to] of ["ab", "bc", "cd", "de", "ef"].map((pair) => [...pair] as [string, string])) {
        bomb.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(", ")}]`)
      }
      const text = `---\nname: refunds\ndescription: x\n${bomb.join("\n")}\n---\n`
      assert.include(yield* problem(text), "repeats too much by aliases")
    }))

  it.effect("is left out when it is larger than a client must accept", () =>
    Effect.gen(function*() {
      const skill = { "a/SKILL.md": markdown("a"), "a/1": "xxx", "a/2": "xxx" }
      const left = (options: SkillsServer.Limits, more = {}) =>
        Effect.map(served({ ...skill, "b/SKILL.md": markdown("b"), ...more }, options), ({ logged, skills }) => {
          assert.includeMembers(uris(skills), ["skill://b/SKILL.md"])
          assert.notInclude(uris(skills), "skill://a/SKILL.md")
          return logged.join()
        })
      const maxBytes = markdown("a").length + 5
      assert.include(yield* left({ maxFiles: 2 }), "a: the skill has more than 2 files")
      assert.include(yield* left({ maxBytes }), "a: the skill has more than")
      // The files of a skill below count, too; the skill below stays.
      for (const name of ["a0", "z"]) {
        const below = { [`a/${name}/SKILL.md`]: markdown(name) }
        const limit = 2 * markdown("a").length + 5
        assert.include(yield* left({ maxBytes: limit }, below), "a: the skill has more than")
        assert.lengthOf((yield* served({ ...skill, ...below }, { maxBytes: limit })).skills, 1)
      }
      const { message } = yield* Effect.flip(SkillsServer.fromFiles({ ...skill, "b/SKILL.md": "" }, { maxSkills: 1 }))
      assert.include(message, "there are 2 skills, more than 1")
    }))

  it.effect("has a path that does not mean itself", () =>
    Effect.gen(function*() {
      for (const path of ["a/../SKILL.md", "a//x", "a/./x", "../x", "a/x\u0000", "a/b\\c"]) {
        const files = { "a/SKILL.md": markdown("a"), "a/../SKILL.md": markdown(".."), [path]: "x" }
        const { skills } = yield* served(files)
        assert.deepStrictEqual(uris(skills), path.includes("../") ? ["skill://a/SKILL.md"] : [], path)
      }
      const { message } = yield* Effect.flip(
        SkillsServer.make("a", { description: "x", instructions: "x", files: { "SKILL.md": "" } })
      )
      assert.include(message, "give it as \"instructions\"")
    }))

  it.effect("is percent-encoded where its name has characters that URIs do not", () =>
    Effect.gen(function*() {
      const skill = yield* SkillsServer.make("my team/a", {
        description: "x",
        instructions: "x",
        files: { "ä b#%.md": "1", "ok(1)'!.md": "2" }
      })
      assert.deepStrictEqual(uris(skill.files), [
        "skill://my%20team/a/SKILL.md",
        "skill://my%20team/a/ok%281%29%27%21.md",
        "skill://my%20team/a/%C3%A4%20b%23%25.md"
      ])
    }))
})
