/**
 * What every subject of a benchmark does: the same tool, called the same number of times, with every answer checked. It
 * knows no subject; each of those is a file in `subjects`.
 */

/** One way to make calls. A cell runs one of these in a process of its own. */
export interface Subject {
  /** Makes `calls` calls with `inFlight` of them at a time; fails on a wrong answer. */
  readonly run: (calls: number, inFlight: number) => Promise<void>
  /** Processor time used so far, in microseconds. Left out: that of this process. */
  readonly used?: () => Promise<number>
  readonly close: () => Promise<void>
}

export const check = (sum: unknown, a: number, b: number): void => {
  if (sum !== a + b) throw new Error(`${a} + ${b} is not ${String(sum)}`)
}
