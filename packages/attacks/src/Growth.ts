/**
 * Plays an attack at its size and at a quarter of its size, and says what has grown too fast. Processor time may be 8 times as much for 4
 * times the size (quadratic work takes 16 times as much). The memory that the attacked side holds at the end may be 6.4 times as much; with
 * `isBounded` it may not grow. There is no limit of absolute time, because the machine is shared. An attack without a quarter has no size
 * that could grow.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** How an attack grows. */
export interface Growing<A> {
  /** The same attack with a quarter of the size. */
  readonly quarter?: (() => A) | undefined
  /** Whether the attacked side may hold no more memory than for the quarter. Default: it may hold what it has received. */
  readonly isBounded?: boolean | undefined
  /** The transports over which the attack is played. Default: all. */
  readonly over?: ReadonlyArray<string> | undefined
}

/** An attack of any size. `at` is called with the size, and with a quarter of the size; both attacks must have the same name. */
export const grows = <A extends object>(size: number, at: (size: number) => A): A => ({
  ...at(size),
  quarter: () => at(Math.ceil(size / TIMES))
})

/**
 * Whether an attack is compared with its quarter over this transport. What a single value costs is the same over every transport, so it is
 * compared in memory only.
 */
export const isCompared = ({ isBounded, over, quarter }: Growing<unknown>, transport: string): boolean =>
  quarter !== undefined && (transport === "memory" || isBounded === true || over !== undefined)

/** How many times as large as its quarter an attack is. */
const TIMES = 4

/** How many times the processor time of its quarter an attack may take: the machine does other work meanwhile. */
const MAX = 2 * TIMES

/** How many times the memory of its quarter an attack may hold: other work does not change memory. */
const MAX_HELD = 1.6 * TIMES

/** A quarter that takes fewer milliseconds counts as this many: every attack takes some time, whatever its size. */
const NOISE = 30

/**
 * A quarter that holds fewer bytes counts as this many, and with `isBounded` so many more bytes may be held: code is compiled and values
 * are cached meanwhile.
 */
const MARGIN = 1_500_000

/**
 * How often an attack is played at most, while it seems to grow too fast. The least of the measures counts, because other work of the
 * machine, and what is compiled meanwhile, make single measures larger.
 */
const ROUNDS = 6

/** What one play of an attack cost: milliseconds of processor time, and the bytes held at the end, where they are counted. */
export interface Spent {
  readonly cost: number
  readonly held?: number | undefined
}

export interface Outcome {
  readonly faults: ReadonlyArray<string>
  readonly cost: number
  /** How much the processor time has grown, as a share of the limit. */
  readonly share: number
}

/** Plays an attack at both sizes, again while it seems to grow too fast. Plays it once without a quarter, or when `compares` is false. */
export const measure = async <A extends Growing<A>>(
  attack: A,
  play: (attack: A, isFirst: boolean) => Promise<Spent>,
  compares = true
): Promise<Outcome> => {
  let all = await play(attack, true)
  if (attack.quarter === undefined || !compares) return { faults: [], cost: all.cost, share: 0 }
  const quarter = attack.quarter()
  let few = await play(quarter, false)
  let outcome = compared(few, all, attack.isBounded)
  for (let round = 1; round < ROUNDS && outcome.faults.length > 0; round++) {
    few = least(few, await play(quarter, false))
    all = least(all, await play(attack, false))
    outcome = compared(few, all, attack.isBounded)
  }
  return outcome
}

const least = (one: Spent, other: Spent): Spent => ({
  cost: Math.min(one.cost, other.cost),
  held: one.held === undefined || other.held === undefined ? undefined : Math.min(one.held, other.held)
})

const compared = (few: Spent, all: Spent, isBounded = false): Outcome => {
  const faults: Array<string> = []
  const times = all.cost / Math.max(few.cost, NOISE)
  if (times > MAX) {
    faults.push(
      `it cost ${times.toFixed(1)} times as much as a quarter of it: ${all.cost.toFixed(0)} ms, and ${
        few.cost.toFixed(0)
      }`
    )
  }
  const heldByFew = few.held ?? 0
  const most = isBounded ? Math.max(heldByFew, 0) + MARGIN : MAX_HELD * Math.max(heldByFew, MARGIN)
  if ((all.held ?? 0) > most) faults.push(`it held ${kilobytes(all.held)}, a quarter of it ${kilobytes(heldByFew)}`)
  return { faults, cost: all.cost, share: times / MAX }
}

const kilobytes = (bytes = 0): string => `${(bytes / 1000).toFixed(0)} KB`

/** Milliseconds of processor time of this process since its start. */
export const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1000
}

let collect: (() => void) | undefined

/** How often memory is collected: the next collection finds what ends between two collections. */
const COLLECTIONS = 3

/** The bytes that this process holds after several collections. Before each collection, work that has ended can release its memory. */
export const held = async (): Promise<number> => {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc")
    collect = runInNewContext("gc") as () => void
  }
  for (let times = 0; times < COLLECTIONS; times++) {
    await sleep(1)
    collect()
  }
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
