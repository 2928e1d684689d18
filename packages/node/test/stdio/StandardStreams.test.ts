import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import ChildProcess from "node:child_process"
import Fs, { writeSync } from "node:fs"
import * as StandardStreams from "../../src/stdio/StandardStreams.js"

/** The functions that a claim replaces. */
const replaced = () => [
  process.stdout.write,
  Fs.write,
  Fs.writeSync,
  writeSync,
  ChildProcess.spawnSync,
  ChildProcess.execSync,
  (ChildProcess.ChildProcess.prototype as any).spawn
]

// StdioServer.test.ts shows, in another process, that nothing reaches standard output.
describe.sequential("StandardStreams", () => {
  it.effect("restores everything when the scope closes", () =>
    Effect.gen(function*() {
      const before = replaced()
      const own = Object.getOwnPropertyDescriptor(process.stdout, "write")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* StandardStreams.input
        yield* StandardStreams.output
        replaced().forEach((replacement, i) => assert.notStrictEqual(replacement, before[i]))
      }))
      replaced().forEach((original, i) => assert.strictEqual(original, before[i]))
      assert.deepStrictEqual(Object.getOwnPropertyDescriptor(process.stdout, "write"), own)
    }))

  it.effect("allows one claim for each stream at a time", () =>
    Effect.gen(function*() {
      for (const stream of [Effect.asVoid(StandardStreams.input), Effect.asVoid(StandardStreams.output)]) {
        const scope = yield* Scope.make()
        yield* Scope.extend(stream, scope)
        const error = yield* Effect.flip(
          Effect.scoped(stream)
        )
        assert.strictEqual(error.reason, "Open")
        assert.match(error.message, /is already used by another transport in this process/)
        yield* Scope.close(scope, Exit.void)
        yield* Effect.scoped(stream)
      }
    }))

  it.effect("keeps the first claim when a second fails", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* StandardStreams.output
      const write = process.stdout.write
      yield* Effect.ignore(Effect.scoped(StandardStreams.output))
      assert.strictEqual(process.stdout.write, write)
    })))

  it.effect("returns the streams, and the only function that writes to standard output", () =>
    Effect.scoped(Effect.gen(function*() {
      assert.strictEqual(yield* StandardStreams.input, process.stdin)
      const { stream, write } = yield* StandardStreams.output
      assert.strictEqual(stream, process.stdout)
      yield* Effect.async<void>((resume) => {
        write("", () => resume(Effect.void))
      })
    })))
})
