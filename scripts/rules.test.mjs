// Breaks every rule on purpose, one at a time, in a small tree that otherwise obeys all of them.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { inspect, rules } from "./rules.mjs"

const temporary = mkdtempSync(join(tmpdir(), "rules-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const json = (value) => JSON.stringify(value, null, 2)
const header = "/**\n * What it does.\n * What it leaves to others.\n *\n * @since 0.1.0\n */\n"
const documented = "/**\n * One sentence.\n *\n * @since 0.1.0\n * @category models\n */\nexport const one = 1\n"
const hidden = "/**\n * What it does.\n * What it leaves to others.\n */\nexport const two = 2\n"

const naming = (name) => `/**\n * Works with \`${name}\`.\n * What it leaves to others.\n */\nexport const two = 2\n`

/** A public module that imports a hidden one. */
const calling = (specifier) => `${header}import type {} from "${specifier}"\n${documented}`

const manifest = (change = {}) =>
  json({
    name: "@effect-mcp/testing",
    version: "0.1.0",
    description: "d",
    license: "MIT",
    repository: {},
    homepage: "h",
    bugs: "b",
    keywords: [],
    engines: {},
    files: [],
    exports: {},
    ...change
  })

const good = {
  "package.json": json({}),
  "tsconfig.json": json({ references: [{ path: "packages/testing" }, { path: "packages/openapi" }] }),
  "tsconfig.build.json": json({
    references: ["testing", "openapi"].map((name) => ({ path: `packages/${name}/tsconfig.src.json` }))
  }),
  "packages/testing/package.json": manifest(),
  "packages/openapi/package.json": manifest({
    name: "@effect-mcp/openapi",
    dependencies: { "@effect-mcp/testing": "0.1.0" },
    exports: { "./unstable/Hidden": {} }
  }),
  "packages/openapi/tsconfig.src.json": json({ references: [{ path: "../testing/tsconfig.src.json" }] }),
  ...Object.fromEntries(["testing", "openapi"].flatMap((name) => [
    [`packages/${name}/README.md`, "r"],
    [`packages/${name}/LICENSE`, "l"],
    [`packages/${name}/src/Public.ts`, header + documented],
    [`packages/${name}/src/runtime/Hidden.ts`, hidden],
    [`packages/${name}/test/Public.test.ts`, ""]
  ])),
  "packages/testing/src/legacy/Twin.ts": hidden,
  "packages/testing/src/modern/Twin.ts": hidden
}

let trees = 0

const broken = (change) => {
  const at = join(temporary, String(trees++))
  for (const [path, text] of Object.entries({ ...good, ...change })) {
    if (text === undefined) continue
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return inspect(at).violations
}

const at = "packages/testing"
const many = (count, line) => Array.from({ length: count }, (_, index) => line(index)).join("\n")

/** For each rule, changes of the good tree that break it and no other rule. */
const cases = {
  "package-json": [
    [{ [`${at}/package.json`]: manifest({ name: "@effect-mcp/other" }) }, /name it @effect-mcp\/testing/]
  ],
  "metadata": [
    [{ [`${at}/package.json`]: manifest({ repository: undefined }) }, /add "repository"/],
    [{ [`${at}/LICENSE`]: undefined }, /tarball needs it/]
  ],
  "lockstep": [[
    {
      "packages/openapi/package.json": manifest({
        name: "@effect-mcp/openapi",
        dependencies: { "@effect-mcp/testing": "^0.1.0" }
      })
    },
    /at exactly 0\.1\.0/
  ]],
  "peers": [[{ [`${at}/package.json`]: manifest({ dependencies: { effect: "^3" } }) }, /peerDependencies/]],
  "references": [
    [{ "packages/openapi/tsconfig.src.json": json({}) }, /add the reference "\.\.\/testing/],
    [{
      "packages/testing/tsconfig.src.json": json({ files: [], references: [{ path: "tsconfig.area.json" }] })
    }, /add the reference "\.\.\/testing\/tsconfig\.area\.json"/],
    [{ "tsconfig.json": json({ references: [{ path: "packages/testing" }] }) }, /packages\/openapi/]
  ],
  "declared": [[
    { [`${at}/src/runtime/Hidden.ts`]: `${hidden}import type { A } from "@effect-mcp/openapi/Version"\n` },
    /declare @effect-mcp\/openapi/
  ]],
  "size": [[{ [`${at}/test/Long.test.ts`]: many(601, (index) => `export const a${index} = 1`) }, /601 lines/]],
  "header": [
    [{ [`${at}/src/runtime/Bare.ts`]: "export const bare = 1\n" }, /it has 0/],
    [{ [`${at}/src/runtime/Chatty.ts`]: `/**\n${many(9, () => " * More.")}\n */\nexport const c = 1\n` }, /it has 9/]
  ],
  "header-names": [
    [{ [`${at}/src/runtime/Naming.ts`]: naming("Gone") }, /names `Gone`, which is not a module here/],
    [
      { [`${at}/src/runtime/Naming.ts`]: naming("schema/Hidden") },
      /names `schema\/Hidden`, which is not a module here/
    ],
    [{ [`${at}/src/runtime/Naming.ts`]: naming("Public.gone") }, /has no member "gone"/],
    [{ [`${at}/src/runtime/deep/Naming.ts`]: naming("Twin") }, /several modules/],
    [
      { "packages/openapi/src/runtime/Naming.ts": naming("Unshared"), [`${at}/src/runtime/Unshared.ts`]: hidden },
      /names `Unshared`, which is not a module here/
    ]
  ],
  "header-callers": ["Hidden", "testing"].map((named) => [
    { [`${at}/src/runtime/Called.ts`]: naming(named), [`${at}/src/Public.ts`]: calling("./runtime/Called.js") },
    /imports it: testing\/Public/
  ]),
  "since": [[
    { [`${at}/src/Public.ts`]: hidden.replace("export", "/** @category models */\nexport") },
    /end its header with @since/
  ]],
  "hidden-tags": [[{ [`${at}/src/runtime/Hidden.ts`]: header + documented }, /remove @since/]],
  "category": [[{ [`${at}/src/Public.ts`]: `${header}export const one = 1\n` }, /give `one` one @category/]],
  "comments": [[
    {
      [`${at}/src/runtime/Talk.ts`]: `${hidden}${
        many(300, (index) => `// A long comment about ${index}, which is a number.`)
      }\n`
    },
    /of its lines are comments/
  ]],
  "test": [[{ [`${at}/test/Public.test.ts`]: undefined }, /test it in packages\/testing\/test\/Public\.test\.ts/]],
  "options": [
    [
      {
        [`${at}/src/Public.ts`]: `${header}/** @category models */\nexport interface OpenOptions {}\n`,
        [`${at}/test/Options.values.ts`]: "Every<A>"
      },
      /satisfies Every<Public\.OpenOptions>/
    ],
    [{ [`${at}/test/Options.values.ts`]: "export const a = {} as never\n" }, /without a cast/]
  ],
  "name": [
    [{ [`${at}/src/runtime/StringUtils.ts`]: hidden }, /"Utils" says nothing/],
    [{ [`${at}/src/runtime/lower.ts`]: hidden }, /PascalCase/]
  ],
  "keys": [[
    {
      [`${at}/src/runtime/First.ts`]:
        `${hidden}export class First extends Context.Tag("@effect-mcp/One")<First, 1>() {}\n`,
      "packages/openapi/src/runtime/Second.ts":
        `${hidden}export const Second = Context.GenericTag<2>(\n  "@effect-mcp/One"\n)\n`
    },
    /another key: packages\/openapi\/src\/runtime\/Second\.ts has this one/
  ]],
  "base-name": [
    [{ "packages/openapi/src/schema/Hidden.ts": hidden }, /runtime\/Hidden has the same base name/],
    [{ [`${at}/src/schema/Twin.ts`]: hidden }, /legacy\/Twin has the same base name/]
  ]
}

describe("the rules", () => {
  it("find nothing in a good tree", () => assert.deepEqual(broken({}), []))

  it("accept names of modules near and far, of the module's own code, of Effect and of the platform", () =>
    assert.deepEqual(
      broken({
        [`${at}/src/runtime/Naming.ts`]:
          `/**\n * Works with \`Public.one\`, \`Hidden\`, \`runtime/Hidden\` and \`legacy/Twin\`, and with \`Own\`,\n` +
          " * `Effect.succeed`, `HttpClient`, `Request`, `openapi/runtime/Hidden` and `Hidden.Schema` of `SKILL.md`.\n */\n" +
          "export interface Own {}\n",
        [`${at}/src/runtime/Hidden.ts`]: `${hidden}export interface Schema {}\n`
      }),
      []
    ))

  it("accept a header that names a caller, or the package of a caller, and a module with many callers or none", () =>
    assert.deepEqual(
      broken({
        [`${at}/package.json`]: manifest({ exports: { "./unstable/Crossing": {} } }),
        [`${at}/src/Public.ts`]: calling("./runtime/Called.js"),
        [`${at}/src/runtime/Called.ts`]: naming("Public.one"),
        [`${at}/src/runtime/Crossing.ts`]: naming("openapi"),
        "packages/openapi/src/Public.ts": calling("@effect-mcp/testing/unstable/Crossing"),
        [`${at}/src/runtime/Vocabulary.ts`]: hidden,
        ...Object.fromEntries(["A", "B", "C", "D", "E", "F", "G", "H", "I"].map((name) => [
          `${at}/src/runtime/${name}ll.ts`,
          `${hidden}import type {} from "./Vocabulary.js"\n`
        ]))
      }),
      []
    ))

  it("are all broken below", () => assert.deepEqual(Object.keys(cases).sort(), [...rules].sort()))

  for (const [rule, changes] of Object.entries(cases)) {
    for (const [change, what] of changes) {
      it(`${rule}: ${what.source}`, () => {
        const violations = broken(change)
        assert.deepEqual([...new Set(violations.map((one) => one.rule))], [rule], JSON.stringify(violations))
        assert.match(violations[0].what, what)
      })
    }
  }
})
