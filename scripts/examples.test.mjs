// The runner of examples sees what fails: a bad exit, missing words, no end, and examples that are not in the list.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { examples } from "./examples.mjs"

const temporary = mkdtempSync(join(tmpdir(), "examples-"))
after(() => rmSync(temporary, { recursive: true, force: true }))

let trees = 0

const run = async (list, files = {}, limit = 60_000) => {
  const at = join(temporary, String(trees++))
  const all = { "examples.json": list === undefined ? undefined : JSON.stringify(list), ...files }
  for (const [path, text] of Object.entries(all)) {
    const file = join(at, "packages/examples", path)
    mkdirSync(dirname(file), { recursive: true })
    if (text !== undefined) writeFileSync(file, text)
  }
  const lines = []
  const ok = await examples(at, { limit, print: (line) => lines.push(line) })
  return { ok, text: lines.join("\n") }
}

const one = (expect = ["hello"]) => [{ name: "one", command: ["dist/one/main.mjs", "hello"], expect }]

const main = (code) => ({ "src/one/main.ts": "", "dist/one/main.mjs": code })

describe("examples", () => {
  it("pass with the expected words", async () => {
    const { ok, text } = await run(one(), main("console.log(process.argv[2], \"you\")"))
    assert.ok(ok, text)
    assert.match(text, /^ok {3}one/)
  })

  it("fail without them, even when they are on stderr", async () => {
    const { ok, text } = await run(one(), main("console.error(\"hello\")"))
    assert.ok(!ok)
    assert.match(text, /FAIL one .*did not print "hello"/)
  })

  it("fail, and are not run, without the program that they need", async () => {
    const list = [{ ...one()[0], needs: "no-such-program" }]
    const { ok, text } = await run(list, main("console.log(\"hello\")"))
    assert.ok(!ok)
    assert.match(text, /FAIL one .*needs no-such-program: install it, or set NO-SUCH-PROGRAM to its path/)
  })

  it("run on another runtime where they name it", async () => {
    const at = join(temporary, "runtime")
    mkdirSync(join(at, "packages/examples/dist/one"), { recursive: true })
    const list = [{ ...one()[0], also: ["other"] }, { ...one()[0], name: "two" }]
    writeFileSync(join(at, "packages/examples/examples.json"), JSON.stringify(list))
    writeFileSync(join(at, "packages/examples/dist/one/main.mjs"), "console.log(process.execArgv[0], \"hello\")")
    const lines = []
    const runtime = { name: "other", program: [process.execPath, "--no-warnings"] }
    assert.ok(await examples(at, { runtime, print: (line) => lines.push(line) }), lines.join("\n"))
    assert.match(lines.join("\n"), /^ok {3}one [^\n]*\n1 examples, 0 failed$/)
    assert.ok(!await examples(at, { runtime: { ...runtime, name: "unnamed" }, print: () => {} }))
  })

  it("fail with an exit code", async () => {
    const { ok, text } = await run(one(), main("console.log(\"hello\")\nprocess.exit(3)"))
    assert.ok(!ok)
    assert.match(text, /exit code 3/)
  })

  it("fail when they do not end, children included", async () => {
    const code = "import { spawn } from \"node:child_process\"\n" +
      "spawn(process.execPath, [\"-e\", \"setInterval(() => {}, 1000)\"], { stdio: \"inherit\" })\n"
    const { ok, text } = await run(one(), main(code), 500)
    assert.ok(!ok)
    assert.match(text, /did not end/)
  })

  it("fail when they leave a child behind", async () => {
    const code = "import { spawn } from \"node:child_process\"\n" +
      "const args = [\"-e\", \"setTimeout(() => {}, 3000)\"]\n" +
      "spawn(process.execPath, args, { stdio: [\"ignore\", \"ignore\", \"inherit\"], detached: true }).unref()\n" +
      "console.log(\"hello\")\n"
    const { ok, text } = await run(one(), main(code), 1000)
    assert.ok(!ok)
    assert.match(text, /left a child behind/)
  })

  for (
    const [what, list, files, pattern] of [
      ["a folder without entry", one(), { ...main("console.log(\"hello\")"), "src/two/main.ts": "" }, /two: add it/],
      ["an entry without file", one(), {}, /is not there/],
      ["an entry that expects nothing", one([]), main(""), /expect/],
      ["an entry without command", [{ name: "one", expect: ["hello"] }], {}, /needs a name and a command/],
      ["an empty list", [], {}, /nothing to run/],
      ["no list", undefined, {}, /missing/]
    ]
  ) {
    it(`fail with ${what}`, async () => {
      const { ok, text } = await run(list, files)
      assert.ok(!ok)
      assert.match(text, pattern)
    })
  }
})
