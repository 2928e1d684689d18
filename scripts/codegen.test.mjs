// A barrel that is written is not stale; one that lags behind its rooms is found, with what lags.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { codegen } from "./codegen.mjs"

const temporary = mkdtempSync(join(tmpdir(), "codegen-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const room = (what) => `/**\n * ${what}.\n *\n * @since 0.1.0\n */\nimport "effect/Effect"\n`

let trees = 0

const tree = (files) => {
  const at = join(temporary, String(trees++))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

const written = (name, files) => {
  const at = tree({
    [`packages/${name}/package.json`]: JSON.stringify({ description: "What it is" }),
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`packages/${name}/src/${path}`, text]))
  })
  codegen(at, false)
  return { at, text: readFileSync(join(at, `packages/${name}/src/index.ts`), "utf8") }
}

const exportsOf = (text) => text.split("\n").filter((line) => line.startsWith("export"))

describe("the barrels", () => {
  it("hold each room under its own header, sorted", () => {
    const { text } = written("jsonrpc", {
      "Zebra.ts": room("Stripes"),
      "Ape.ts": `#!/usr/bin/env node\n${room("Arms")}`
    })
    assert.equal(
      text,
      `/**
 * What it is.
 *
 * Written by \`npm run codegen\` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * Arms.
 *
 * @since 0.1.0
 */
export * as Ape from "./Ape.js"

/**
 * Stripes.
 *
 * @since 0.1.0
 */
export * as Zebra from "./Zebra.js"
`
    )
  })

  it("publish the eras of protocol, after its other rooms", () => {
    const files = { "modern/Methods.ts": room("M"), "legacy/Methods.ts": room("L"), "Version.ts": room("V") }
    assert.deepEqual(exportsOf(written("protocol", files).text), [
      "export * as Version from \"./Version.js\"",
      "export * as LegacyMethods from \"./legacy/Methods.js\"",
      "export * as ModernMethods from \"./modern/Methods.js\""
    ])
  })

  it("hide the folders of server and client", () => {
    const files = { "Router.ts": room("R"), "legacy/Serve.ts": room("S"), "http/Endpoint.ts": room("E") }
    for (const name of ["server", "client"]) {
      assert.deepEqual(exportsOf(written(name, files).text), ["export * as Router from \"./Router.js\""])
    }
  })

  it("are not written for examples", () => {
    const at = tree({ "packages/examples/package.json": "{}", "packages/examples/src/main.ts": "" })
    assert.deepEqual(codegen(at, false).lines, ["0 barrels, 0 written"])
  })

  it("pass the check when fresh", () => {
    assert.equal(codegen(written("jsonrpc", { "Ape.ts": room("Arms") }).at, true).ok, true)
  })

  it("fail the check when missing", () => {
    const { lines, ok } = codegen(tree({ "packages/jsonrpc/src/Ape.ts": room("Arms") }), true)
    assert.equal(ok, false)
    assert.match(lines[0], /missing/)
  })

  it("fail the check when a room came, and when a header changed", () => {
    const { at } = written("jsonrpc", { "Ape.ts": room("Arms") })
    writeFileSync(join(at, "packages/jsonrpc/src/Bee.ts"), room("Wings"))
    writeFileSync(join(at, "packages/jsonrpc/src/Ape.ts"), room("Legs"))
    const { lines, ok } = codegen(at, true)
    assert.equal(ok, false)
    assert.ok(lines.includes("  - * Arms.") || lines.includes("  -  * Arms."), lines.join("\n"))
    assert.ok(lines.includes("  + export * as Bee from \"./Bee.js\""), lines.join("\n"))
  })
})
