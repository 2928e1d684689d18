// A lock file with an address, or with a dependency that it does not hold, is found wherever it is.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, it } from "node:test"
import { flaws } from "./lock.mjs"

const temporary = mkdtempSync(join(tmpdir(), "lock-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

let trees = 0

const flawsOf = (packages) => {
  const at = join(temporary, String(trees++))
  mkdirSync(join(at, "scripts/nested"), { recursive: true })
  writeFileSync(join(at, "scripts/nested/package-lock.json"), JSON.stringify({ packages }))
  return flaws(at)
}

describe("lock files", () => {
  it("may link workspaces and nest packages", () => {
    assert.deepEqual(
      flawsOf({
        "": { dependencies: { one: "1" } },
        "node_modules/one": { resolved: "packages/one", link: true },
        "packages/one": { dependencies: { two: "1", "@three/four": "1" } },
        "packages/one/node_modules/two": { optionalDependencies: { "@three/four": "1" } },
        "node_modules/@three/four": {}
      }),
      []
    )
  })

  it("hold no address", () => {
    for (const resolved of ["https://registry.example/one.tgz", "http://one", "git+ssh://git@one/one.git"]) {
      assert.equal(flawsOf({ "node_modules/one": { resolved } }).length, 1)
    }
  })

  it("hold every dependency, optional ones too", () => {
    assert.equal(flawsOf({ "": { dependencies: { one: "1" } } }).length, 1)
    assert.equal(flawsOf({ "node_modules/one": { optionalDependencies: { two: "1" } } }).length, 1)
    assert.equal(flawsOf({ "node_modules/one/node_modules/two": {}, "": { dependencies: { two: "1" } } }).length, 1)
  })
})
