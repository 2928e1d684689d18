/**
 * The program that makes runs with faults: `node main.js [part of a name] [seed, or "random"]`. The default seed is 1. The program prints a
 * summary of each run and the violations. The exit code is 1 when no run has the name, when a run has found a broken promise, or when a run
 * has not found a mistake that was built into the server. `NEMESIS_HISTORY` is the path of a file to which the history is written.
 */
import * as Command from "@effect/platform/Command"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { ProcessError } from "../processes/Child.js"
import * as Postgres from "../processes/Postgres.js"
import * as Redis from "../processes/Redis.js"
import * as Checker from "./Checker.js"
import * as Owners from "./checks/Owners.js"
import type { Violation } from "./checks/Violation.js"
import * as Faults from "./Faults.js"
import { only } from "./History.js"
import * as Nemesis from "./Nemesis.js"

const [part = "", seeded = "1"] = process.argv.slice(2)

type Plan = Omit<Nemesis.Options, "seed"> & {
  /** The promises for a run with a built-in mistake. The run must find that one of these promises is broken. */
  readonly finds?: ReadonlyArray<Violation["promise"]>
}

/** 40 faults. */
const faults = [...Faults.ALL, ...Faults.ALL]

/** 20 faults, so that the run is longer than the time in which a change must reach a listener. */
const data = [...Faults.DATA, ...Faults.DATA]

const repeat = (kind: Faults.Kind, count: number) => Array.from({ length: count }, () => kind)

const runs: ReadonlyArray<readonly [name: string, plan: Plan]> = [
  ["3 nodes, PostgreSQL", { nodes: 3, store: "postgres", faults }],
  ["3 nodes, Redis", { nodes: 3, store: "redis", faults }],
  ["2 nodes, PostgreSQL", { nodes: 2, store: "postgres", faults }],
  ["2 nodes, Redis", { nodes: 2, store: "redis", faults }],
  ["data, Redis", { nodes: 2, store: "redis", faults: data }],
  ["data, PostgreSQL", { nodes: 2, store: "postgres", faults: data }],
  ["no fencing", {
    nodes: 2,
    store: "redis",
    faults: repeat("stop beyond the lease", 5),
    bug: "no fencing",
    finds: ["the writes of a former owner are refused"]
  }],
  ["publish and subscribe", {
    nodes: 3,
    store: "redis",
    faults: repeat("cut", 8),
    bug: "publish and subscribe",
    finds: ["every call ends once", "changes reach every listener"]
  }]
]

/**
 * How many runs may look for a built-in mistake. One run may miss the mistake, because this depends on what clients do in a few moments.
 */
const ATTEMPTS = 3

/** How many violations of one run are printed at most. */
const SHOWN = 10

/** The time after which a run is ended. A run normally takes at most half of this time. */
const LIMIT = Duration.minutes(5)

const summary = ({ history }: Nemesis.Outcome): string => {
  const outcomes = only(history, "Ended").map(({ outcome }) => outcome.type)
  const count = (type: string) => outcomes.filter((one) => one === type).length
  const took = Owners.takeovers(history).map(({ took = Infinity }) => took)
  const stale = Owners.stale(history)
  return [
    `${only(history, "Fault").length} faults`,
    `${only(history, "Called").length} calls: ${
      ["result", "error", "refused", "broken", "gap"].map((type) => `${count(type)} ${type}`).join(", ")
    }`,
    `${only(history, "Received").length} events`,
    `${took.length} takeovers, the slowest after ${Math.round(Math.max(0, ...took))} ms`,
    `${stale.length} writes of former owners, ${stale.filter(({ answer }) => answer === "stored").length} stored`,
    `${(Checker.canaryErrors(history) * 100).toFixed(2)} % of ${only(history, "Canary").length} canaries failed`
  ].join("; ")
}

const one = (name: string, { finds, ...options }: Plan) =>
  Effect.gen(function*() {
    const seed = seeded === "random" ? Math.floor(Math.random() * 1e6) : Number(seeded)
    const begin = performance.now()
    let step = "the start of the nodes"
    const onStep = (next: string) => {
      step = next
    }
    const outcome = yield* Effect.timeoutFail(Nemesis.run({ ...options, seed, onStep }), {
      duration: LIMIT,
      onTimeout: () =>
        new ProcessError({
          message: `${name}, seed ${seed}: not over after ${Duration.format(LIMIT)}. It is at: ${step}`
        })
    })
    const { violations } = outcome
    const file = process.env.NEMESIS_HISTORY
    if (file !== undefined) {
      writeFileSync(
        `${file}.${name}`,
        outcome.history.map((entry) => JSON.stringify(entry)).join("\n")
      )
    }
    const isBuggy = finds !== undefined
    const isFine = isBuggy
      ? violations.some(({ promise }) => finds.includes(promise))
      : violations.length === 0
    const seconds = ((performance.now() - begin) / 1000).toFixed(0)
    const verdict = isBuggy ? isFine ? "found" : "NOT FOUND" : isFine ? "ok" : "FAILED"
    const start = outcome.history.reduce((first, { at }) => Math.min(first, at), Infinity)
    const relevant = isBuggy && isFine ? violations.filter(({ promise }) => finds.includes(promise)) : violations
    const shown = relevant.slice(0, isBuggy && isFine ? 1 : SHOWN).map(({ at, message, promise }) =>
      `    ${Math.max(0, (at - start) / 1000).toFixed(2)} s: ${promise}: ${message}`
    )
    const rest = relevant.length - shown.length
    console.log([
      `${verdict.padEnd(9)} ${name}, seed ${seed}, ${seconds} s`,
      `    ${summary(outcome)}`,
      ...shown,
      ...rest > 0 ? [`    and ${rest} more`] : []
    ].join("\n"))
    return isFine
  })

const chosen = runs.filter(([name]) => name.includes(part))

const attempted = ([name, plan]: typeof runs[number]) =>
  plan.finds === undefined
    ? one(name, plan)
    : Effect.repeat(one(name, plan), { times: ATTEMPTS - 1, until: (isFine) => isFine })

const itself = fileURLToPath(import.meta.url)

/**
 * Makes a run in its own process. In one process for all runs, the proxies of a run would stop while the process checks the history of
 * another run.
 */
const apart = ([name]: typeof runs[number]) =>
  Command.make(process.execPath, itself, name, seeded).pipe(
    Command.stdout("inherit"),
    Command.stderr("inherit"),
    Command.exitCode,
    Effect.map((code) => code === 0),
    Effect.orDie
  )

const all = Effect.suspend(() =>
  chosen.length === 1
    ? Effect.map(attempted(chosen[0]!), (isFine) => [isFine])
    : Effect.forEach(chosen, apart, { concurrency: 2 })
)

// The programs are installed one after another, because two installations at the same time fail.
const installed = Effect.zipRight(Redis.install, Postgres.install)

const isFine = Effect.map(
  Effect.zipRight(installed, all),
  (verdicts) => verdicts.length > 0 && verdicts.every(Boolean)
).pipe(Effect.provide(NodeContext.layer))

const program = Effect.tap(isFine, (isFine) =>
  Effect.sync(() => {
    process.exitCode = isFine ? 0 : 1
  }))

// The child processes end before this process. This process does not wait for anything else that a run has left behind.
NodeRuntime.runMain(program, { teardown: (exit) => process.exit(Exit.isSuccess(exit) ? process.exitCode : 1) })
