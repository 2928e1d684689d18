// Every restriction that eslint.config.mjs puts on the sources fires where it should, and only there.
import { ESLint } from "eslint"
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "node:test"
import { mayBeComplex, mayBeLong, mayTry, mayUseTimers, seams, seamSyntax, testSeams } from "../eslint.config.mjs"
import { root } from "./workspace.mjs"

const eslint = new ESLint({ cwd: root })

const rulesBroken = async (filePath, code) => {
  const [{ messages }] = await eslint.lintText(`${code}\n`, { filePath })
  return [...new Set(messages.map(({ ruleId }) => ruleId))]
}

const library = "packages/core/src/jsonrpc/Example.ts"

const cases = [
  ["import { Effect } from \"effect\"\nexport { Effect }", "no-restricted-imports"],
  ["import { HttpApp } from \"@effect/platform\"\nexport { HttpApp }", "no-restricted-imports"],
  ["import { NodeRuntime } from \"@effect/platform-node\"\nexport { NodeRuntime }", "no-restricted-imports"],
  ["import type { Effect } from \"effect\"\nexport type { Effect }", "no-restricted-imports"],
  ["import { setTimeout } from \"node:timers/promises\"\nexport { setTimeout }", "no-restricted-imports"],
  ["export const one = async () => 1", "no-restricted-syntax"],
  ["export class One {\n  async one() {}\n}", "no-restricted-syntax"],
  ["export const one = await Promise.resolve(1)", "no-restricted-syntax"],
  ["try {\n  throw 1\n} finally {\n  void 1\n}", "no-restricted-syntax"],
  ["export const one = new Date()", "no-restricted-syntax"],
  ["export const one = Date.now()", "no-restricted-properties"],
  ["export const one = Math.random()", "no-restricted-properties"],
  ["export const one = performance.now()", "no-restricted-properties"],
  ["export const one = setTimeout(() => {}, 1)", "no-restricted-globals"],
  ["export const one = globalThis.setTimeout(() => {}, 1)", "no-restricted-properties"],
  [
    "import * as Effect from \"effect/Effect\"\nexport const one = Effect.void.pipe(Effect.timeoutOption(1))",
    "no-restricted-syntax"
  ],
  [
    "import * as Effect from \"effect/Effect\"\nexport const one = Effect.timeout(Effect.void, 1)",
    "no-restricted-syntax"
  ],
  [
    "import * as Effect from \"effect/Effect\"\nexport const one = Effect.raceFirst(Effect.void, Effect.never)",
    "no-restricted-syntax"
  ],
  ...seamSyntax.flatMap(({ examples }) => examples.map((code) => [code, "no-restricted-syntax"])),
  ...seams.flatMap(({ imports }) =>
    imports.map((name) => [`import * as One from "${name}"\nexport { One }`, "no-restricted-imports"])
  ),
  [`export const one = () => {\n${"  void 1\n".repeat(60)}}`, "max-lines-per-function"],
  [`export const one = (a: number) => {\n${"  if (a === 1) void a\n".repeat(15)}}`, "complexity"],
  ["console.log(1)", "no-console"],
  ["/**\n * One.\n *\n * @internal\n */\nexport const one = 1", "no-warning-comments"],
  ["export interface One {\n  /** @internal */\n  readonly one: 1\n}", "no-warning-comments"],
  ["export * from \"./Other.js\"", "no-restricted-syntax"],
  ["export { one } from \"./Other.js\"", "no-restricted-syntax"]
]

const everywhere = [
  ["export const one = 1 as any", "no-restricted-syntax"],
  ["export const one = (all: Array<number>) => all.push(...all)", "no-restricted-syntax"],
  ["export const one: number[] = []", "@typescript-eslint/array-type"],
  ["export const one = 1;", "@effect/dprint"],
  ["export const one = 'one'", "@effect/dprint"],
  ["import \"b\"\nimport \"effect/A\"", undefined],
  ["import * as B from \"effect/B\"\nimport * as A from \"effect/A\"\nexport { A, B }", "simple-import-sort/imports"],
  ["import { A } from \"effect/A\"\nexport type B = A", "@typescript-eslint/consistent-type-imports"],
  ["export const one = ({ b, a }: { a: 1; b: 1 }) => a + b", "sort-destructure-keys/sort-destructure-keys"],
  ["export const one = (a: number) => ({ a: a })", "object-shorthand"],
  ["// eslint-disable-next-line no-console\nexport const one = 1", null]
]

