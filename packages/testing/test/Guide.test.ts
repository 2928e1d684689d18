// Runs the programs of docs/testing.md: their tests are tests of this file. `scripts/docs.mjs` compiles them.
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const guide = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8")
const folder = new URL("../build/guide/", import.meta.url)

mkdirSync(folder, { recursive: true })
const programs = Array.from(guide.matchAll(/```ts\n(?:\/\/ file: (\S+)\n)?([^]*?)```/g), ([, name, code], i) => {
  const file = fileURLToPath(new URL(name ?? `block-${i + 1}.test.ts`, folder))
  writeFileSync(file, code!)
  return file
})

describe("The guide to testing", () => {
  it("has programs", () => {
    assert.isAtLeast(programs.length, 6)
  })
})

for (const program of programs.filter((file) => file.endsWith(".test.ts"))) await import(program)
