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
    barrel: readFileSync(join(at, `packages/${name}/src/index.ts`), "utf8"),
    exports: JSON.parse(readFileSync(join(at, `packages/${name}/package.json`), "utf8")).exports
  }
}

const exported = (barrel) => barrel.split("\n").filter((line) => line.startsWith("export"))

describe("a barrel", () => {
  it("exports each module at the top of src, sorted, under one line of prose", () => {
    const { barrel } = written("jsonrpc", ["Zebra", "Ape"])
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

  it("exports the eras of protocol after its other modules", () => {
    const { barrel } = written("protocol", ["modern/Methods", "legacy/Methods", "Version"])
    assert.deepEqual(exported(barrel), [
      "export * as Version from \"./Version.js\"",
      "export * as LegacyMethods from \"./legacy/Methods.js\"",
      "export * as ModernMethods from \"./modern/Methods.js\""
    ])
  })

  it("leaves out hidden modules, and public ones whose dependencies are heavy", () => {
    const { barrel } = written("server", ["McpServer", "legacy/Serve", "http/Guard", "HttpEndpoint"])
    assert.deepEqual(exported(barrel), ["export * as McpServer from \"./McpServer.js\""])
  })
})

describe("exports", () => {
  it("name each public module with a source, types, import and default", () => {
    const { exports } = written("server", ["McpServer", "http/Guard", "HttpEndpoint"])
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./HttpEndpoint", "./McpServer"])
    assert.deepEqual(exports["./McpServer"], {
      "@effect-mcp/source": "./src/McpServer.ts",
      types: "./dist/McpServer.d.ts",
      import: "./dist/McpServer.js",
      default: "./dist/McpServer.js"
    })
  })

  it("name a hidden module under ./unstable when a sibling imports it", () => {
    const sibling = "import * as Guard from \"@effect-mcp/server/unstable/Guard\"\n"
    const { exports } = written("server", ["McpServer", "http/Guard", "http/MediaType"], {
      "packages/node/src/HttpServer.ts": sibling
    })
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./McpServer", "./unstable/Guard"])
    assert.equal(exports["./unstable/Guard"].import, "./dist/http/Guard.js")
  })

  it("keep the folder of a module of the kit", () => {
    const { exports } = written("jsonrpc", ["kit/Race", "runtime/Race"], {
      "packages/node/src/HttpServer.ts": "import * as Race from \"@effect-mcp/jsonrpc/unstable/kit/Race\"\n"
    })
    assert.deepEqual(Object.keys(exports), ["./package.json", ".", "./unstable/kit/Race"])
    assert.equal(exports["./unstable/kit/Race"].import, "./dist/kit/Race.js")
  })
})

describe("the check", () => {
  it("passes after the files were written", () => {
    assert.equal(codegen(written("jsonrpc", ["Ape"]).at, true).ok, true)
  })

  it("fails when a barrel is missing", () => {
    const { lines, ok } = codegen(tree({ "packages/jsonrpc/src/Ape.ts": text }), true)
    assert.equal(ok, false)
    assert.match(lines.join("\n"), /index\.ts: missing/)
  })

  it("fails when a module came, and names it", () => {
    const { at } = written("jsonrpc", ["Ape"])
    writeFileSync(join(at, "packages/jsonrpc/src/Bee.ts"), text)
    const { lines, ok } = codegen(at, true)
    assert.equal(ok, false)
    assert.match(lines.join("\n"), /\+ export \* as Bee/)
    assert.match(lines.join("\n"), /\.\/Bee/)
  })
})
