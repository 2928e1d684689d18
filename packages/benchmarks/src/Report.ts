/**
 * What a run has found out: the figures of each row, how our figures compare with the figures of others, and whether a comparison is over
 * its budget. The report prints each row when it is added; `page.ts` makes a page of the results of a run.
 */
import { cpus } from "node:os"

/** What the rows of one table of the page are about. */
export type Topic = "calls" | "clients" | "streams" | "memory" | "growth" | "validation" | "starts" | "types" | "nodes"

export interface Figure {
  readonly subject: string
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export interface Comparison {
  /** The name of our subject. */
  readonly own: string
  /** The name of the subject that ours is compared with. */
  readonly other: string
  /** The median of the ratios of the rounds. */
  readonly ratio: number
  /** The highest ratio that is allowed. */
  readonly most?: number
}

export interface Result {
  readonly topic: Topic
  readonly name: string
  /** What the figures are: "µs a call", for example. */
  readonly unit: string
  /** The subject that the row is about. */
  readonly own: string
  /** The subject that shows what the work costs without a library. */
  readonly floor?: string
  /** The highest figure of ours that is allowed. */
  readonly most?: number
  readonly figures: ReadonlyArray<Figure>
  readonly comparisons: ReadonlyArray<Comparison>
}

/** The machine and the number of rounds. Figures of two runs cannot be compared. */
export interface Circumstances {
  readonly node: string
  readonly cores: number
  readonly processor: string
  readonly rounds: number
}

export interface Row extends Omit<Result, "figures" | "comparisons"> {
  /** The figures of each subject, one for each round. */
  readonly samples: ReadonlyMap<string, ReadonlyArray<number>>
  /** The pairs of subjects that are compared, with their budgets. */
  readonly compared: ReadonlyArray<Omit<Comparison, "ratio">>
}

export interface Report {
  /** Adds a row, and prints it. */
  readonly add: (result: Result) => void
  readonly results: () => ReadonlyArray<Result>
  /** Whether a row is over its budget. */
  readonly isOver: () => boolean
}

/** How a run was started. */
export interface Options {
  /** Only rows with this text in their names run. */
  readonly text: string
  /** Few calls, on a machine that may be busy. */
  readonly smoke: boolean
}

export const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

const samplesOf = ({ name, samples }: Row, subject: string): ReadonlyArray<number> => {
  const values = samples.get(subject)
  if (values === undefined) throw new Error(`The row "${name}" has no figures of "${subject}"`)
  return values
}

export const resultOf = (row: Row): Result => {
  const { compared, samples, ...rest } = row
  return {
    ...rest,
    figures: [...samples].map(([subject, values]) => ({
      subject,
      median: median(values),
      lowest: Math.min(...values),
      highest: Math.max(...values)
    })),
    comparisons: compared.map((one) => {
      const others = samplesOf(row, one.other)
      // Both figures of a ratio come from the same round.
      return { ...one, ratio: median(samplesOf(row, one.own).map((value, round) => value / others[round]!)) }
    })
  }
}

/** The figures of our subject. */
export const ownOf = ({ figures, name, own }: Result): Figure => {
  const figure = figures.find(({ subject }) => subject === own)
  if (figure === undefined) throw new Error(`The row "${name}" has no figures of ours`)
  return figure
}

export const isOver = (result: Result): boolean =>
  ownOf(result).median > (result.most ?? Infinity) ||
  result.comparisons.some(({ most, ratio }) => most !== undefined && ratio > most)

/** Three digits, as many as a ratio or a time is worth. */
export const digits = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))

const verdictOf = (figure: number, most: number | undefined): string =>
  most === undefined ? "" : figure > most ? `  OVER ${most}` : `  within ${most}`

const print = (result: Result): void => {
  const { comparisons, figures, name, unit } = result
  console.log(`\n${name}: ${unit}`)
  for (const { highest, lowest, median, subject } of figures) {
    const spread = lowest === highest ? "" : `  (${digits(lowest)} to ${digits(highest)})`
    console.log(`  ${subject.padEnd(24)} ${digits(median).padStart(9)}${spread}`)
  }
  for (const { most, other, own, ratio } of comparisons) {
    console.log(`  ${own} is ${digits(ratio)} of ${other}${verdictOf(ratio, most)}`)
  }
  if (result.most !== undefined) console.log(`  ${result.own}${verdictOf(ownOf(result).median, result.most)}`)
}

export const make = (): Report => {
  const results: Array<Result> = []
  return {
    add: (result) => {
      print(result)
      results.push(result)
    },
    results: () => results,
    isOver: () => results.some(isOver)
  }
}

export const circumstances = (rounds: number): Circumstances => ({
  node: process.version,
  cores: cpus().length,
  processor: cpus()[0]?.model ?? "",
  rounds
})
