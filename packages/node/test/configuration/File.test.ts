import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as File from "../../src/configuration/File.js"

const MAX = 200_000

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-file-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const problem = (path: string) =>
  Effect.map(Effect.flip(File.read(path, MAX)), ({ isAbsent, reason }) => [isAbsent, reason] as const)

describe("A file of servers", () => {
  it.scopedLive("is read whole up to its limit", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "a.json")
      writeFileSync(path, `${"x".repeat(100_000)}ü`)
      assert.strictEqual(yield* File.read(path, MAX), `${"x".repeat(100_000)}ü`)
      writeFileSync(path, "")
      truncateSync(path, MAX)
      assert.lengthOf(yield* File.read(path, MAX), MAX)
      truncateSync(path, MAX + 1)
      assert.deepStrictEqual(yield* problem(path), [false, `it has more than ${MAX} bytes`])
    }))

  it.scopedLive("is not a folder, pipe or device, and a link leads to a file", () =>
    Effect.gen(function*() {
      const at = yield* folder
      assert.deepStrictEqual(yield* problem(at), [false, "it is not a regular file"])
      const link = join(at, "link")
      writeFileSync(join(at, "real"), "{}")
      symlinkSync("real", link)
      assert.strictEqual(yield* File.read(link, MAX), "{}")
      rmSync(link)
      symlinkSync("/dev/zero", link)
      assert.deepStrictEqual(yield* problem(link), [false, "it is not a regular file"])
      rmSync(link)
      symlinkSync("link", link)
      assert.deepStrictEqual(yield* problem(link), [false, "the file cannot be opened: ELOOP"])
      // Nobody writes to the pipe.
      execFileSync("mkfifo", [join(at, "pipe")])
      assert.deepStrictEqual(yield* problem(join(at, "pipe")), [false, "it is not a regular file"])
    }))

  it.scopedLive("is absent where there is none, and refused where the user may not read it", () =>
    Effect.gen(function*() {
      const at = yield* folder
      const path = join(at, "a.json")
      assert.deepStrictEqual(yield* problem(path), [true, "there is no such file"])
      writeFileSync(path, "{}")
      assert.strictEqual((yield* problem(join(path, "b.json")))[0], true)
      chmodSync(path, 0)
      if (process.getuid?.() !== 0) {
        assert.deepStrictEqual(yield* problem(path), [false, "the file cannot be opened: EACCES"])
      }
    }))
})
