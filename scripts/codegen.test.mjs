// Generated files follow the layout: what is written is not stale, and what lags behind the layout is found.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { codegen } from "./codegen.mjs"

const temporary = mkdtempSync(join(tmpdir(), "codegen-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const text = "/**\n * What it does.\n */\nimport \"effect/Effect\"\n"

let trees = 0

const tree = (files) => {
  const at = join(temporary, String(trees++))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), content)
  }
  return at
}

/** Writes what is generated for a package with these modules, and for the other files given. */
const written = (name, modules, others = {}) => {
  const at = tree({
    [`packages/${name}/package.json`]: JSON.stringify({ description: "What it is" }),
    ...Object.fromEntries(modules.map((module) => [`packages/${name}/src/${module}.ts`, text])),
    ...others
  })
  codegen(at, false)
  return {
    at,
    barrel: name === "core" ? undefined : readFileSync(join(at, `packages/${name}/src/index.ts`), "utf8"),
    exports: JSON.parse(readFileSync(join(at, `packages/${name}/package.json`), "utf8")).exports
  }
}

const exported = (barrel) => barrel.split("\n").filter((line) => line.startsWith("export"))

describe("a barrel", () => {
  it("exports each module at the top of src, sorted, under one line of prose", () => {
    const { barrel } = written("testing", ["Zebra", "Ape"])
    assert.equal(
      barrel,
      `/**
 * What it is.
 *
 * @since 0.1.0
 */
export * as Ape from "./Ape.js"
export * as Zebra from "./Zebra.js"
`
    )
  })

  it("leaves out hidden modules, and public ones whose dependencies are heavy", () => {
    const { barrel } = written("sql", ["SqlNodes", "schema/Tables", "PgNodes"])
    assert.deepEqual(exported(barrel), ["export * as SqlNodes from \"./SqlNodes.js\""])
  })

  it("exports the modules of all areas by their own names", () => {
    const { barrel } = written("extensions", ["skills/Skill", "apps/AppView", "apps/AppsClient", "skills/format/Entry"])
    assert.deepEqual(exported(barrel), [
      "export * as AppView from \"./apps/AppView.js\"",
      "export * as Skill from \"./skills/Skill.js\""
    ])
  })
})

describe("exports", () => {
  it("name each public module with a source, types, import and default", () => {
    const { exports } = written("sql", ["SqlNodes", "schema/Tables", "PgNodes"])
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./PgNodes", "./SqlNodes"])
    assert.deepEqual(exports["./SqlNodes"], {
      "@effect-mcp/source": "./src/SqlNodes.ts",
      types: "./dist/SqlNodes.d.ts",
      import: "./dist/SqlNodes.js",
      default: "./dist/SqlNodes.js"
    })
  })

  it("of core have no barrel, leave out the area of a module, and keep that of the vocabulary", () => {
    const { exports } = written("core", [
      "kit/Race",
      "protocol/Version",
      "protocol/legacy/Methods",
      "server/McpServer",
      "server/legacy/Serve"
    ])
    assert.deepEqual(Object.keys(exports), [
      "./package.json",
      "./protocol/Version",
      "./McpServer",
      "./protocol/legacy/Methods"
    ])
    assert.equal(exports["./McpServer"].import, "./dist/server/McpServer.js")
    assert.equal(exports["./protocol/legacy/Methods"].import, "./dist/protocol/legacy/Methods.js")
  })

  it("name a hidden module under ./unstable when a sibling imports it", () => {
    const { exports } = written("redis", ["RedisNodes", "connection/Client", "connection/Streams"], {
      "packages/node/src/HttpServer.ts": "import * as Client from \"@effect-mcp/redis/unstable/Client\"\n"
    })
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./RedisNodes", "./unstable/Client"])
    assert.equal(exports["./unstable/Client"].import, "./dist/connection/Client.js")
  })

  it("do not name a hidden module that only tests import", () => {
    const { exports } = written("redis", ["RedisNodes", "connection/Client"], {
      "packages/node/test/Redis.test.ts": "import * as Client from \"@effect-mcp/redis/unstable/Client\"\n"
    })
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./RedisNodes"])
  })

  it("name a hidden module of an area behind the area", () => {
    const { exports } = written("core", ["kit/Race", "jsonrpc/runtime/Race"], {
      "packages/node/src/HttpServer.ts": "import * as Race from \"@effect-mcp/core/unstable/kit/Race\"\n"
    })
    assert.deepEqual(Object.keys(exports), ["./package.json", "./unstable/kit/Race"])
    assert.equal(exports["./unstable/kit/Race"].import, "./dist/kit/Race.js")
  })
})

describe("the check", () => {
  it("passes after the files were written", () => {
    assert.equal(codegen(written("testing", ["Ape"]).at, true).ok, true)
  })

  it("fails when a barrel is missing", () => {
    const { lines, ok } = codegen(tree({ "packages/testing/src/Ape.ts": text }), true)
    assert.equal(ok, false)
    assert.match(lines.join("\n"), /index\.ts: missing/)
  })

  it("fails when a module came, and names it", () => {
    const { at } = written("testing", ["Ape"])
    writeFileSync(join(at, "packages/testing/src/Bee.ts"), text)
    const { lines, ok } = codegen(at, true)
    assert.equal(ok, false)
    assert.match(lines.join("\n"), /\+ export \* as Bee/)
    assert.match(lines.join("\n"), /\.\/Bee/)
  })

  it("fails when two areas have a public module of one name", () => {
    const { at } = written("core", ["client/Tasks", "server/Tasks"])
    const { lines, ok } = codegen(at, true)
    assert.equal(ok, false)
    assert.match(lines.join("\n"), /two public modules have the path Tasks: rename one/)
  })
})
