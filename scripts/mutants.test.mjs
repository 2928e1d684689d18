// In a small workspace: edits are drawn by the seed, found again after their lines moved, and judged by the tests that reach them;
// a test that hangs ends, and a test that fails without an edit counts for nothing.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { judge, sourcesOf, testsOf } from "./mutants.mjs"
import { applied, draw, editsOf, locate } from "./mutants/edits.mjs"
import { related } from "./mutants/related.mjs"
import { compiler } from "./mutants/types.mjs"
import { readWorkspace, root } from "./workspace.mjs"

const at = realpathSync(mkdtempSync(join(tmpdir(), "mutants-test-")))
after(() => rmSync(at, { recursive: true, force: true }))

const limit = `export const limit = 3
export interface Bounds { readonly least: 1 }
export const isFull = (size: number): boolean => size >= limit
export const count = (size: number): number => {
  let at = 0
  while (at < size) {
    at++
  }
  return at
}
`

const manifest = (name, modules) => {
  const exports = modules.map((module) => [`./${module}`, { "@effect-mcp/source": `./src/${module}.ts` }])
  return JSON.stringify({ name: `@effect-mcp/${name}`, exports: Object.fromEntries(exports) })
}

const test = (body, from = "../src/Limit.js") =>
  `import { expect, it } from "vitest"\nimport * as Limit from "${from}"\nit("holds", () => {\n  ${body}\n})\n`

const tree = {
  "vitest.config.mjs": "export default { test: { include: [\"packages/*/test/**/*.test.ts\"] } }\n",
  "tsconfig.base.json": JSON.stringify({ compilerOptions: { strict: true, module: "NodeNext", lib: ["ES2022"] } }),
  "packages/one/package.json": manifest("one", ["Limit"]),
  "packages/one/src/Limit.ts": limit,
  "packages/one/src/index.ts": "export * as Limit from \"./Limit.js\"\n",
  "packages/one/src/Near.ts": "import { isFull } from \"./Limit.js\"\nexport const isNear = isFull(2)\n",
  "packages/one/test/Limit.test.ts": test("expect(Limit.isFull(4)).toBe(true); expect(Limit.count(2)).toBe(2)"),
  "packages/one/test/Broken.test.ts": test("expect(Limit.limit).toBe(9)"),
  "packages/one/test/Near.test.ts": test("expect(Limit.isNear).toBe(false)", "../src/Near.js"),
  "packages/one/test/Wait.test.ts": `import { it } from "vitest"
import { limit } from "../src/Limit.js"
it("ends", () => new Promise((resolve) => limit === 3 ? resolve() : undefined), 300)
`,
  "packages/two/package.json": manifest("two", []),
  "packages/two/test/Far.test.ts": test("expect(1).toBe(1)", "@effect-mcp/one/Limit"),
  "packages/two/test/Other.test.ts": "import type { Bounds } from \"@effect-mcp/one/Limit\"\nexport type B = Bounds\n"
}

for (const [path, text] of Object.entries(tree)) {
  mkdirSync(dirname(join(at, path)), { recursive: true })
  writeFileSync(join(at, path), text)
}
symlinkSync(join(root, "node_modules"), join(at, "node_modules"))

const workspace = readWorkspace(at)
const files = sourcesOf(workspace)
const file = files.find(({ path }) => path.endsWith("/Limit.ts"))
const edits = editsOf(file)
const edit = (operator, before) => edits.find((one) => one.operator === operator && one.before === before)

