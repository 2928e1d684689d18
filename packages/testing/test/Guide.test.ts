// Runs the tests of the documents: those of the guides, of the package's README and of the README of the repository are tests of
// this file. `scripts/docs.mjs` compiles them.
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const programsOf = (path: string, name: string): ReadonlyArray<string> => {
  const document = readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")
  const folder = new URL(`../build/guide/${name}/`, import.meta.url)
  mkdirSync(folder, { recursive: true })
  return Array.from(document.matchAll(/```ts\n(?:\/\/ file: (\S+)\n)?([^]*?)```/g), ([, given, code], i) => {
    const end = /^import .*vitest"/m.test(code!) ? "test.ts" : "ts"
    const file = fileURLToPath(new URL(given ?? `block-${i + 1}.${end}`, folder))
    writeFileSync(file, code!)
    return file
  }).filter((file) => file.endsWith(".test.ts"))
}

const documents = [
  ["docs/testing.md", "package", 3],
  ["docs/server/11-testing.md", "server", 3],
  ["docs/host/12-testing.md", "host", 2],
  ["docs/platform/02-protect-a-server.md", "platform", 1],
  ["packages/testing/README.md", "readme", 1],
  ["README.md", "repository", 1]
] as const

for (const [path, name, tests] of documents) {
  const programs = programsOf(path, name)

  describe(`The tests in ${path}`, () => {
    it("are there", () => {
      assert.isAtLeast(programs.length, tests)
    })
  })

  for (const program of programs) await import(program)
}
