/**
 * The work of every subject of a benchmark: calls of the same tool, with every result checked. The subjects are the files in
 * `subjects`.
 */

/** One implementation under test. `cell.ts` runs one in a process of its own. */
export interface Subject {
  /** Makes `calls` calls, `inFlight` of them concurrently. Fails on a wrong result. */
  readonly run: (calls: number, inFlight: number) => Promise<void>
  /** Processor time so far, in microseconds. Default: that of this process. */
  readonly used?: () => Promise<number>
  readonly close: () => Promise<void>
}

export const check = (sum: unknown, a: number, b: number): void => {
  if (sum !== a + b) throw new Error(`${a} + ${b} is not ${String(sum)}`)
}
