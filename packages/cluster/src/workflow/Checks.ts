/**
 * Checks a run with durable tasks. The data are the reports of the clients (`Seen`) and the rows that the steps have written to a table
 * (`Ran`). These functions are pure. `main` reads the table, and prints the results.
 */
import type { Seen } from "./Client.js"

/** A row of the table `ran`: a step has begun or ended. */
export interface Ran {
  readonly job: string
  readonly step: number
  readonly event: "begin" | "end"
  readonly pid: number
  readonly at: number
}

export type Kind = "kill -9" | "SIGTERM" | "SIGSTOP beyond the lease" | "SIGSTOP, short" | "PostgreSQL restarted"

export const KINDS: ReadonlyArray<Kind> = [
  "kill -9",
  "SIGTERM",
  "SIGSTOP beyond the lease",
  "SIGSTOP, short",
  "PostgreSQL restarted"
]

export interface Fault {
  readonly kind: Kind
  /** The process that the fault hit; `undefined` for PostgreSQL. */
  readonly pid: number | undefined
  readonly at: number
  readonly until: number
}

/** Within how many milliseconds after a kill a task must continue at another process. */
export const RESUMED = 10_000

/** How long a task may make no progress, in milliseconds. */
export const STALLED = 30_000

/** How many milliseconds after the end of its task a step may still begin. */
export const CANCELLED = 2000

export const byJob = (all: ReadonlyArray<Ran>): ReadonlyMap<string, ReadonlyArray<Ran>> => {
  const jobs = new Map<string, Array<Ran>>()
  for (const ran of [...all].sort((a, b) => a.at - b.at)) jobs.set(ran.job, [...jobs.get(ran.job) ?? [], ran])
  return jobs
}

/** Returns the steps that were running in the process of a fault, each with the next entry of the same job at another process. */
const underWay = (fault: Fault, jobs: ReadonlyMap<string, ReadonlyArray<Ran>>) =>
  [...jobs.values()].flatMap((ran) => {
    const before = ran.filter(({ at }) => at <= fault.at)
    const last = before.at(-1)
    return last?.event === "begin" && last.pid === fault.pid
      ? [{ last, next: ran.find(({ at, pid }) => at > fault.at && pid !== fault.pid) }]
      : []
  })

/** Returns after how many milliseconds tasks continued at another process, and whether no other fault came before this. */
export const resumed = (faults: ReadonlyArray<Fault>, kind: Kind, jobs: ReadonlyMap<string, ReadonlyArray<Ran>>) =>
  faults.flatMap((fault, n) => {
    const following = faults[n + 1]?.at ?? Infinity
    return fault.kind !== kind ?
      [] :
      underWay(fault, jobs).flatMap(({ next }) =>
        next === undefined ? [] : [{ took: next.at - fault.at, isAlone: next.at < following }]
      )
  })

/** Returns one sentence for each step that began after a later step had begun, or after the end of its task. */
export const repeated = (
  jobs: ReadonlyMap<string, ReadonlyArray<Ran>>,
  seen: ReadonlyArray<Seen>
): ReadonlyArray<string> => {
  const ends = new Map(seen.map(({ cancelled, ended, plan }) => [plan.job, cancelled ?? ended]))
  return [...jobs].flatMap(([job, ran]) => {
    let highest = 0
    return ran.filter(({ event }) => event === "begin").flatMap(({ at, step }) => {
      const isLate = step < highest || at > (ends.get(job) ?? Infinity) + CANCELLED
      highest = Math.max(highest, step)
      return isLate ? [`step ${step} of ${job} began again after step ${highest}, or after the end of its task`] : []
    })
  })
}

/** Returns the longest time in which each task made no progress, and whether a process that had the task was stopped during this time. */
export const gaps = (
  seen: ReadonlyArray<Seen>,
  jobs: ReadonlyMap<string, ReadonlyArray<Ran>>,
  faults: ReadonlyArray<Fault>
) =>
  seen.map(({ answered, began, ended, plan }) => {
    const ran = jobs.get(plan.job) ?? []
    const points = [
      { at: began, pid: undefined },
      ...ran,
      ...answered === undefined ? [] : [{ at: answered, pid: undefined }],
      { at: ended, pid: undefined }
    ].sort((a, b) => a.at - b.at)
    const all = points.slice(1).map(({ at, pid }, n) => {
      const { at: from, pid: before } = points[n]!
      const isStopped = faults.some((fault) =>
        fault.kind.startsWith("SIGSTOP") && fault.at < at && fault.until > from &&
        (fault.pid === pid || fault.pid === before)
      )
      return { job: plan.job, took: at - from, isStopped }
    })
    return all.reduce((most, gap) => gap.took > most.took ? gap : most)
  })

/**
 * Returns one sentence for each task that ended in a wrong way: with a wrong result, without a cancellation, or twice in different ways.
 */
export const ends = (seen: ReadonlyArray<Seen>): ReadonlyArray<string> =>
  seen.flatMap(({ cancelled, isSame, plan, result, status }) => {
    const { structuredContent } = (result ?? {}) as { readonly structuredContent?: { readonly pages?: unknown } }
    const pages = plan.steps + (plan.ask === 0 ? 0 : plan.answer)
    const isRight = status === "completed" ? structuredContent?.pages === pages : cancelled !== undefined
    return [
      ...isRight ? [] : [`${plan.job} is ${status} with ${JSON.stringify(result)?.slice(0, 100)}, not ${pages} pages`],
      ...isSame ? [] : [`${plan.job} has ended twice`]
    ]
  })

const millis = (value: number) => `${(value / 1000).toFixed(1)} s`

/** Returns a text with the number of values, the median and the highest value. The values are milliseconds. */
export const figures = (values: ReadonlyArray<number>): string => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.length === 0
    ? "none"
    : `${sorted.length} tasks, p50 ${millis(sorted[sorted.length >> 1]!)}, slowest ${millis(sorted.at(-1)!)}`
}
