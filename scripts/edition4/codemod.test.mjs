// Each rule of the tables does what its example says, and a module keeps its comments, its layout and the imports that it needs.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { newCounts, shimsOf, transform } from "./codemod.mjs"
import { modules, moveRules } from "./modules.mjs"
import { nameRules, names } from "./names.mjs"
import { rules } from "./rules.mjs"

const shims = shimsOf("export const Effect_zipLeft = 1\nexport type Cause_Old<A> = A\nconst Layer_hidden = 1")

const run = (text, counts = newCounts()) =>
  transform("Example.ts", text, { counts, shims, byHand: { Effect3: "./Effect3.js" } })

/** The modules of version 3 that a text names, as imports. */
const importing = (text) =>
  [...new Set(text.match(/\b[A-Z]\w+(?=\.)/g) ?? [])].map((name) => {
    const from = name.startsWith("Http") ? `@effect/platform/${name}` : `effect/${name}`
    return `import * as ${name} from "${from}"\n`
  }).join("")

const withoutImports = (text) => text.split("\n").filter((line) => !line.startsWith("import ")).join("\n").trim()

describe("a rule", () => {
  for (const { example: [before, after], name } of rules) {
    it(`does what its example says: ${name}`, () => {
      const counts = newCounts()
      assert.equal(withoutImports(run(importing(before) + before, counts)), after)
      assert.deepEqual([...counts.fits.get(name)], ["Example.ts"])
    })

    it(`changes its result no more: ${name}`, () => {
      const once = run(importing(before) + before)
      assert.equal(run(once), once)
    })
  }

  it("has a name of its own", () => {
    const all = [...rules.map(({ name }) => name), ...nameRules, ...moveRules]
    assert.equal(new Set(all).size, all.length)
  })

  it("gives no name that another rule changes", () => {
    for (const to of names.values()) assert.equal(names.has(to), false, to)
  })
})

describe("a name", () => {
  for (const [from, to] of names) {
    it(`is another one in version 4: ${from}`, () => {
      assert.equal(withoutImports(run(`${importing(from)}export type A = ${from}`)), `export type A = ${to}`)
    })
  }

  it("of a module of our own stays", () => {
    const text = "import * as Effect from \"./Effect.js\"\nexport const a = Effect.zipRight\n"
    assert.equal(run(text), text)
  })

  it("is the function of Effect3 where version 4 has none", () => {
    assert.equal(
      run("import * as Effect from \"effect/Effect\"\nexport const a = Effect.zipLeft\n"),
      "import * as Effect3 from \"./Effect3.js\"\nexport const a = Effect3.Effect_zipLeft\n"
    )
    assert.equal(shims.has("Layer.hidden"), false)
    assert.equal(shims.get("Cause.Old"), "Effect3.Cause_Old")
  })
})

describe("the imports of a module", () => {
  it("follow from what it names, under a name that is free", () => {
    const text = [
      "/** A header. */",
      "import type * as Either from \"effect/Either\"",
      "",
      "// A comment.",
      "export type Result = Either.Either<1, 2>",
      ""
    ].join("\n")
    assert.equal(
      run(text),
      [
        "/** A header. */",
        "import type * as Result_ from \"effect/Result\"",
        "",
        "// A comment.",
        "export type Result = Result_.Result<1, 2>",
        ""
      ].join("\n")
    )
  })

  it("are of values where a value is named", () => {
    const text =
      "import type * as Latch from \"effect/Effect\"\nimport * as Either from \"effect/Either\"\nexport const a = Either.right(1)\n"
    assert.match(run(text), /^import \* as Result from "effect\/Result"$/m)
  })

  it("name the place to which a module has moved", () => {
    for (const [module, { before = `effect/${module}`, from }] of modules) {
      if (modules.get(module).rule === undefined) continue
      const text = `import * as ${module} from "${before}"\nexport const a = ${module}.a\n`
      assert.equal(run(text), `import * as ${module} from "${from}"\nexport const a = ${module}.a\n`)
    }
  })

  it("leave the barrel for what is not in it", () => {
    assert.equal(
      run("import { Effect, TestClock } from \"effect\"\nexport const a = [Effect.void, TestClock.adjust]\n"),
      [
        "import { Effect } from \"effect\"",
        "import * as TestClock from \"effect/testing/TestClock\"",
        "export const a = [Effect.void, TestClock.adjust]",
        ""
      ].join("\n")
    )
  })
})
