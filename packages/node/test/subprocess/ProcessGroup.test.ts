import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as ProcessGroup from "../../src/subprocess/ProcessGroup.js"
import { node, until } from "../Fixture.js"
import { isRunning } from "../Processes.js"

const start = (...args: ReadonlyArray<string>) =>
  Effect.async<{ readonly pid: number; readonly exited: () => boolean }>((resume) => {
    const child = spawn(node, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once(
      "data",
      () => resume(Effect.succeed({ pid: child.pid!, exited: () => child.signalCode !== null }))
    )
  })

const waiting = "setInterval(() => {}, 1 << 30); console.log('ready')"

describe("ProcessGroup", () => {
  it.live("signals the whole group, and detects its end", () =>
    Effect.gen(function*() {
      const { exited, pid } = yield* start(
        "-e",
        `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(waiting)}], { stdio: "inherit" });
         setInterval(() => {}, 1 << 30)`
      )
      assert.isTrue(ProcessGroup.isAlive(pid))
      assert.isTrue(ProcessGroup.signal(pid, "SIGKILL"))
      yield* until(() => exited() && !ProcessGroup.isAlive(pid))
    }))

  it.scopedLive("does not count zombies as alive", () =>
    Effect.gen(function*() {
      // A parent that stops before it could wait for its child.
      const script = "console.log(require('child_process').spawn('true', { detached: true, stdio: 'ignore' }).pid);" +
        "process.kill(process.pid, 'SIGSTOP')"
      const parent = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(node, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] })),
        (parent) => Effect.sync(() => parent.kill("SIGKILL"))
      )
      const pid = yield* Effect.async<number>((resume) => {
        parent.stdout.once("data", (chunk) => resume(Effect.succeed(Number(chunk))))
      })
      yield* until(() => !isRunning(pid))
      assert.isTrue(process.kill(-pid, 0))
      assert.isFalse(ProcessGroup.isAlive(pid))
    }))

  it("reports that an unknown group is not alive", () => {
    assert.isFalse(ProcessGroup.isAlive(2 ** 30))
    assert.isFalse(ProcessGroup.signal(2 ** 30, "SIGTERM"))
  })
})
