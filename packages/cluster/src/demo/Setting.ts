/**
 * What the parts of the run have in common: the nodes and the clients, calls whose progress is counted, and what is expected of
 * calls.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Nginx from "../processes/Nginx.js"
import type { ServerNode } from "../processes/ServerNode.js"
import type { Account } from "./Account.js"
import type { Call, End, Ledger } from "./Ledger.js"
import type * as WorkingClient from "./WorkingClient.js"

export interface Setting {
  readonly nodes: ReadonlyArray<ServerNode>
  readonly nginx: Nginx.Nginx
  readonly affinity: boolean
  readonly clients: ReadonlyArray<WorkingClient.WorkingClient>
  readonly ledger: Ledger
  readonly account: Account
}

/** A call that sends progress, and what of it has arrived. */
export interface Counted {
  readonly call: Call
  readonly client: WorkingClient.WorkingClient
  readonly steps: number
  readonly seen: ReadonlyArray<number>
}

export const count = (
  client: WorkingClient.WorkingClient,
  args: { readonly steps: number; readonly millis: number },
  seen: globalThis.Array<number> = []
): Effect.Effect<Counted> =>
  Effect.map(
    client.call("count", args, (step) => void seen.push(step)),
    (call) => ({ call, client, steps: args.steps, seen })
  )

/** Waits until it is so, for `limit` milliseconds at most; whether it is. */
export const eventually = <R>(
  isSo: Effect.Effect<boolean, never, R>,
  limit: number
): Effect.Effect<boolean, never, R> =>
  isSo.pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (isSo) => isSo }),
    Effect.timeoutOption(limit),
    Effect.map(Option.isSome)
  )

export const names = (clients: ReadonlyArray<WorkingClient.WorkingClient>): string =>
  clients.map(({ name }) => name).join(", ")

export const expectAnswers = (
  { account }: Setting,
  promise: string,
  calls: ReadonlyArray<Call>,
  ends: ReadonlyArray<End> = ["answered"]
): Effect.Effect<void> => {
  const wrong = calls.filter(({ end }) => !ends.includes(end))
  const first = wrong.slice(0, 3).map(({ end, message, nonce }) => `${nonce}: ${end}, ${message}`)
  return account.expect(wrong.length === 0, promise, first.join("; "))
}

export const expectProgress = ({ account }: Setting, counted: ReadonlyArray<Counted>): Effect.Effect<void> => {
  const wrong = counted.filter(({ call, seen, steps }) =>
    call.end === "answered" && `${seen}` !== `${Array.range(1, steps)}`
  )
  return account.expect(
    wrong.length === 0,
    "all progress of an answered call arrives, once and in order",
    wrong.map(({ call, seen }) => `${call.nonce}: ${seen}`).join("; ")
  )
}

/** One client changes the board, and all hear of it. */
export const updated = ({ account, clients }: Setting): Effect.Effect<void> =>
  Effect.gen(function*() {
    const before = clients.map(({ updates }) => updates())
    yield* clients.at(-1)!.call("update")
    const waiting = () => clients.filter(({ updates }, at) => updates() === before[at])
    yield* eventually(Effect.sync(() => waiting().length === 0), 10_000)
    const late = waiting()
    yield* account.line(`  ${clients.length - late.length} of ${clients.length} subscribers hear of a change`)
    yield* account.expect(late.length === 0, "every subscriber hears of a change within 10 s", `not ${names(late)}`)
  })

/** Calls that take long: some send progress, the others send nothing before the answer. */
export interface Long {
  readonly counted: ReadonlyArray<Counted>
  readonly silent: ReadonlyArray<Call>
}

/** All clients send short calls all the time while something happens, and each two long ones, whose handlers have begun before. */
export const meanwhile = <A, E, R>(
  { account, clients, ledger }: Setting,
  steps: number,
  happens: (long: Effect.Effect<Long>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    let isOver = false
    const concurrency = "unbounded"
    const working = yield* Effect.fork(Effect.forEach(
      clients,
      (client) => Effect.repeat(client.call("echo"), { schedule: Schedule.spaced("100 millis"), until: () => isOver }),
      { concurrency }
    ))
    const before = ledger.begunOf("slow")
    const seen = clients.map((): globalThis.Array<number> => [])
    const long = yield* Effect.fork(Effect.all({
      counted: Effect.forEach(clients, (client, at) => count(client, { steps, millis: STEP }, seen[at]), {
        concurrency
      }),
      silent: Effect.forEach(clients, (client) => client.call("slow", { millis: steps * STEP }), { concurrency })
    }, { concurrency }))
    const isBegun = () => seen.every(({ length }) => length > 0) && ledger.begunOf("slow") === before + clients.length
    const begun = yield* eventually(Effect.sync(isBegun), 20_000)
    yield* account.expect(begun, "every handler begins, and its progress arrives")
    const result = yield* happens(Fiber.join(long))
    isOver = true
    yield* Fiber.join(working)
    return result
  })

const STEP = 200
