/**
 * Counts the text in all answers of one endpoint that clients have not read yet. When the sum exceeds the limit, this object disconnects
 * the client that has read nothing for the longest time, then the next client, and so on, until the sum is within the limit.
 *
 * The fields are mutable, because each write to a slow client changes them. `holders` contains the answers that hold text. `total` is the
 * sum of `held` over all holders. `StreamedAnswer`, and `watch` of `EndpointContext`, call `change`.
 */
import * as Metrics from "../telemetry/Metrics.js"

export interface Holder {
  /** How many characters the answer holds now. */
  readonly held: number
  /** When the client last read a part of the answer, in milliseconds. */
  readonly lastWrite: number
  /** Drops the text that the answer holds, and disconnects the client. */
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

  /** Call this function after `held` of the holder has changed by `by` characters. */
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
