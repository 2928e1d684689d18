/**
 * Makes the faults of a run, one after another, in an order that a seed decides. Each fault ends before the next fault begins. The effects
 * of a fault may last longer.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ProcessError } from "../processes/Child.js"
import { KINDS } from "./checks/Data.js"
import type { NemesisNode } from "./NemesisNode.js"
import { BACK, FORWARD } from "./NodeOptions.js"
import type { Run } from "./Run.js"
import type { Seeded } from "./Seeded.js"
import type { StoreFaults } from "./StoreFaults.js"
import type { StoreProxy } from "./StoreProxy.js"
import * as Uploads from "./Uploads.js"

export interface Store extends StoreFaults {
  /** Kills the store, and starts it again with the data on its disk. */
  readonly restart: Effect.Effect<void, ProcessError>
}

/**
 * How many milliseconds a process must be stopped, or a connection must be cut, so that the lease of the node expires. (A lease is the
 * right of a node to keep its sessions for a limited time.)
 */
const BEYOND_LEASE = 3700

/**
 * After how many milliseconds a killed node starts again. By this time another node has taken over its sessions, even on a busy machine.
 */
const AFTER_KILL = 4500

/** How long a node may take to shut down, even on a slow machine. */
const ENDING = Duration.seconds(60)

export interface Fault {
  readonly kind: string
  readonly node: NemesisNode | undefined
  /** Begins the fault, and ends it. */
  readonly run: Effect.Effect<void, ProcessError, Run>
}

export type Kind =
  | "kill"
  | "stop"
  | "stop beyond the lease"
  | "cut"
  | "cut beyond the lease"
  | "stall"
  | "swallow"
  | "delay"
  | "restart the store"
  | "cut all beyond the lease"
  | "clock forward"
  | "drain"
  | "full store"
  | "read-only store"
  | "flood"
  | "bulk uploads"
  | "odd entry"

/** 10 faults in the data that clients send or that the store has. No node may lose a session because of these faults. */
export const DATA: ReadonlyArray<Kind> = [
  ...["full store", "full store", "read-only store", "read-only store", "flood", "flood"] as const,
  ...["bulk uploads", "bulk uploads", "odd entry", "odd entry"] as const
]

/** 20 faults. A run has the whole list once or several times. */
export const ALL: ReadonlyArray<Kind> = [
  ...["kill", "kill", "stop beyond the lease", "cut beyond the lease", "drain", "drain"] as const,
  ...["stop", "stop", "cut", "cut", "cut all beyond the lease", "stall", "stall", "swallow", "delay", "delay"] as const,
  ...["restart the store", "restart the store", "clock forward", "clock forward"] as const
]

const ended = (node: NemesisNode): Effect.Effect<unknown, ProcessError> =>
  Effect.timeoutFail(node.exit, {
    duration: ENDING,
    onTimeout: () =>
      new ProcessError({ message: `${node.name()} has not ended ${Duration.format(ENDING)} after SIGTERM` })
  })

const make = (
  kind: Kind,
  node: NemesisNode,
  nodes: ReadonlyArray<NemesisNode>,
  store: Store,
  { between }: Seeded
): Fault => {
  const { proxy } = node
  const all = (act: (proxy: StoreProxy) => Effect.Effect<void>) =>
    Effect.forEach(nodes, (node) => act(node.proxy), { discard: true })
  const short = between(200, 1000)
  const during = (millis: number, begin: Effect.Effect<unknown>, end: Effect.Effect<unknown>) =>
    Effect.zipRight(begin, Effect.ensuring(Effect.sleep(millis), end))
  const stopped = (millis: number) => during(millis, node.signal("SIGSTOP"), node.signal("SIGCONT"))
  const runs: Record<Kind, Effect.Effect<void, ProcessError, Run>> = {
    kill: Effect.zipRight(node.kill, Effect.delay(node.restart, AFTER_KILL)),
    stop: stopped(short),
    "stop beyond the lease": stopped(BEYOND_LEASE),
    cut: during(short, proxy.cut, proxy.heal),
    "cut beyond the lease": during(BEYOND_LEASE, proxy.cut, proxy.heal),
    stall: during(between(500, 3000), proxy.stall, proxy.heal),
    swallow: Effect.zipRight(proxy.swallow, Effect.sleep(short)),
    "cut all beyond the lease": during(BEYOND_LEASE, all(({ cut }) => cut), all(({ heal }) => heal)),
    delay: during(short, proxy.delay(between(20, 150)), proxy.heal),
    "restart the store": store.restart,
    "clock forward": during(short, node.signal(FORWARD), node.signal(BACK)),
    "full store": during(3 * short, ...store.full),
    "read-only store": during(short, ...store.readOnly),
    flood: Uploads.flood,
    "bulk uploads": Uploads.bulk,
    "odd entry": Effect.asVoid(store.litter),
    drain: Effect.zipRight(Effect.zipRight(node.signal("SIGTERM"), ended(node)), node.restart)
  }
  const isOfAll = kind === "restart the store" || kind === "cut all beyond the lease" || KINDS.has(kind)
  return { kind, node: isOfAll ? undefined : node, run: runs[kind] }
}

/**
 * The faults that must hit a node with sessions. After such a fault, a session moves to another node, or the process of its node has ended.
 */
const AT_OWNER: ReadonlySet<Kind> = new Set(["kill", "stop beyond the lease", "cut beyond the lease"])

/**
 * Makes these faults in an order that only the seed decides. The faults hit the nodes in turn. A fault of a kind in `AT_OWNER` hits the
 * node that `busiest` names when the fault begins.
 */
export const schedule = (
  kinds: ReadonlyArray<Kind>,
  nodes: ReadonlyArray<NemesisNode>,
  store: Store,
  seeded: Seeded,
  busiest: () => string | undefined
): ReadonlyArray<() => Fault> => {
  const first = seeded.one([...nodes.keys()])
  return seeded.shuffled(kinds).map((kind, n) => () => {
    const next = nodes[(first + n) % nodes.length]!
    const name = AT_OWNER.has(kind) ? busiest() : undefined
    return make(kind, nodes.find((node) => node.name() === name) ?? next, nodes, store, seeded)
  })
}
