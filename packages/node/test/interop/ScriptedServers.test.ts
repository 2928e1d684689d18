/**
 * Our client takes what the official client 2.4 takes of a server of 2026-07-28 that deviates, unless a rule of the specification
 * forbids that. What both clients take and refuse is no subject of this test: the table of deviations has it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isTaken } from "../Third.js"
import { official, ours, type Outcome, type Over, type Script } from "./ScriptedServers.js"
import * as Messages from "./scripts/Messages.js"
import * as Results from "./scripts/Results.js"

const scripts = [...Results.scripts, ...Messages.scripts]

const kinds = [...new Set(scripts.map(({ kind }) => kind))]

const given = ({ changes, logs, progress }: Outcome) => [logs, progress, changes].map((all) => all.length)

/** Why our client does not take at least as much as the official client. */
const shortfall = (script: Script, over: Over): Effect.Effect<ReadonlyArray<string>> =>
  Effect.zipWith(Effect.scoped(ours(script, over)), Effect.scoped(official(script, over)), (own, other) => {
    const what = `${script.method}, ${script.name}, over ${over}`
    if (script.forbidden !== undefined) return own.isTaken ? [`${what}: taken, though forbidden`] : []
    if (!other.isTaken) return []
    if (!own.isTaken) return [`${what}: ${String(own.result)}`]
    const [mine, theirs] = [given(own), given(other)]
    // Each round of input gives progress in the official client.
    const isLess = script.kind !== "input required" && theirs.some((count, i) => mine[i]! < count)
    return isLess ? [`${what}: ${mine.join()} in place of ${theirs.join()} notifications`] : []
  }, { concurrent: true })

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