describe("edits", () => {
  it("break code, one place each, and leave types and barrels alone", () => {
    assert.deepEqual(files.map(({ path }) => path), ["packages/one/src/Limit.ts", "packages/one/src/Near.ts"])
    const shown = edits.map(({ after, before, line, operator }) => `${line} ${operator}: ${before} -> ${after}`)
    assert.deepEqual(shown, [
      "1 number: 3 -> (3 + 1)",
      "1 number: 3 -> (3 - 1)",
      "3 boundary: size >= limit -> size > limit",
      "5 number: 0 -> (0 + 1)",
      "6 condition: at < size -> !(at < size)",
      "6 boundary: at < size -> at <= size",
      "7 statement: at++ -> {}",
      "7 arithmetic: at++ -> at--"
    ])
    assert.equal(applied(limit, edit("boundary", "size >= limit")), limit.replace("size >= limit", "size > limit"))
  })

  it("of lists, calls and conditions", () => {
    const of = (text) => editsOf({ path: "x.ts", text }).map((one) => applied(text, one))
    assert.deepEqual(of("f([a, ...b])"), ["{}", "f([...b])", "f([a])"])
    assert.deepEqual(of("const x = { a, b: c }"), ["const x = { b: c }", "const x = { a }"])
    assert.deepEqual(of("const x = y ?? z"), ["const x = y", "const x = z"])
    assert.deepEqual(of("const x = !y && z"), ["const x = !y || z", "const x = y && z"])
    assert.deepEqual(of("const x = y.pipe(Effect.ensuring(z))"), [
      "const x = y.pipe()",
      "const x = y.pipe(Effect.ensuring(Effect.void))"
    ])
    assert.deepEqual(of("const x = Math.min(y, z)"), ["const x = Math.max(y, z)"])
    assert.deepEqual(of("const x = y[\"a\"]"), ["const x = y[\"\"]"])
    assert.deepEqual(of("function* x() { f(); yield* g }"), [
      "function* x() { {} yield* g }",
      "function* x() { return yield* g }",
      "function* x() { f(); {} }"
    ])
    assert.deepEqual(of("for (;;) if (x) break"), ["for (;;) if (!(x)) break", "for (;;) {}"])
    assert.deepEqual(of("const x = /^a$/"), ["const x = /a$/", "const x = /^a/"])
    assert.deepEqual(of("declare const x: 1\ntype Y = 1"), [])
  })

  it("are drawn by the seed, none twice, and fewer are the first of more", () => {
    const drawn = (seed, count = Infinity) => {
      const some = []
      for (const one of draw(files, seed)) {
        if (some.length === count) break
        some.push(one)
      }
      return some
    }
    assert.deepEqual(drawn(1, 3), drawn(1).slice(0, 3))
    assert.equal(new Set(drawn(1)).size, files.flatMap(editsOf).length)
    assert.notDeepEqual(drawn(1), drawn(2))
  })

  it("are found again where their lines went", () => {
    const recorded = edit("boundary", "at < size")
    const moved = { ...file, text: `// More.\n${limit.replace("isFull", "isTooFull")}` }
    assert.equal(locate([moved], recorded).line, 7)
    assert.equal(locate([{ ...moved, path: "packages/two/src/deep/Size.ts" }], recorded).line, 7)
    assert.equal(locate([{ ...file, text: limit.replace("at < size", "size > at") }], recorded), undefined)
    const twice = { ...file, text: "const f = () => [\n  a < b,\n  a < b,\n]" }
    assert.deepEqual(
      editsOf(twice).filter(({ operator }) => operator === "boundary").map((one) => locate([twice], one).line),
      [
        2,
        3
      ]
    )
  })

  it("that do not compile are told", () => {
    const compiles = compiler(at, files)
    assert.equal(compiles(file, limit.replace(">=", ">")), true)
    assert.equal(compiles(file, limit.replace("size >= limit", "\"\"")), false)
    assert.equal(compiles(file, limit.replace(">=", ">= >=")), false)
  })
})

describe("tests", () => {
  it("that reach a module run, nearest first", () => {
    assert.deepEqual(related(workspace)("packages/one/src/Limit.ts"), [
      "packages/one/test/Limit.test.ts",
      "packages/one/test/Broken.test.ts",
      "packages/one/test/Wait.test.ts",
      "packages/one/test/Near.test.ts",
      "packages/two/test/Far.test.ts"
    ])
  })

  it("kill an edit, let one live, or end by a limit of time", { timeout: 120_000 }, async () => {
    const { close, run } = testsOf(at)
    after(close)
    const tests = ["Limit", "Broken", "Near"].map((name) => `packages/one/test/${name}.test.ts`)
    const passes = new Map()
    const judged = (one, of = file) => judge({ at, edit: one, file: of, hang: 8, passes, run, seconds: 60, tests })
    assert.deepEqual(await judged(edit("condition", "at < size")), {
      verdict: "killed",
      by: "packages/one/test/Limit.test.ts > holds"
    })
    // The edit before has gone, also from what vitest remembers.
    const near = files.find(({ path }) => path.endsWith("/Near.ts"))
    const [, less] = editsOf(near)
    assert.deepEqual(await judged(less, near), { verdict: "lived", ran: 2 })
    assert.deepEqual(await judged(edits[0]), { verdict: "lived", ran: 2 })
    assert.deepEqual(await judged(edits[1]), { verdict: "killed", by: "packages/one/test/Near.test.ts > holds" })
    assert.deepEqual(await judged(edit("statement", "at++")), {
      verdict: "time",
      by: "packages/one/test/Limit.test.ts > time"
    })
    const waits = { tests: ["packages/one/test/Wait.test.ts"], passes: new Map() }
    assert.deepEqual(await judge({ at, edit: edits[0], file, hang: 8, run, seconds: 60, ...waits }), {
      verdict: "time",
      by: "packages/one/test/Wait.test.ts > ends"
    })
    assert.deepEqual([...passes], tests.map((one) => [one, !one.includes("Broken")]))
    assert.equal(readFileSync(join(at, file.path), "utf8"), limit)
  })
})
