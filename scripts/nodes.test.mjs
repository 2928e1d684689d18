// The run on other versions of Node takes the versions that are named, and no binary for another one.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, it } from "node:test"
import { majors, packageOf, parse, wrongVersion } from "./nodes.mjs"

const read = (name) => JSON.parse(readFileSync(new URL(`nodes/${name}`, import.meta.url), "utf8"))

describe("the run on other versions of Node", () => {
  it("takes every version and the project of Node, unless it is told otherwise", () => {
    assert.deepEqual(parse([]), { majors, vitest: ["run", "--project", "node"] })
    assert.deepEqual(parse(["24", "Pipe"]), { majors: ["24"], vitest: ["run", "--project", "node", "Pipe"] })
    assert.deepEqual(parse(["--all", "22"]), { majors: ["22"], vitest: ["run"] })
  })

  it("refuses a binary of another version, and one that prints none", () => {
    assert.equal(wrongVersion("24", "v24.21.0\n"), undefined)
    for (const printed of ["v20.20.2\n", "v2.4.0\n", "v240.1.0\n", "24.21.0\n", ""]) {
      assert.match(wrongVersion("24", printed), /not Node 24/)
    }
  })

  it("has a package for each version on Linux, and each package is of its version", () => {
    const { optionalDependencies } = read("package.json")
    const { packages } = read("package-lock.json")
    for (const major of majors) {
      for (const arch of ["x64", "arm64"]) {
        const name = packageOf(major, "linux", arch)
        const [, version] = /^npm:node-linux-\w+@(.*)$/.exec(optionalDependencies[name])
        assert.equal(wrongVersion(major, `v${version}`), undefined)
        assert.equal(packages[`node_modules/${name}`].version, version)
      }
    }
  })
})
