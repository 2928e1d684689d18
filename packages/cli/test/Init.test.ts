/**
 * `init`: what it writes, asks and prints. scripts/packages.mjs installs each template with the packed packages, and runs its tests,
 * its build and its server.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { answer, atTerminal, folder, run, uncolored } from "./Program.js"

const filesOf = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1)).sort()

describe("init", () => {
  for (const template of ["stdio", "http", "host"] as const) {
    it.scopedLive(`writes a project of the template ${template}, and prints what comes next`, () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        const { code, err, out } = yield* run(["init", "My Server", "--template", template], { cwd })
        const path = join(cwd, "My Server")
        assert.deepStrictEqual([code, out], [0, `Written: ${path}\n`])
        const files = filesOf(path)
        assert.includeMembers(files, [
          ".github/workflows/ci.yml",
          ".gitignore",
          "package.json",
          "src/main.ts",
          "tsconfig.json"
        ])
        assert.isTrue(files.some((file) => /^test\/\w+\.test\.ts$/.test(file)))
        const texts = files.map((file) => readFileSync(join(path, file), "utf8"))
        assert.notInclude(texts.join(), "__NAME__")
        assert.strictEqual(JSON.parse(readFileSync(join(path, "package.json"), "utf8")).name, "my-server")
        assert.match(err, /cd "My Server"\n {2}npm install\n {2}npm test\n {2}npm run build/)
        if (template !== "host") {
          assert.match(err, /Claude Desktop[^]*mcpServers[^]*Cursor|Cursor[^]*mcpServers/)
          assert.match(err, /VS Code[^]*"servers"[^]*Claude Code:\nclaude mcp add/)
        }
      }))
  }

  it.scopedLive("asks at a terminal", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const running = yield* atTerminal(["init"], { cwd })
      yield* answer(running, [[/Folder of the project/, "weather\r"], [/What is it\?/, "\u001b[B\r"]])
      const { code, out } = yield* running.ended
      assert.match(uncolored(out), /Written: .*weather/)
      assert.strictEqual(code, 0)
      assert.match(readFileSync(join(cwd, "weather", "src", "main.ts"), "utf8"), /HttpServer/)
    }))

  it.scopedLive("overwrites nothing", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const none = yield* run(["init"], { cwd })
      assert.deepStrictEqual([none.code, none.err], [2, "Name the folder of the project\n"])
      mkdirSync(join(cwd, "mine"))
      writeFileSync(join(cwd, "mine", "a"), "")
      const { code, err } = yield* run(["init", "mine"], { cwd })
      assert.match(err, /is not empty: give another folder/)
      assert.deepStrictEqual([code, filesOf(join(cwd, "mine"))], [2, ["a"]])
      const file = yield* run(["init", "mine/a"], { cwd })
      assert.deepStrictEqual([file.code, file.err], [
        1,
        `Cannot write to ${join(cwd, "mine", "a")}: there is a file of this name\n`
      ])
    }))
})
