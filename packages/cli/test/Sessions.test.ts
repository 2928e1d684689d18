/**
 * The commands that stay: `listen`, and `tasks` of a server that runs them, in both eras and over several runs of the program.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everythingAt, launch, ours, run } from "./Program.js"

const eras = ["2025-11-25", "2026-07-28"]

describe("listen", () => {
  for (const revision of eras) {
    it.scopedLive(`prints what a server sends by itself until it is interrupted, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* everythingAt
        const at = ["--revision", revision]
        const listening = yield* launch(["listen", url, "test://watched-resource", "--json", ...at])
        yield* listening.sees(/Listening to everything/)
        yield* run(["call", url, "test_update_resource", ...at])
        yield* listening.sees(/\{"kind":"resource","value":"test:\/\/watched-resource"\}/)
        listening.kill("SIGINT")
        assert.strictEqual((yield* listening.ended).code, 130)
      }))
  }

  it.scopedLive("ends with the signal of a host", () =>
    Effect.gen(function*() {
      const listening = yield* launch(["listen", "--", ...ours("stdio")])
      yield* listening.sees(/Listening to/)
      const { code, err } = yield* Effect.zipRight(Effect.sync(() => listening.kill("SIGTERM")), listening.ended)
      assert.deepStrictEqual([code, err], [130, "Listening to __NAME__; Ctrl+C ends the command\n"])
    }))
})

describe("tasks", () => {
  it.scopedLive("start, watch, result and cancel work on one task, in several runs", () =>
    Effect.gen(function*() {
      const url = yield* everythingAt
      const tasks = (part: string, ...args: ReadonlyArray<string>) =>
        run(["tasks", part, url, ...args, "--revision", "2026-07-28"])
      const idOf = ({ out }: { readonly out: string }) => out.trim()
      const id = idOf(yield* tasks("start", "slow_compute", "seconds=0.1", "label=Sum"))
      assert.match(id, /^\S+$/)
      assert.strictEqual((yield* tasks("result", id)).out, "Sum took 0.1 seconds\n")
      const failed = yield* tasks("start", "failing_job")
      const result = yield* tasks("result", failed.out.trim())
      assert.match(result.out, /The job failed/)
      assert.strictEqual(result.code, 1)
      const long = idOf(yield* tasks("start", "slow_compute", "seconds=600"))
      const watching = yield* launch(["tasks", "watch", url, long, "--revision", "2026-07-28"])
      yield* watching.sees(/ working/)
      assert.match((yield* tasks("cancel", long)).out, /is cancelled/)
      assert.match((yield* watching.ended).out, new RegExp(`${long} working\\b[^]*${long} cancelled`))
      const gone = yield* tasks("result", "none")
      assert.strictEqual(gone.code, 1)
      assert.match(gone.err, /does not have the task "none"/)
    }))

  it.live("run a tool at once that makes no task, and list nothing where users are unknown", () =>
    Effect.gen(function*() {
      const at = ["--revision", "2025-11-25", "--", ...ours("everything")]
      const started = yield* run(["tasks", "start", "greet", "name=Ada", ...at])
      assert.deepStrictEqual([started.code, started.out], [0, "Hello, Ada!\n"])
      assert.match(started.err, /The server ran the tool at once, without a task/)
      const listed = yield* run(["tasks", "list", ...at])
      assert.deepStrictEqual([listed.code, listed.err], [1, "The server has no tasks list\n"])
    }))

  it.live("says that a server has none, and that the id is missing", () =>
    Effect.gen(function*() {
      const none = yield* run(["tasks", "watch", "1", "--", ...ours("stdio")])
      assert.deepStrictEqual([none.code, none.err], [1, "The server has no tasks\n"])
      const missing = yield* run(["tasks", "cancel", "--", ...ours("stdio")])
      assert.deepStrictEqual([missing.code, missing.err], [2, "Give the id of the task\n"])
    }))
})
