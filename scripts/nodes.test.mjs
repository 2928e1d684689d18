// The run on other versions of Node takes the versions that are named, and no binary for another one.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "node:test"
import { majors, packageOf, parse, wrongVersion } from "./nodes.mjs"
import { filesUnder, root } from "./workspace.mjs"

const read = (name) => JSON.parse(readFileSync(new URL(`nodes/${name}`, import.meta.url), "utf8"))

describe("the run on other versions of Node", () => {
  const all = ["run", "--no-isolate", "--minWorkers=3", "--maxWorkers=3"]
  const touching = [...all, "--project", "node", "--project", "redis", "--project", "sql"]

  it("takes every version and the projects that touch Node, unless an argument says otherwise", () => {
    assert.deepEqual(parse([]), majors.map((major) => ({ major, args: touching })))
    assert.deepEqual(parse(["24", "Pipe"]), [{ major: "24", args: [...touching, "Pipe"] }])
    assert.deepEqual(parse(["--all", "22"]), [{ major: "22", args: all }])
  })

  it("runs files that there are, and more of them on the newest version", () => {
    const [newest, ...others] = parse(["--brief"])
    assert.equal(newest.major, majors[0])
    const files = ["node", "redis", "sql"].flatMap((name) =>
      filesUnder(join(root, "packages", name), "test", () => true)
    )
    assert.equal(others.length, majors.length - 1)
    for (const { args } of others) assert.ok(args.length < newest.args.length)
    for (const { args } of [newest, ...others]) {
      for (const filter of args.slice(touching.length)) assert.ok(files.some((file) => file.includes(filter)), filter)
    }
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
