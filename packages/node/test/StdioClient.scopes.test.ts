import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { bundledOnce } from "./Bundle.js"
import { node } from "./Fixture.js"

const program = bundledOnce("scopes.ts")

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program until it exits by itself: a resource that it leaves open would keep it alive. */
const run = (role: "client" | "leaky"): Effect.Effect<Ended, never, Scope.Scope> =>
  Effect.gen(function*() {
    const path = yield* program
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(node, [path, role], { stdio: ["ignore", "pipe", "pipe"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    return yield* Effect.async<Ended>((resume) => {
      let stdout = ""
      let stderr = ""
      child.stdout.setEncoding("utf8").on("data", (text) => stdout += text)
      child.stderr.setEncoding("utf8").on("data", (text) => stderr += text)
      child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
    })
  })

const nothing = { fibers: 0, timers: 0, handles: [], listeners: [] }

/** How many servers were launched and reported what is left of them. */
const launched: Record<string, number> = {
  "the client closes": 1,
  "the client closes in the middle of a call": 1,
  "the server closes in the middle of a call, then the client": 1,
  "the server is killed in the middle of a call, then the client closes": 0,
  "of two clients the first closes first": 2,
  "of two clients the second closes first": 2,
  "in one process, the client closes first": 0,
  "in one process, the server closes first": 0,
  "in one process, both close at once": 0
}

describe("Closing a scope", () => {
  it.scopedLive(
    "leaves no fiber, no timer, no listener and no child process, from either side and in any order",
    () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run("client")
        assert.strictEqual(stderr, "")
        assert.strictEqual(code, 0)
        const { "the client is interrupted while it connects": interrupted, ...results } = JSON.parse(stdout)
        assert.deepStrictEqual(
          results,
          Object.fromEntries(
            Object.entries(launched).map(([name, count]) => [
              name,
              { ...nothing, children: 0, servers: Array(count).fill(nothing) }
            ])
          )
        )
        // The server may have been ended before it could report.
        const { servers, ...rest } = interrupted
        assert.deepStrictEqual(rest, { ...nothing, children: 0 })
        for (const server of servers) assert.deepStrictEqual(server, nothing)
      }),
    120_000
  )

  it.scopedLive("that leaves resources open is reported", () =>
    Effect.gen(function*() {
      const { handles, ...left } = JSON.parse((yield* run("leaky")).stdout)
      assert.deepStrictEqual(left, { fibers: 2, timers: 1, listeners: ["0 beforeExit 1"] })
      assert.include(handles, "Timeout")
    }))
})
