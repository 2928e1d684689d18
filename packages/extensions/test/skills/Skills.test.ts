import * as Skills from "@effect-mcp/extensions/Skills"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as SkillUri from "../../src/skills/format/SkillUri.js"

const resource = { uri: "skill://a/SKILL.md", digest: `sha256:${"0".repeat(64)}`, size: 1 }
const skill = { uri: resource.uri, frontmatter: { name: "a", description: "b", license: "MIT" }, resources: [resource] }

describe("The entry of a skill", () => {
  const is = Schema.is(Skills.Skill)

  it("has its URI, its front matter with any fields, and its files or the word dynamic", () => {
    expect([skill, { ...skill, resources: "dynamic" }, { ...skill, resources: [] }].map(is)).toEqual([true, true, true])
    const { resources: _, ...without } = skill
    const wrong = [
      without,
      { ...skill, resources: "static" },
      { ...skill, resources: [{ ...resource, size: "1" }] },
      { ...skill, resources: [{ ...resource, size: 1.5 }] },
      { ...skill, frontmatter: { name: "a" } },
      { ...skill, frontmatter: [] }
    ]
    expect(wrong.map(is)).toEqual(wrong.map(() => false))
  })

  it("MUST have a name of lowercase letters, digits and single hyphens", () => {
    expect(["a", "a-b", "0", "x".repeat(64)].every(Skills.isName)).toBe(true)
    expect(["", "-a", "a-", "a--b", "A", "a_b", "é", "a b", "x".repeat(65), "a\n"].some(Skills.isName)).toBe(false)
  })
})

describe("The extension of skills", () => {
  it("exists in every revision, and a server serves clients that have not declared it", () => {
    const { id, requests, since, until } = Skills.extension
    expect([id, since, until]).toEqual(["io.modelcontextprotocol/skills", "2024-11-05", undefined])
    expect(Object.values(requests).map(({ declaredBy, isCacheable, name }) => [name, declaredBy, isCacheable])).toEqual(
      [
        ["skills/list", "server", true],
        ["skills/get", "server", true],
        ["resources/directory/read", "server", false]
      ]
    )
  })
})

describe("The URI of a file of a skill", () => {
  it("is made of a path whose names mean themselves", () => {
    expect(SkillUri.fromPath("a/b c/ü.md")).toBe("skill://a/b%20c/%C3%BC.md")
    expect(["", "a/", "/a", "a//b", "a/../b", "a/.", "a\\b", "a\u0000", "a\ud800"].map(SkillUri.fromPath))
      .toEqual(Array.from({ length: 9 }, () => undefined))
  })

  it("is below the directory of its skill, however it is written", () => {
    const root = "skill://a/b"
    expect(SkillUri.within(root, "skill://a/b/c%20d/e.md")).toBe("c d/e.md")
    const outside = [
      "",
      "/",
      "/../x",
      "/%2e%2e/x",
      "/.%2E/x",
      "/a%2Fb",
      "/a%5Cb",
      "/a?b",
      "/a#b",
      "/a//b",
      "/%ff",
      "/a%00",
      "c/x"
    ]
    expect(outside.map((path) => SkillUri.within(root, `${root}${path}`))).toEqual(outside.map(() => undefined))
    expect(SkillUri.within(root, `${root}/${"x".repeat(9000)}`)).toBe(undefined)
  })

  const unsafe = [
    ...[
      "~",
      "~ada",
      "~root",
      "$HOME",
      "%APPDATA%",
      "%2e%2e",
      "-rf",
      " a",
      "a ",
      "a.",
      "a...",
      "\ta",
      "C:",
      "c:a",
      "a:b",
      "a.md::$DATA"
    ],
    ...[
      "CON",
      "con",
      "NUL.md",
      "aux.tar.gz",
      "COM1",
      "com¹",
      "LPT9.txt",
      "PRN ",
      "CONIN$",
      "Clock$",
      "a*",
      "a?",
      "a<b",
      "a|b",
      "\"a\""
    ],
    ...[
      ".git",
      ".GIT",
      ".g\u200cit",
      "GIT~1",
      ".ssh",
      ".env",
      ".env.local",
      ".bashrc",
      ".npmrc",
      ".vscode",
      ".mcp.json",
      ".gitconfig"
    ],
    ...["a\u0000", "a\u202eb", "a\u00ad", "a\u2028", "\ufeffa", "a\r", "x".repeat(256)]
  ]

  it("has no name that is unsafe on some system, in whatever place", () => {
    for (const name of unsafe) {
      for (const path of [name, `a/${name}`, `${name}/a`, `a/${name}/b`]) {
        expect(SkillUri.fromPath(path), path).toBe(undefined)
        const encoded = path.split("/").map((one) => encodeURIComponent(one)).join("/")
        expect(SkillUri.within("skill://a/b", `skill://a/b/${encoded}`), path).toBe(undefined)
        expect(SkillUri.root(`skill://${encoded}/SKILL.md`), path).toBe(undefined)
      }
    }
  })

  it("has names that are safe on every system", () => {
    const paths = [
      "a/b/c.md",
      "a-b_c.d",
      "~a".slice(1),
      "console.md",
      "null.txt",
      "com.md",
      "com10",
      "a~b",
      "a$b",
      "ünï.md",
      ".gitignore",
      "10%"
    ]
    for (const path of paths) {
      expect(SkillUri.fromPath(path), path).toBe(`skill://${path.split("/").map(encodeURIComponent).join("/")}`)
    }
    expect(SkillUri.root("https://example.com:8443/a/SKILL.md")).toBe("https://example.com:8443/a")
  })

  it("has a root, in any scheme, when it is that of a SKILL.md", () => {
    expect(SkillUri.root("github://owner/repo/refunds/SKILL.md")).toBe("github://owner/repo/refunds")
    const none = [
      "SKILL.md",
      "skill://SKILL.md",
      "skill://a/skill.md",
      "skill:///SKILL.md",
      "skill://a/../SKILL.md",
      "a/SKILL.md"
    ]
    expect(none.map(SkillUri.root)).toEqual(none.map(() => undefined))
  })
})
