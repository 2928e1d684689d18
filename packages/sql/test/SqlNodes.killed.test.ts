import { assert, describe, it } from "@effect/vitest"
import { EventStore } from "@effect-mcp/core/EventStore"
import { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import { TaskStore } from "@effect-mcp/core/TaskStore"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import { Array, Context, Effect, Layer, Option } from "effect"
import { spawn } from "node:child_process"
import * as Program from "./Program.js"
import * as Sqlite from "./Sqlite.js"

type Line = readonly [what: "event" | "finished" | "session" | "task", of: string, stream: string, number: number]

/** What a node was acknowledged before it was killed, in the middle of its writes. */
const killed = (program: string, file: string, round: number, lines: number) =>
  Effect.async<ReadonlyArray<Line>>((resume) => {
    const child = spawn(process.execPath, [program, file, `${round}`], { stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.on("data", (chunk) => {
      text += String(chunk)
      if (text.split("\n").length > lines) child.kill("SIGKILL")
    })
    child.once("close", (_, signal) =>
      resume(
        signal === "SIGKILL"
          ? Effect.sync(() => text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Line))
          : Effect.die(new Error(`The node has ended by itself: ${text.slice(-1000)}`))
      ))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const keyOf = (line: Line) => line.slice(0, 3).join()

/** What the process finds that starts then. */
const check = (file: string, all: ReadonlyArray<Line>) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(Layer.fresh(Layer.provide(SqlNodes.layer, Sqlite.client(file))))
    const events = Context.get(context, EventStore)
    const tasks = Context.get(context, TaskStore)
    const { find } = yield* Context.get(context, SessionDirectory).join("later")
    for (const [what, lines] of Object.entries(Array.groupBy(all, keyOf))) {
      const [[tag, of, stream]] = lines
      const numbers = lines.map(([, , , number]) => number)
      const last = numbers.at(-1)!
      if (tag === "event") {
        const stored = Option.getOrThrow(yield* events.after({ session: of, stream }, -1))
        const positions = stored.map(({ position }) => position)
        assert.deepStrictEqual(positions, [...new Set(positions)].sort((one, other) => one - other), what)
        assert.includeMembers(positions, numbers, what)
        assert.isTrue(stored.every(({ data }) => data === `{"of":"${of}"}`), what)
      } else if (tag === "finished") {
        assert.deepStrictEqual(yield* events.unfinished({ session: of, stream }), [], what)
      } else if (tag === "session") {
        const { facts, isServed } = Option.getOrThrow(yield* find(of))
        assert.isFalse(isServed)
        assert.isAtLeast(facts.writes as number, last, what)
      } else {
        assert.isAtLeast(Option.getOrThrow(yield* tasks.get("ada", of)).version, last, what)
      }
    }
  })

describe("a node over SQLite that is killed in the middle of its writes", () => {
  it.scopedLive("has lost nothing that was acknowledged when it starts again: sessions, streams and tasks", () =>
    Effect.gen(function*() {
      const [program, file] = [yield* Program.bundled("writer"), yield* Sqlite.file]
      let all: ReadonlyArray<Line> = []
      for (const [round, lines] of [200, 450].entries()) {
        const acknowledged = yield* killed(program, file, round, lines)
        assert.isAtLeast(acknowledged.length, lines)
        all = [...all, ...acknowledged]
        yield* Effect.scoped(check(file, all))
      }
    }))
})
