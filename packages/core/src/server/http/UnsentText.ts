/**
 * Counts the text that all answers of one endpoint hold and that clients have not taken yet. When the sum exceeds the limit, the reader
 * that took nothing for the longest time is disconnected, then the next reader, until the limit holds.
 *
 * A mutable set, because each write to a slow reader passes here. `total` is the sum of `held` over all holders, and `holders` are the
 * answers that hold text. `StreamedAnswer`, and `watch` of `EndpointContext`, report how much they hold.
 */
import * as Metrics from "../telemetry/Metrics.js"

export interface Holder {
  /** How many characters the answer holds now. */
  readonly held: number
  /** When the reader of the answer took something last, in milliseconds. */
  readonly lastWrite: number
  /** Drops the text that the answer holds, and disconnects the reader. */
  readonly cut: () => void
}

export class UnsentText {
  private readonly holders = new Set<Holder>()
  private total = 0

  /** The limit in characters. */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.total
  }

  /** Call it after `held` of the holder has changed by so many characters. */
  change(holder: Holder, by: number): void {
    this.total += by
    if (holder.held > 0) this.holders.add(holder)
    else this.holders.delete(holder)
    while (this.total > this.max && this.holders.size > 0) {
      Metrics.add(Metrics.slowReaders)
      this.slowest().cut()
    }
  }

  private slowest(): Holder {
    let slowest: Holder | undefined
    for (const holder of this.holders) {
      if (
        slowest === undefined || holder.lastWrite < slowest.lastWrite ||
        (holder.lastWrite === slowest.lastWrite && holder.held > slowest.held)
      ) {
        slowest = holder
      }
    }
    return slowest!
  }
}
