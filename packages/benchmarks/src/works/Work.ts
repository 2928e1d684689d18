/**
 * The rows as data. A work is measured once for all its rows: its subjects take turns, each time in a new process. A row compares what one
 * of our subjects costs at this work with what the subjects of others cost.
 */
import type { Topic } from "../Report.js"

export interface Own {
  /** What this row adds to the name of the work. */
  readonly name?: string
  readonly subject: string
  /** The subject that does the same work without a library. */
  readonly floor?: string
  /** The subjects that this row is compared with, in place of the peers of the work. */
  readonly peers?: ReadonlyArray<string>
  /** The highest ratios of our figure to the figures of other subjects, by their names. */
  readonly budget?: Readonly<Record<string, number>>
  /** The highest figure of ours, in the unit of the work. */
  readonly most?: number
  /** The ratios that hold even when few calls are made on a busy machine: they are wide. */
  readonly smoke?: Readonly<Record<string, number>>
}

export interface Work {
  readonly topic: Topic
  readonly name: string
  /** What the figures are. It begins with "µs", "ms" or "kB". */
  readonly unit: string
  /** What `cell.ts` measures. */
  readonly kind: string
  readonly inFlight?: number
  /** How many calls a figure is about. Default: one. */
  readonly calls?: number
  /** How many sessions, streams or calls are held open, for works about memory. */
  readonly count?: number
  /** A tool that the servers have besides "add". */
  readonly tool?: string
  /** How many tools the servers have in all. */
  readonly tools?: number
  readonly owns: readonly [Own, ...Array<Own>]
  readonly peers: ReadonlyArray<string>
}

export const A_CALL = "µs a call"

export const A_NOTIFICATION = "µs a notification"
