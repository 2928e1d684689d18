// The tables of options have what the comments of the sources say, and a marker that leads nowhere is found.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { options } from "./options.mjs"

const temporary = mkdtempSync(join(tmpdir(), "options-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

const source = `export interface Options {
  /** How many. Default: 64 | more, 0.5 seconds each. */
  readonly many?: number
  /**
   * How it answers.
   *
   * - one: with one.
   * - two: with
   *   two.
   *
   * Default: one.
   */
  readonly answers?: string
  /**
   * Its name.
   *
   * @deprecated since today.
   */
  readonly name: string
}
`

let trees = 0

const tree = (page) => {
  const at = join(temporary, String(trees++))
  for (const [path, text] of Object.entries({ "docs/options.md": page, "packages/one/src/One.ts": source })) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

const marker = (...rest) => `<!-- options: packages/one/src/One.ts ${rest.join(" ")} -->`

const pageAt = (at) => readFileSync(join(at, "docs/options.md"), "utf8")

describe("docs/options.md", () => {
  it("has a row for each option", () => {
    const at = tree(`# Options\n\n${marker("Options")}\n| old |\n\nText\n`)
    assert.deepEqual(options(at).ok, true)
    assert.deepEqual(pageAt(at).split("\n").slice(3), [
      "| option | default | |",
      "|---|---|---|",
      "| `many` | 64 \\| more, 0.5 seconds each | How many. |",
      "| `answers` | one | How it answers.<br>- one: with one.<br>- two: with two. |",
      "| `name` | required | Its name. Deprecated since today. |",
      "",
      "Text",
      ""
    ])
    assert.equal(options(at, true).ok, true)
  })

  it("has some options where the marker names them", () => {
    const at = tree(`${marker("Options", "name")}\n`)
    options(at)
    assert.equal(pageAt(at).match(/^\| `/gm).length, 1)
  })

  it("is stale when the sources say something else", () => {
    assert.deepEqual(options(tree(`${marker("Options")}\n`), true).lines, [
      "docs/options.md: stale: run node scripts/options.mjs"
    ])
  })

  it("names each option of a table that is written by hand", () => {
    const named = "<!-- named: packages/one/src/One.ts Options -->"
    assert.equal(options(tree(`${named}\n\n| \`many\`, \`answers\`, \`name\` |\n`)).ok, true)
    assert.deepEqual(options(tree(`${named}\n\n| \`many\`, \`name\` |\n`)).lines, [
      "docs/options.md:1: the page does not name `answers` of Options"
    ])
  })

  it("fails when a marker leads nowhere", () => {
    const failed = (text) => options(tree(text)).lines
    assert.deepEqual(failed(marker("Other")), ["docs/options.md:1: packages/one/src/One.ts has no interface Other"])
    assert.deepEqual(failed(marker("Options", "other")), ["docs/options.md:1: Options has no other"])
    assert.deepEqual(failed("<!-- options: packages/two.ts Options -->"), [
      "docs/options.md:1: there is no packages/two.ts"
    ])
  })
})
