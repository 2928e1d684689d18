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
