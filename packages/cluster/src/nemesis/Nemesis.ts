/**
 * Makes one run: clients call a server on several nodes while this module, the nemesis, makes faults. `Checker` decides from the entries of
 * clients and nodes whether the server has kept its promises.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ProcessError } from "../processes/Child.js"
import * as Place from "../processes/Place.js"
import * as Postgres from "../processes/Postgres.js"
import * as Redis from "../processes/Redis.js"
import * as Balancer from "./Balancer.js"
import * as Checker from "./Checker.js"
import * as Listeners from "./checks/Listeners.js"
import * as Owners from "./checks/Owners.js"
import type { Violation } from "./checks/Violation.js"
import * as Faults from "./Faults.js"
import { type Entry, type History, now } from "./History.js"
import * as LegacyClient from "./LegacyClient.js"
import * as ModernClient from "./ModernClient.js"
import * as NemesisNode from "./NemesisNode.js"
import type { Bug, Store } from "./NodeOptions.js"
import { Run } from "./Run.js"
import * as Seeded from "./Seeded.js"
import * as StoreFaults from "./StoreFaults.js"

export interface Options {
  readonly nodes: number
  readonly store: Store["type"]
  readonly seed: number
  readonly faults: ReadonlyArray<Faults.Kind>
  readonly bug?: Bug | undefined
  /** Gets a text that says what the run does next. Default: nothing is called. */
  readonly onStep?: ((step: string) => void) | undefined
}

export interface Outcome {
  readonly history: History
  readonly violations: ReadonlyArray<Violation>
}

const VERSIONS: ReadonlyArray<LegacyClient.Version> = ["2025-03-26", "2025-06-18", "2025-11-25", "2025-11-25"]

/** The time between the end of a fault and the next fault, in milliseconds. */
const PAUSE = 300

const storeOf = (
  type: Store["type"]
): Effect.Effect<Store & Pick<Faults.Store, "restart">, ProcessError, Scope.Scope> =>
  Effect.map(type === "redis" ? Redis.start : Postgres.start, ({ restart, url }) => ({ type, url, restart }))

const clients = (faults: Effect.Effect<void, ProcessError, Run>, over: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const sessions = yield* Effect.forEach(
      VERSIONS,
      (version, n) => LegacyClient.make(`c${n}`, version, 2),
      { concurrency: "unbounded" }
    )
    for (const n of [1, 2]) yield* Effect.forkScoped(ModernClient.listening(`l${n}`))
    const calling = yield* Effect.fork(Effect.all([
      ...sessions.map((session) => session.calling),
      ...[4, 5].map((n) => ModernClient.calling(`c${n}`)),
      ...[6, 7].map((n) => ModernClient.canary(`c${n}`))
    ], { concurrency: "unbounded", discard: true }))
    yield* Effect.sleep("1 second")
    yield* faults
    // Waits for the takeovers and the changes after the last fault.
    yield* Effect.sleep(Listeners.WITHIN / 4)
    yield* over
    yield* Fiber.join(calling)
    // Waits for messages that are still on their way on the standalone streams.
    yield* Effect.sleep("2 seconds")
    for (const { finish } of sessions) yield* finish
  })

/** Starts the store, the nodes and the clients, and ends them after the last fault. Fails when a process cannot be started. */
export const run = (
  { bug, faults, nodes: count, onStep = () => {}, seed, store: type }: Options
): Effect.Effect<Outcome, ProcessError> =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* Place.folder("nemesis")
    const store = yield* storeOf(type)
    const nodes = yield* Effect.forEach(
      Array.from({ length: count }, (_, n) => `n${n + 1}`),
      (name) => NemesisNode.start({ name, folder, bug, store: { type, url: store.url } }),
      { concurrency: "unbounded" }
    )
    // At this point the nodes have created the tables.
    const faulty = yield* StoreFaults.make(store)
    const balancer = yield* Balancer.make(nodes.map(({ port }) => port))
    const history: Array<Entry> = []
    const write = (entry: Entry) => void history.push(entry)
    let isOver = false
    const schedule = Faults.schedule(faults, nodes, { ...store, ...faulty }, Seeded.make(seed), () =>
      Owners.busiest(history))
    const all = Effect.forEach(schedule, (next, n) =>
      Effect.suspend(() => {
        const { kind, node, run } = next()
        onStep(`fault ${n + 1} of ${schedule.length}, ${kind}, at ${node?.name() ?? "all nodes"}`)
        write({ _tag: "Fault", at: now(), kind, node: node?.name() })
        return Effect.zipLeft(run, Effect.sleep(PAUSE))
      }), { discard: true })
    const over = Effect.sync(() => {
      onStep("the end of the last calls")
      isOver = true
    })
    yield* Effect.provideService(Effect.scoped(clients(all, over)), Run, {
      write,
      balancer,
      isOver: () =>
        isOver
    })
    for (const node of nodes) {
      for (const entry of node.entries()) {
        write(entry)
      }
    }
    return { history, violations: Checker.check(history, { ...Checker.LIMITS, minFaults: faults.length }) }
  }))
