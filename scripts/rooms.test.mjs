// Breaks every rule of the house on purpose, one at a time, in a small tree that otherwise obeys all of them.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { inspect, rules } from "./rooms.mjs"

const temporary = mkdtempSync(join(tmpdir(), "rooms-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const json = (value) => JSON.stringify(value, null, 2)

const header = "/**\n * What lives here.\n * What it does not know.\n *\n * @since 0.1.0\n */\n"

const documented = "/**\n * One sentence.\n *\n * @since 0.1.0\n * @category models\n */\n"

const room = (body = "") => `${header}${body}\n${documented}export const one = 1\n`

const imports = (...specifiers) => room(specifiers.map((one) => `import type * as A from "${one}"`).join("\n"))

const below = {
  jsonrpc: [],
  protocol: ["jsonrpc"],
  definition: ["jsonrpc", "protocol"],
  server: ["jsonrpc", "protocol", "definition"],
  client: ["jsonrpc", "protocol", "definition"],
  node: ["jsonrpc", "protocol", "definition", "server", "client"],
  testing: ["jsonrpc", "protocol", "definition", "server", "client"],
  examples: ["jsonrpc", "protocol", "definition", "server", "client", "node", "testing"],
  benchmarks: ["jsonrpc", "protocol", "definition", "server", "client", "node", "testing"]
}

const names = Object.keys(below)

const manifest = (name, change = {}) =>
  json({
    name: `@effect-mcp/${name}`,
    version: "0.1.0",
    exports: { "./legacy/*": null, "./modern/*": null },
    dependencies: Object.fromEntries(below[name].map((one) => [`@effect-mcp/${one}`, "0.1.0"])),
    peerDependencies: { "effect": "^3", "@effect/platform": "^0", "@effect/platform-node": "^0" },
    ...change
  })

const references = (...paths) => json({ references: paths.map((path) => ({ path })) })

const srcReferences = (...to) => references(...to.map((name) => `../${name}/tsconfig.src.json`))

const good = {
  "package.json": json({ devDependencies: { "@effect/vitest": "0" } }),
  "tsconfig.json": references(...names.map((name) => `packages/${name}`)),
  "tsconfig.build.json": references(...names.map((name) => `packages/${name}/tsconfig.src.json`)),
  ...Object.fromEntries(names.flatMap((name) => [
    [`packages/${name}/package.json`, manifest(name)],
    [`packages/${name}/tsconfig.src.json`, srcReferences(...below[name])],
    [`packages/${name}/tsconfig.test.json`, srcReferences(...names)],
    [`packages/${name}/src/Room.ts`, imports("effect/Effect", ...below[name].map((one) => `@effect-mcp/${one}/Room`))],
    [`packages/${name}/test/Room.test.ts`, "import \"@effect-mcp/testing\"\nimport \"@effect/vitest\"\n"]
  ])),
  "packages/jsonrpc/src/index.ts": "export * as Room from \"./Room.js\"\n",
  "packages/protocol/src/legacy/Methods.ts": imports("../Room.js", "@effect-mcp/jsonrpc/Room"),
  "packages/protocol/test/legacy/Methods.one.test.ts": "",
  "packages/protocol/src/modern/Methods.ts": imports("../Room.js"),
  "packages/protocol/test/modern/Methods.test.ts": "import \"../../src/modern/Methods.js\"\n",
  "packages/server/src/legacy/Serve.ts": imports("../Room.js", "@effect-mcp/protocol/legacy/Methods"),
  "packages/server/test/legacy/Serve.test.ts": "",
  "packages/server/src/modern/Serve.ts": room("import type { ModernMethods } from \"@effect-mcp/protocol\""),
  "packages/server/test/modern/Serve.test.ts": "",
  "packages/server/src/Dispatcher.ts": imports("./legacy/Serve.js", "./modern/Serve.js", "@effect/platform/HttpApp"),
  "packages/server/test/Dispatcher.test.ts": "",
  "packages/node/src/Stdio.ts": imports("@effect/platform-node/NodeRuntime", "node:child_process"),
  "packages/node/test/Stdio.test.ts": "import \"@effect/platform-node/NodeRuntime\"\n",
  "packages/jsonrpc/src/Implementation.ts": room(),
  "packages/jsonrpc/test/Implementation.test.ts": "",
  "packages/jsonrpc/src/Documented.ts": `${header}
${documented}export function overloaded(a: string): void
export function overloaded(a: number): void
export function overloaded(): void {}
${documented}export interface Twice {}
/** @since 0.1.0 */
export declare namespace Twice {
  export type Any = unknown
}
const void_ = 1
export {
  ${documented}void_ as void
}
`,
  "packages/jsonrpc/test/Documented.test.ts": ""
}

let trees = 0

const broken = (change, lists = { oneEra: [] }) => {
  const at = join(temporary, String(trees++))
  for (const [path, text] of Object.entries({ ...good, ...change })) {
    if (text === undefined) continue
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return inspect(at, lists)
}

const src = (name, file = "Room") => `packages/${name}/src/${file}.ts`

/** A new room with its test. */
const added = (name, file, text) => ({ [src(name, file)]: text, [`packages/${name}/test/${file}.test.ts`]: "" })

const lines = (count) => `${room()}${"//\n".repeat(count - room().split("\n").length + 1)}`

const bare = (text) => `${header}\n${text}\n`

// rule: [what is broken, where it is reported, the files that break it, lists]
const cases = {
  "package-unknown": [
    ["a package without arrows", "packages/extra", { "packages/extra/package.json": "{}" }]
  ],
  "package-json": [
    ["no manifest", "packages/node/package.json", { "packages/node/package.json": undefined }],
    ["broken JSON", "packages/node/package.json", { "packages/node/package.json": "{" }],
    ["a foreign name", "packages/node/package.json", { "packages/node/package.json": manifest("node", { name: "x" }) }],
    ["no tsconfig for src", "packages/node/tsconfig.src.json", { "packages/node/tsconfig.src.json": undefined }],
    ["a broken tsconfig for tests", "packages/node/tsconfig.test.json", { "packages/node/tsconfig.test.json": "{" }]
  ],
  "lockstep": [
    ["another version", "packages/node/package.json", {
      "packages/node/package.json": manifest("node", { version: "0.2.0" })
    }],
    ["a range on a sibling", "packages/protocol/package.json", {
      "packages/protocol/package.json": manifest("protocol", { dependencies: { "@effect-mcp/jsonrpc": "^0.1.0" } })
    }]
  ],
  "peers": [
    ["effect as a dependency", "packages/jsonrpc/package.json", {
      "packages/jsonrpc/package.json": manifest("jsonrpc", { dependencies: { effect: "^3" } })
    }]
  ],
  "twins": [
    ["server imports client", `${src("server")}:7`, { [src("server")]: imports("@effect-mcp/client/Room") }],
    ["client imports server", `${src("client")}:7`, { [src("client")]: imports("@effect-mcp/server") }]
  ],
  "arrows": [
    ["an arrow upwards", `${src("jsonrpc")}:7`, { [src("jsonrpc")]: imports("@effect-mcp/protocol/Room") }],
    ["testing imports node", `${src("testing")}:7`, { [src("testing")]: imports("@effect-mcp/node/Stdio") }],
    ["an import() upwards", `${src("protocol")}:7`, {
      [src("protocol")]: room("export const late = () => import(\"@effect-mcp/server/Room\")")
    }],
    ["an import type upwards", `${src("protocol")}:7`, {
      [src("protocol")]: room("type Late = import(\"@effect-mcp/server/Room\").Late")
    }],
    ["a dependency upwards", "packages/testing/package.json", {
      "packages/testing/package.json": manifest("testing", { dependencies: { "@effect-mcp/node": "0.1.0" } })
    }],
    ["a reference upwards", "packages/testing/tsconfig.src.json", {
      "packages/testing/tsconfig.src.json": srcReferences(...below.testing, "node")
    }]
  ],
  "outside": [
    ["platform-node in server", `${src("server")}:7`, {
      [src("server")]: imports("@effect/platform-node/NodeRuntime")
    }],
    ["platform in definition", `${src("definition")}:7`, { [src("definition")]: imports("@effect/platform/HttpApp") }],
    ["node:fs in testing", `${src("testing")}:7`, { [src("testing")]: imports("node:fs") }]
  ],
  "platform-node-subpath": [
    ["the barrel in an example", `${src("examples")}:7`, { [src("examples")]: imports("@effect/platform-node") }],
    ["the barrel in a test", "packages/node/test/Room.test.ts:1", {
      "packages/node/test/Room.test.ts": "import \"@effect/platform-node\""
    }]
  ],
  "effect-barrel": [
    ["effect", `${src("jsonrpc")}:7`, { [src("jsonrpc")]: imports("effect") }],
    ["platform", `${src("server")}:7`, { [src("server")]: imports("@effect/platform") }]
  ],
  "relative": [
    ["a path into another package", `${src("protocol")}:7`, {
      [src("protocol")]: imports("../../jsonrpc/src/Room.js")
    }],
    ["a path into another package's tests", "packages/node/test/Room.test.ts:1", {
      "packages/node/test/Room.test.ts": "import \"../../jsonrpc/test/Peer.js\""
    }],
    ["src imports test", `${src("node")}:7`, { [src("node")]: imports("../test/Room.js") }],
    ["a package imports itself by name", `${src("node")}:7`, { [src("node")]: imports("@effect-mcp/node/Stdio") }]
  ],
  "subpath": [
    ["a path into src", `${src("protocol")}:7`, { [src("protocol")]: imports("@effect-mcp/jsonrpc/src/Room") }],
    ["a file name", `${src("protocol")}:7`, { [src("protocol")]: imports("@effect-mcp/jsonrpc/Room.js") }],
    ["a hidden era", `${src("testing")}:7`, { [src("testing")]: imports("@effect-mcp/server/legacy/Serve") }]
  ],
  "reexport": [
    ["another package's name", `${src("protocol")}:7`, {
      [src("protocol")]: room("export { one } from \"@effect-mcp/jsonrpc/Room\"")
    }],
    ["a whole room", `${src("server")}:7`, { [src("server")]: room("export * from \"./Dispatcher.js\"") }]
  ],
  "era": [
    ["the other era, beside", `${src("server", "legacy/Serve")}:7`, {
      [src("server", "legacy/Serve")]: imports("../modern/Serve.js")
    }],
    ["the other era, below", `${src("server", "modern/Serve")}:7`, {
      [src("server", "modern/Serve")]: imports("@effect-mcp/protocol/legacy/Methods")
    }],
    ["the other era, from the barrel", `${src("server", "modern/Serve")}:7`, {
      [src("server", "modern/Serve")]: room("import { LegacyMethods } from \"@effect-mcp/protocol\"")
    }],
    ["a barrel that holds both", `${src("server", "modern/Serve")}:7`, {
      [src("server", "modern/Serve")]: imports("@effect-mcp/protocol")
    }],
    ["one era in a room that does not choose", `${src("server")}:7`, { [src("server")]: imports("./legacy/Serve.js") }],
    ["two eras in a room that may know one", `${src("server")}:8`, {
      [src("server")]: imports("./legacy/Serve.js", "./modern/Serve.js")
    }, { oneEra: [{ room: "server/Room", era: "legacy", why: "a test" }] }],
    ["an exception without a reason", "scripts/rooms.mjs", { [src("server")]: imports("./legacy/Serve.js") }, {
      oneEra: [{ room: "server/Room", era: "legacy", why: "" }]
    }],
    ["an exception that nobody needs", "scripts/rooms.mjs", {}, {
      oneEra: [{ room: "server/Room", era: "legacy", why: "a test" }]
    }]
  ],
  "eras-hidden": [
    ["an exported era", "packages/server/package.json", {
      "packages/server/package.json": manifest("server", { exports: { "./*": "./src/*.ts" } })
    }]
  ],
  "declared": [
    ["a package that is not declared", "packages/jsonrpc/package.json", {
      [src("jsonrpc")]: imports("ajv/dist/2020.js")
    }],
    ["a sibling that is not declared", "packages/protocol/package.json", {
      "packages/protocol/package.json": manifest("protocol", { dependencies: {} })
    }],
    ["a sibling without reference", "packages/protocol/tsconfig.src.json", {
      "packages/protocol/tsconfig.src.json": references()
    }],
    ["a sibling without reference, in tests", "packages/protocol/tsconfig.test.json", {
      "packages/protocol/tsconfig.test.json": references()
    }],
    ["a package that only tests need", "packages/node/package.json", {
      "packages/node/test/Room.test.ts": "import \"@modelcontextprotocol/sdk/client/index.js\""
    }]
  ],
  "built": [
    ["a package that nobody checks", "tsconfig.json", { "tsconfig.json": references("packages/jsonrpc") }],
    ["a package that nobody builds", "tsconfig.build.json", { "tsconfig.build.json": references() }]
  ],
  "size": [
    ["401 lines", src("jsonrpc"), { [src("jsonrpc")]: lines(401) }],
    ["a long test", "packages/node/test/Room.test.ts", { "packages/node/test/Room.test.ts": "//\n".repeat(401) }]
  ],
  "header": [
    ["no header", src("jsonrpc"), { [src("jsonrpc")]: `import "effect/Effect"\n${documented}export const one = 1\n` }],
    ["one line", src("jsonrpc"), { [src("jsonrpc")]: "/**\n * One.\n *\n * @since 0.1.0\n */\n" }],
    ["thirteen lines", src("jsonrpc"), {
      [src("jsonrpc")]: `/**\n${" * More.\n".repeat(11)} *\n * @since 0.1.0\n */\n`
    }],
    ["no @since", src("jsonrpc"), { [src("jsonrpc")]: "/**\n * One.\n * Two.\n */\n" }],
    ["no header in an example", src("examples"), { [src("examples")]: "export const one = 1\n" }]
  ],
  "test": [
    ["a room without test", src("jsonrpc", "Alone"), { [src("jsonrpc", "Alone")]: room() }],
    ["a test in the wrong folder", src("server", "features/Tools"), {
      [src("server", "features/Tools")]: room(),
      "packages/server/test/Tools.test.ts": ""
    }],
    ["a namesake's test", src("jsonrpc", "Ro"), { [src("jsonrpc", "Ro")]: room() }]
  ],
  "name": [
    ["a vague word", src("jsonrpc", "MessageUtils"), added("jsonrpc", "MessageUtils", room())],
    ["a vague folder", src("jsonrpc", "shared/Room"), added("jsonrpc", "shared/Room", room())],
    ["a vague test file", "packages/node/test/helpers.ts", { "packages/node/test/helpers.ts": "" }],
    ["no capital", src("jsonrpc", "room"), added("jsonrpc", "room", room())]
  ],
  "internal": [
    ["an internal folder", src("jsonrpc", "internal/Room"), added("jsonrpc", "internal/Room", room())]
  ],
  "jsdoc": [
    ["no comment", `${src("jsonrpc")}:8`, { [src("jsonrpc")]: bare("export const one = 1") }],
    ["no @category", `${src("jsonrpc")}:9`, {
      [src("jsonrpc")]: bare("/** @since 0.1.0 */\nexport class One {}")
    }],
    ["the header is not a declaration's comment", `${src("jsonrpc")}:7`, {
      [src("jsonrpc")]: `${header}export type One = 1\n`
    }],
    ["an export list", `${src("jsonrpc")}:9`, { [src("jsonrpc")]: bare("const one = 1\nexport { one }") }],
    ["a namespace without @since", `${src("jsonrpc")}:8`, { [src("jsonrpc")]: bare("export namespace One {}") }],
    ["a default export", `${src("jsonrpc")}:8`, { [src("jsonrpc")]: bare("export default 1") }]
  ]
}

describe("the rules of the house", () => {
  it("are all obeyed by a tree that obeys them", () => {
    const { notices, violations } = broken({})
    assert.deepEqual(violations, [])
    assert.deepEqual(notices, [])
  })

  it("are all broken below", () => {
    assert.deepEqual(Object.keys(cases).sort(), [...rules].sort())
  })

  it("let a room know one era by exception", () => {
    const { violations } = broken({ [src("server")]: imports("./legacy/Serve.js") }, {
      oneEra: [{ room: "server/Room", era: "legacy", why: "a test" }]
    })
    assert.deepEqual(violations, [])
  })

  it("notice a large file without failing", () => {
    const { notices, violations } = broken({ [src("jsonrpc")]: lines(251) })
    assert.deepEqual(violations, [])
    assert.deepEqual(notices.map(({ file, rule }) => [file, rule]), [[src("jsonrpc"), "size"]])
  })

  it("take a file of 400 lines", () => {
    assert.deepEqual(broken({ [src("jsonrpc")]: lines(400) }).violations, [])
  })

  for (const [rule, list] of Object.entries(cases)) {
    for (const [what, file, change, lists] of list) {
      it(`${rule}: ${what}`, () => {
        const { violations } = broken(change, lists)
        assert.ok(
          violations.some((one) => one.rule === rule && one.file === file),
          `expected ${rule} at ${file}, got ${json(violations)}`
        )
      })
    }
  }
})
