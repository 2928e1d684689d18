/**
 * Prints one line for each attack, and what went wrong in each attack that did not end as expected. The suites add outcomes; `main` prints
 * the sum. A class, because it counts the attacks.
 */

export interface Outcome {
  readonly name: string
  /** What went wrong; empty when the attack ended as expected. */
  readonly faults: ReadonlyArray<string>
  /** Milliseconds of processor time that the attack cost. */
  readonly cost?: number | undefined
  /** How much of its limit the attack took: 1 is the whole limit. */
  readonly share?: number | undefined
}

export class Report {
  private failed = 0
  private passed = 0

  constructor(private readonly isQuiet: boolean) {}

  add({ cost, faults, name, share }: Outcome): void {
    const failed = faults.length > 0
    if (failed) this.failed++
    else this.passed++
    if (this.isQuiet && !failed) return
    const part = share === undefined ? "" : `, ${(100 * share).toFixed(0)} % of the limit`
    const spent = cost === undefined ? "" : ` (${cost.toFixed(0)} ms${part})`
    console.log(`${failed ? "FAIL" : "ok  "} ${name}${spent}`)
    for (const fault of faults) console.log(`       ${fault}`)
  }

  /** Prints the sum of a group of attacks, and begins the next. */
  group(name: string, begin: number): void {
    console.log(`---- ${name}: ${this.passed + this.failed} attacks, ${this.failed} failed, ${seconds(begin)} s`)
    this.total += this.passed + this.failed
    this.faults += this.failed
    this.passed = this.failed = 0
  }

  total = 0
  faults = 0
}

const seconds = (begin: number): string => ((performance.now() - begin) / 1000).toFixed(0)
