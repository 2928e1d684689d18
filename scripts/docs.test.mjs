// Code in documents is compiled, and what is wrong with it is reported where it stands.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { docs } from "./docs.mjs"

const temporary = mkdtempSync(join(tmpdir(), "docs-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const options = {
  strict: true,
  module: "NodeNext",
  moduleDetection: "force",
  target: "ES2022",
  lib: ["ES2022"],
  types: [],
  noUnusedLocals: true,
  composite: true,
  outDir: "dist",
  rootDir: "src"
}

let trees = 0

const check = (files) => {
  const at = join(temporary, String(trees++))
  const all = {
    "package.json": "{ \"type\": \"module\" }",
    "packages/examples/tsconfig.src.json": JSON.stringify({ compilerOptions: options, include: ["src"] }),
    "README.md": "# Readme\n",
    ...files
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    if (text !== undefined) writeFileSync(join(at, path), text)
  }
  const { checked, errors, unchecked } = docs(at)
  return {
    checked: checked.map(({ name, path }) => `${path} ${name}`),
    unchecked: unchecked.map(({ line, path }) => `${path}:${line}`),
    errors: errors.map(({ column, line, path, what }) => `${path}:${line}:${column} ${what.split(":")[0]}`)
  }
}

const block = (...lines) => ["```ts", ...lines, "```", ""].join("\n")

const wrong = "const one: string = 1"

describe("code in documents", () => {
  it("is compiled in README, docs, the packages' READMEs and JSDoc", () => {
    const jsdoc =
      "/**\n * One.\n *\n * @example\n * ```ts\n * export const one = 1\n * ```\n */\nexport const one = 1\n"
    const { checked, errors } = check({
      "README.md": block("export const one = 1"),
      "docs/decisions/one.md": block("export const one = 1"),
      "packages/one/README.md": block("export const one = 1"),
      "packages/one/src/One.ts": jsdoc,
      "packages/one/test/One.test.ts": jsdoc
    })
    assert.deepEqual(errors, [])
    assert.deepEqual(checked, [
      "README.md block-1.ts",
      "docs/decisions/one.md block-1.ts",
      "packages/one/README.md block-1.ts",
      "packages/one/src/One.ts block-1.ts"
    ])
  })

  it("fails at the line and column of the document", () => {
    const { errors } = check({
      "README.md": `# One\n\n${block("", wrong)}`,
      "docs/list.md": `- a list\n\n  \`\`\`ts\n  ${wrong}\n  \`\`\`\n`,
      "packages/one/src/One.ts": `/**\n * One.\n *\n * \`\`\`ts\n * ${wrong}\n * \`\`\`\n */\nexport const one = 1\n`
    })
    assert.deepEqual(errors, ["README.md:5:7 TS2322", "docs/list.md:4:9 TS2322", "packages/one/src/One.ts:5:10 TS2322"])
  })

  it("fails on what is not TypeScript at all", () => {
    assert.equal(check({ "README.md": block("const = 1") }).errors[0], "README.md:2:7 TS1134")
  })

  it("stands alone, but may import a named block of its own document", () => {
    const named = block("// file: one.ts", "export const one = 1")
    const user = block("import { one } from \"./one.js\"", "export const two = one + 1")
    assert.deepEqual(check({ "README.md": named + user }).errors, [])
    assert.deepEqual(check({ "README.md": named, "docs/other.md": user }).errors, ["docs/other.md:2:21 TS2307"])
    assert.deepEqual(check({ "README.md": block("export const one = 1") + block("export const two = one") }).errors, [
      "README.md:5:20 TS2304"
    ])
  })

  it("may leave a value unused, but not an import", () => {
    const named = block("// file: one.ts", "export const one = 1")
    assert.deepEqual(check({ "README.md": named + block("const two = 2") }).errors, [])
    assert.deepEqual(check({ "README.md": named + block("import { one } from \"./one.js\"") }).errors, [
      "README.md:6:1 TS6133"
    ])
  })

  it("is listed when it is not checked", () => {
    const { checked, errors, unchecked } = check({ "README.md": `\`\`\`ts no-check\n${wrong}\n\`\`\`\n` })
    assert.deepEqual({ checked, errors, unchecked }, { checked: [], errors: [], unchecked: ["README.md:1"] })
  })

  it("is not looked for in blocks of other languages", () => {
    const { checked, errors } = check({
      "README.md": `\`\`\`\`md\n${block(wrong)}\`\`\`\`\n\`\`\`sh\nnpm test\n\`\`\`\n`
    })
    assert.deepEqual({ checked, errors }, { checked: [], errors: [] })
  })

  it("fails when a block is never closed, has a name twice or outside of its document, or a mark that the check does not know", () => {
    assert.deepEqual(check({ "README.md": "```ts\nexport const one = 1\n" }).errors, [
      "README.md:1:1 the code block is never closed"
    ])
    assert.deepEqual(check({ "README.md": block("// file: a.ts") + block("// file: a.ts") }).errors, [
      "README.md:4:1 this document has two blocks named a.ts"
    ])
    assert.equal(check({ "README.md": block("// file: ../a.ts") }).errors.length, 1)
    assert.equal(check({ "README.md": "```ts nocheck\n```\n" }).errors.length, 1)
  })

  it("fails without a README", () => {
    assert.deepEqual(check({ "README.md": undefined }).errors, ["README.md:1:1 missing"])
  })
})

describe("the pages", () => {
  const errorsOf = (files) => check(files).errors

  it("have no dead link, wherever they stand", () => {
    assert.deepEqual(
      errorsOf({
        "README.md":
          "See [one](docs/one.md), [a folder](docs/decisions), [elsewhere](https://example.com/a.md) and [two](docs/two.md).\n",
        "docs/one.md": "[Up](../README.md), [away](../../README.md)\n",
        "docs/decisions/1.md": "[One](../one.md)\n",
        "packages/one/README.md": [
          "[one](https://github.com/effect-mcp/effect-mcp/blob/main/docs/one.md)",
          "[two](https://github.com/effect-mcp/effect-mcp/blob/main/docs/two.md)",
          ""
        ].join("\n")
      }),
      ["README.md:1:101 dead link", "docs/one.md:1:28 dead link", "packages/one/README.md:2:7 dead link"]
    )
  })

  it("have no dead anchor", () => {
    const page = "# The `first` page: a start\n\n## What…\n\n## What…\n\n```sh\n# not this\n```\n"
    assert.deepEqual(
      errorsOf({
        "README.md": "[a](docs/one.md#the-first-page-a-start) [b](docs/one.md#what-1) [c](docs/one.md#not-this)\n",
        "docs/one.md": `${page}\n[a](#what) [b](#nowhere)\n`
      }),
      ["README.md:1:69 dead anchor", "docs/one.md:11:16 dead anchor"]
    )
  })

  it("are named rightly in comments of sources and in notes of changes", () => {
    assert.deepEqual(
      errorsOf({
        "docs/one.md": "# One\n",
        "packages/one/src/One.ts":
          "/** As docs/one.md says, and docs/two.md, and https://example.com/docs/three.md. */\n",
        ".changeset/one.md": "`docs/four.md` is the guide.\n"
      }),
      ["packages/one/src/One.ts:1:30 dead name", ".changeset/one.md:1:2 dead name"]
    )
  })

  it("may show links in code", () => {
    assert.deepEqual(errorsOf({ "README.md": "`[one](one.md)`\n\n```md\n[two](two.md)\n```\n" }), [])
  })

  it("have no row outside of a table", () => {
    const table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert.deepEqual(errorsOf({ "README.md": `${table}\n${table}` }), [])
    assert.deepEqual(errorsOf({ "README.md": `${table}\n| 3 | 4 |\n` }), ["README.md:5:1 the rows belong to no table"])
    assert.deepEqual(errorsOf({ "README.md": "| a | b |\n\n|---|---|\n| 1 | 2 |\n" }), [
      "README.md:1:1 the rows belong to no table",
      "README.md:3:1 the rows belong to no table"
    ])
  })

  const guide = (...pages) => ({
    "docs/README.md": pages.map(([name]) => `[${name}](server/${name})`).join("\n"),
    ...Object.fromEntries(
      pages.map(([name, place, text = ""]) => [`docs/server/${name}`, `# Page\n\n${place}\n\n${text}`])
    )
  })

  it("of a guide say where they stand", () => {
    assert.deepEqual(
      errorsOf(guide(
        ["01-one.md", "> Page 1 of 2 · next: [two](02-two.md)"],
        ["02-two.md", "> Page 2 of 2 · before: [one](01-one.md)"]
      )),
      []
    )
    assert.deepEqual(errorsOf(guide(["01-one.md", "> Page 1 of 2 · next: [two](03-two.md)"], ["03-two.md", "Two"])), [
      "docs/server/03-two.md:1:1 the pages of a guide have numbers without a gap",
      "docs/server/03-two.md:3:1 the line after the title must begin with \"> Page 2 of 2 \"",
      "docs/server/03-two.md:3:1 the line after the title has no link to 01-one.md"
    ])
    assert.deepEqual(errorsOf({ ...guide(["01-one.md", "> Page 1 of 1 ·"]), "docs/README.md": "# Documentation\n" }), [
      "docs/server/01-one.md:1:1 docs/README.md has no link to server/01-one.md"
    ])
  })

  it("of a guide have at most 1,500 words, without code blocks", () => {
    const page = (words, code) =>
      guide(["01-one.md", "> Page 1 of 1 ·", `${"word ".repeat(words)}\n\n\`\`\`sh\n${code}\n\`\`\`\n`])
    // The title has two words, the line after it six.
    assert.deepEqual(errorsOf(page(1492, "word ".repeat(1000))), [])
    assert.deepEqual(errorsOf(page(1493, "")), ["docs/server/01-one.md:1:1 the page has 1501 words"])
  })
})
