// What runs is counted as V8 counts it; a walk leaves out what does not belong to it; a table that is false is found.
import { transform } from "esbuild"
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { pathToFileURL } from "node:url"
import { falsehoods, follow, instrument, unknown } from "./walk.mjs"

const temporary = mkdtempSync(join(tmpdir(), "walk-test-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const write = (path, text) => {
  mkdirSync(dirname(join(temporary, path)), { recursive: true })
  writeFileSync(join(temporary, path), text)
  return join(temporary, path)
}

/** One of each kind of function; those named `never` do not run. */
const kinds = `
class Base { constructor(readonly given: number) {} }
class Counter extends Base {
  static readonly shared = 1
  private one = 1
  private readonly two = () => this.one
  private readonly never = () => 0
  constructor() { super(1) }
  get both() { return this.two() }
  set both(value: number) { this.one = value }
  add(by = ((): number => 1)()): number { return this.one + by }
  never2() { return 0 }
}
function declared<A>(value: A): A
function declared(value: unknown) { return value }
const arrow = (value: number) => ({ value })
const curried = (a: number) => (b: number) => a + b
const asserted = (value: unknown) => value as number
const object = { method() { return 1 }, never() { return 0 }, expression: function() { return 2 } }
function* generator() { yield 1 }
const asynchronous = async () => 1
export const run = () => {
  const counter = new Counter()
  counter.both = counter.both + 1
  return [
    counter.add(), counter.add(2), declared(1), arrow(1).value, curried(1)(2), asserted(3), object.method(), object.expression(),
    ...generator(), asynchronous() instanceof Promise
  ]
}
`

describe("a recorder in every function", () => {
  it("changes nothing, and counts what V8 counts", async () => {
    const load = async (name, text) => {
      const { code } = await transform(text, { loader: "ts", target: "es2022" })
      return import(pathToFileURL(write(name, code)).href)
    }
    const { functions, text } = instrument(kinds)
    const entered = []
    globalThis.__enter = (index) => entered.push(index)
    const instrumented = await load("instrumented.mjs", text)
    const plain = await load("plain.mjs", kinds)
    entered.length = 0
    assert.deepEqual(instrumented.run(), plain.run())
    const names = [...new Set(entered)].map((index) => functions[index].name)

    const session = new Session()
    session.connect()
    await session.post("Profiler.enable")
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
    plain.run()
    const { result } = await session.post("Profiler.takePreciseCoverage")
    session.disconnect()
    const ran = result.find(({ url }) => url.endsWith("plain.mjs")).functions
      .filter(({ ranges: [{ count, startOffset }] }) => count > 0 && startOffset > 0)

    assert.equal(names.length, ran.length)
    assert.equal(names[0], "run")
    assert.deepEqual(names.filter((name) => name.startsWith("never")), [])
    assert.ok(names.includes("fields of Counter"))
  })

  it("knows the lines of a function and the function around it", () => {
    const { functions } = instrument("const outer = () => {\n  return () =>\n    1\n}\n", 5)
    assert.deepEqual(functions, [
      { name: "outer", line: 1, lines: 4, outer: undefined },
      { name: "(anonymous)", line: 2, lines: 2, outer: 5 }
    ])
  })
})

describe("a walk", () => {
  it("has what every call enters after it was warmed up, in order, and what encloses it", async () => {
    write("packages/beta/src/runtime/B.ts", "export const b = () => 1\n")
    write(
      "packages/alpha/src/A.ts",
      `import { b } from "../../beta/src/runtime/B.js"
let calls = 0
const first = () => {}
const sometimes = () => {}
const later = () => {}
export const make = () => {
  return () => {
    if (calls++ === 0) first()
    if (calls === 32) sometimes()
    setTimeout(later, 1)
    return b()
  }
}
`
    )
    const entry = write(
      "packages/benchmarks/src/walks.ts",
      `import { make } from "../../alpha/src/A.js"
export const walks = { one: async () => { const call = make(); return async () => { call() } } }
`
    )
    const walks = await follow(entry)
    assert.deepEqual(walks.one.functions.map(({ line, module }) => [module, line]), [
      ["alpha/A", 7],
      ["beta/runtime/B", 1],
      ["alpha/A", 5]
    ])
    assert.deepEqual(walks.one.trace, ["alpha/A", "beta/runtime/B", "alpha/A"])
    assert.equal(walks.one.longest.line, 6)
    assert.equal(walks.one.longest.lines, 8)
  })
})

describe("the tables of a page", () => {
  const walks = { one: { trace: ["a/X", "b/x/Y", "a/X", "c/Z"] } }
  const found = (...cells) =>
    falsehoods(["<!-- walk: one -->", "", ...cells.map((cell) => `| 1 | ${cell} | uses \`z/Z\` |`)].join("\n"), walks)

  it("may name a part of what is entered, in order, and what is not entered in parentheses", () => {
    assert.deepEqual(found("`a/X`", "`b/x/Y` (or `d/D` (or `e/E`)), `a/X`", "**your handler**", "`c/Z`"), [])
    assert.deepEqual(found("`b/x/Y`"), [])
  })

  for (
    const [what, cells, problem] of [
      ["name what is not entered", ["`a/X`", "`d/D`"], /:4: d\/D is not entered by "one": remove it/],
      ["put what is entered into parentheses", ["`a/X` (or `c/Z`)"], /:3: c\/Z is entered by "one": remove the paren/],
      ["turn the order round", ["`c/Z`", "`b/x/Y`"], /:4: b\/x\/Y is not entered by "one" after c\/Z/],
      ["name again what is not entered again", ["`b/x/Y`", "`b/x/Y`"], /:4: b\/x\/Y is not entered by "one" after b/],
      ["name nothing", [], /:1: no table with modules follows/]
    ]
  ) {
    it(`may not ${what}`, () => {
      const problems = found(...cells)
      assert.equal(problems.length, 1, problems.join("\n"))
      assert.match(problems[0], problem)
    })
  }

  it("end with their last line", () => {
    assert.deepEqual(
      found("`a/X`").concat(falsehoods("<!-- walk: one -->\n\n| 1 | `a/X` |\n\nText\n\n| 1 | `d/D` |", walks)),
      []
    )
  })

  it("are there for every walk, and for no other", () => {
    assert.match(falsehoods("", walks)[0], /add a table after <!-- walk: one -->/)
    assert.match(falsehoods("<!-- walk: two -->", { ...walks, one: walks.one }).at(-1), /there is no walk "two"/)
  })

  it("name modules of the workspace, and so does the rest of the page", () => {
    const packages = [{ name: "server", modules: [{ module: "legacy/Post" }] }]
    const text = "`server/legacy/Post`, `server/legacy/Gone`, `server/legacy`, `tools/call`, `server/discover`"
    assert.deepEqual(unknown(text, { packages }), ["docs/architecture.md: there is no module server/legacy/Gone"])
  })
})
