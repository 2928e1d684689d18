/**
 * Our client takes what the official client 2.4 takes of a server of 2026-07-28 that deviates, unless a rule of the specification
 * forbids that. What both clients take and refuse is not a subject of this test: the table of deviations has it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isTaken } from "../Third.js"
import { countsOf, official, ours, type Over, type Script } from "./ScriptedServers.js"
import * as Messages from "./scripts/Messages.js"
import * as Results from "./scripts/Results.js"

const scripts = [...Results.scripts, ...Messages.scripts]

const kinds = [...new Set(scripts.map(({ kind }) => kind))]

/** Why our client does not take at least as much as the official client. */
const shortfall = (script: Script, over: Over): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    const what = `${script.method}, ${script.name}, over ${over}`
    const isForbidden = script.forbidden !== undefined
    const other = yield* Effect.scoped(official(script, over))
    if (!other.isTaken && !isForbidden) return []
    // Each round of input gives progress in the official client.
    const counts = isForbidden || script.kind === "input required" ? [0, 0, 0] : countsOf(other)
    const own = yield* Effect.scoped(ours(script, over, counts))
    if (isForbidden) return own.isTaken ? [`${what}: taken, though forbidden`] : []
    if (!own.isTaken) return [`${what}: ${String(own.result)}`]
    const given = countsOf(own)
    return counts.some((count, i) => given[i]! < count) ? [`${what}: ${given} in place of ${counts} messages`] : []
  })

const runs = scripts.flatMap((script, place) =>
  (script.over === undefined ? ["http", "pipe"] as const : [script.over]).flatMap((over, column) =>
    isTaken(place + column) ? [{ script, over }] : []
  )
)

describe("Our client takes at least what the official client 2.4 takes", () => {
  for (const kind of kinds) {
    it.live(`of ${kind}`, () =>
      Effect.gen(function*() {
        const found = yield* Effect.forEach(
          runs.filter(({ script }) => script.kind === kind),
          ({ over, script }) => shortfall(script, over),
          { concurrency: 16 }
        )
        assert.deepStrictEqual(found.flat(), [])
      }))
  }
})