describe("lint", () => {
  for (const [code, rule] of cases) {
    const what = code.split("\n")[0]
    it(`forbids in libraries: ${what}`, async () => {
      assert.deepEqual(await rulesBroken(library, code), [rule])
    })
    it(`allows in examples, benchmarks and tests: ${what}`, async () => {
      for (
        const path of [
          "packages/examples/src/main.ts",
          "packages/benchmarks/src/main.ts",
          "packages/core/test/jsonrpc/Room.test.ts"
        ]
      ) assert.deepEqual(await rulesBroken(path, code), [])
    })
  }

  for (const [code, rule] of everywhere) {
    it(`${rule === undefined ? "allows" : "forbids"} in all sources: ${code.split("\n")[0]}`, async () => {
      for (const path of [library, "packages/examples/src/main.ts"]) {
        assert.deepEqual(await rulesBroken(path, code), rule === undefined ? [] : [rule])
      }
    })
  }

  it("allows `as any` in tests", async () => {
    assert.deepEqual(await rulesBroken("packages/core/test/jsonrpc/Room.test.ts", "export const one = 1 as any"), [])
  })

  it("allows `try`, and nothing else, in the modules that may", async () => {
    for (const { file } of mayTry) {
      assert.deepEqual(await rulesBroken(file, "try {\n  throw 1\n} finally {\n  void 1\n}"), [])
      assert.deepEqual(await rulesBroken(file, "export const one = async () => 1"), ["no-restricted-syntax"])
    }
  })

  it("allows syntax that versions of Effect read in different ways only in the modules that have it", async () => {
    for (const { examples, may, selector } of seamSyntax) {
      const strict = new ESLint({
        cwd: root,
        overrideConfig: { rules: { "no-restricted-syntax": ["error", selector] } }
      })
      for (const { filePath, messages } of await strict.lintFiles(may.map(({ file }) => file))) {
        assert.ok(messages.some(({ ruleId }) => ruleId === "no-restricted-syntax"), `${filePath} has no ${selector}`)
      }
      for (const { file, why } of may) {
        assert.ok(why.length > 0)
        for (const code of examples) assert.deepEqual(await rulesBroken(file, code), [])
      }
    }
  })

  it("allows what versions of Effect have in different ways only in the modules that import it", async () => {
    for (const { imports, instead, may } of seams) {
      const readers = new ESLint({
        cwd: root,
        overrideConfig: { rules: { "no-restricted-imports": ["error", ...imports] } }
      })
      for (const { filePath, messages } of await readers.lintFiles(may.map(({ file }) => file))) {
        assert.ok(
          messages.some(({ ruleId }) => ruleId === "no-restricted-imports"),
          `${filePath} imports no ${imports}`
        )
      }
      for (const { file, why } of may) {
        assert.ok(why.length > 0)
        for (const name of imports) {
          assert.deepEqual(await rulesBroken(file, `import * as One from "${name}"\nexport { One }`), [])
        }
      }
      assert.ok(instead.length > 0)
    }
  })

  it("leaves to one helper of the tests what versions of Effect do in different ways", async () => {
    for (const { example, file, selector } of testSeams) {
      assert.deepEqual(await rulesBroken("packages/core/test/Example.test.ts", example), ["no-restricted-syntax"])
      assert.deepEqual(await rulesBroken(file, example), [])
      const strict = new ESLint({
        cwd: root,
        overrideConfig: { rules: { "no-restricted-syntax": ["error", selector] } }
      })
      const [{ messages }] = await strict.lintFiles([file])
      assert.ok(messages.some(({ ruleId }) => ruleId === "no-restricted-syntax"), `${file} has no ${selector}`)
    }
  })

  it("allows a timer, and no other, in the modules that may", async () => {
    for (const { file, timers } of mayUseTimers) {
      for (const timer of ["setTimeout", "setInterval", "setImmediate"]) {
        const broken = await rulesBroken(file, `export const one = ${timer}(() => {})`)
        assert.deepEqual(broken, timers.includes(timer) ? [] : ["no-restricted-globals"])
      }
    }
  })

  it("makes exceptions for long and for complex functions only where there are some", async () => {
    const strict = new ESLint({
      cwd: root,
      overrideConfig: {
        rules: {
          "complexity": ["error", 15],
          "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }]
        }
      }
    })
    for (const [rule, list] of [["max-lines-per-function", mayBeLong], ["complexity", mayBeComplex]]) {
      const files = list.flatMap(({ files }) => files)
      for (const { filePath, messages } of await strict.lintFiles(files)) {
        assert.ok(messages.some(({ ruleId }) => ruleId === rule), `${filePath} needs no exception of ${rule}`)
      }
      for (const { why } of list) assert.ok(why.length > 0)
    }
  })

  it("makes exceptions only for modules that are there, in packages that may have them", () => {
    for (const { file, why } of [...mayTry, ...mayUseTimers]) {
      assert.ok(existsSync(join(root, file)), file)
      assert.ok(why.length > 0)
    }
    for (const { file } of mayUseTimers) assert.match(file, /^packages\/(node|redis|sql)\/src\//)
  })
})
