import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createInterface } from "node:readline"
import * as Environment from "../../src/subprocess/Environment.js"
import * as Subprocess from "../../src/subprocess/Subprocess.js"
import { fixture, node, until } from "../Fixture.js"
import { isRunning, pidsOf } from "../Processes.js"

const launch = (
  name: string,
  args: ReadonlyArray<string>,
  timeouts?: Subprocess.Timeouts
): Effect.Effect<Subprocess.Subprocess, never, Scope.Scope> =>
  Effect.orDie(Subprocess.make({
    command: node,
    args: [fixture(name), ...args],
    env: Environment.defaultEnvironment(),
    stderr: "pipe"
  }, timeouts))

/** The lines of its stderr so far. */
const linesOf = (child: Subprocess.Subprocess): Array<string> => {
  const lines: Array<string> = []
  createInterface({ input: child.stderr! }).on("line", (line) => lines.push(line))
  return lines
}

const ready = (child: Subprocess.Subprocess) => Effect.promise(() => once(child.stdout, "data"))

const quick: Subprocess.Timeouts = { grace: "100 millis", terminate: "100 millis", kill: "10 seconds" }

/** Real time for the processes, and a test clock for the timeouts. */
const turnWhile = (going: () => boolean, millis: number) =>
  Effect.whileLoop({
    while: going,
    body: () =>
      Effect.zipRight(
        TestClock.adjust(millis),
        Effect.async<void>((resume) => {
          setImmediate(() => resume(Effect.void))
        })
      ),
    step: () => {}
  })

const untilSeen = (so: () => boolean) => turnWhile(() => !so(), 0)

describe("Subprocess", () => {
  it.live("does not signal a program that exits by itself", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("server.mjs", []), scope)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* child.exited, { code: 0, signal: null })
      assert.isFalse(isRunning(child.pid))
    }))

  it.scopedLive("ignores errors of the child and its pipes", () =>
    Effect.gen(function*() {
      const child = yield* launch("deaf.mjs", [], quick)
      yield* ready(child)
      const fails = Effect.async<void>((resume) => {
        child.stdin.once("close", () => resume(Effect.void))
        child.stdin.destroy(new Error("write EPIPE"))
      })
      yield* fails
      assert.isAbove(child.stdout.listenerCount("error"), 0)
      assert.isAbove(child.stderr!.listenerCount("error"), 0)
    }))

  it.effect("sends each signal once, and not before its timeout", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("stubborn.mjs", ["1"]), scope)
      const lines = linesOf(child)
      yield* ready(child)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* untilSeen(() => lines.includes("EOF"))
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(lines, ["ready", "EOF"])
      yield* TestClock.adjust("1 millis")
      yield* untilSeen(() => lines.includes("SIGTERM"))
      yield* TestClock.adjust("1999 millis")
      assert.isTrue(isRunning(child.pid))
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* child.exited, { code: null, signal: "SIGKILL" })
      yield* turnWhile(() => closing.unsafePoll() === null, 5)
      assert.deepStrictEqual(lines, ["ready", "EOF", "SIGTERM"])
    }))

  it.effect("waits for a program that exits on SIGTERM", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("stubborn.mjs", ["0"]), scope)
      const lines = linesOf(child)
      yield* ready(child)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* untilSeen(() => lines.includes("EOF"))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* child.exited, { code: 0, signal: null })
      yield* turnWhile(() => closing.unsafePoll() === null, 5)
    }))

  for (const ends of ["exit", "stay"]) {
    it.effect(`ends three processes that ignore SIGTERM, when their leader would ${ends} by itself`, () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const scope = yield* Scope.make()
        const child = yield* Scope.extend(launch("tree.mjs", ["3", ends, mark]), scope)
        yield* ready(child)
        assert.strictEqual(pidsOf(mark).length, 3)
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        // The leader has all the time that it needs, at the end of its input or after SIGTERM.
        if (ends === "stay") yield* TestClock.adjust("2 seconds")
        const status = yield* child.exited
        // SIGTERM where it has not come yet, and SIGKILL.
        yield* TestClock.adjust("2 seconds")
        if (ends === "exit") yield* TestClock.adjust("2 seconds")
        yield* turnWhile(() => closing.unsafePoll() === null, 5)
        assert.deepStrictEqual(pidsOf(mark), [])
        assert.deepStrictEqual(status, ends === "exit" ? { code: 0, signal: null } : { code: null, signal: "SIGTERM" })
      }))
  }

  it.live("ends the processes that a killed leader has left", () =>
    Effect.gen(function*() {
      const mark = randomUUID()
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("tree.mjs", ["3", "stay", mark], quick), scope)
      yield* ready(child)
      process.kill(child.pid, "SIGKILL")
      assert.deepStrictEqual(yield* child.exited, { code: null, signal: "SIGKILL" })
      assert.strictEqual(pidsOf(mark).length, 2)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(pidsOf(mark), [])
    }))

  it.live("leaves no process when starting it is interrupted", () =>
    Effect.gen(function*() {
      const mark = randomUUID()
      for (let n = 0; n < 5; n++) {
        const fiber = yield* Effect.fork(Effect.scoped(Effect.zipRight(
          launch("stubborn.mjs", ["0", mark], { grace: 0 }),
          Effect.never
        )))
        for (let turn = 0; turn < n; turn++) yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(pidsOf(mark), [])
      }
    }))

  it.live("cannot be interrupted while it ends a process", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("stubborn.mjs", ["0"], quick), scope)
      yield* ready(child)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* until(() => child.stdin.writableEnded)
      yield* Fiber.interrupt(closing)
      assert.isFalse(isRunning(child.pid))
    }))

  it.live("destroys an input that the program does not read", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("deaf.mjs", [], quick), scope)
      yield* ready(child)
      child.stdin.write("x".repeat(4 * 1024 * 1024))
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(child.stdin.destroyed)
      assert.isFalse(isRunning(child.pid))
    }))

  // On the test clock, a timeout of 0 leaves the process no time to end.
  it.effect("leaves a process that cannot be ended, with a warning, and does not keep this one alive", () =>
    Effect.gen(function*() {
      const warnings: Array<string> = []
      const logger = Logger.make(({ message }) => {
        warnings.push(String(message))
      })
      const scope = yield* Scope.make()
      const child = yield* Effect.provide(
        Scope.extend(launch("stubborn.mjs", ["0"], { grace: 0, terminate: 0, kill: 0 }), scope),
        Logger.replace(Logger.defaultLogger, logger)
      )
      yield* ready(child)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(warnings.length, 1)
      assert.match(warnings[0]!, new RegExp(`pid ${child.pid}\\) could not be ended and was left behind`))
      yield* untilSeen(() => !isRunning(child.pid))
    }))

  it.live("leaves no listener and no pipe", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const child = yield* Scope.extend(launch("server.mjs", []), scope)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(child.stdin.destroyed && child.stdout.destroyed && child.stderr!.destroyed)
      assert.strictEqual(child.stdout.listenerCount("data"), 0)
    }))
})
