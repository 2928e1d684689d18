/**
 * How much processor time one message may cost, and how long one turn of the event loop may be: 250 ms, or six times what
 * this machine needs to parse an object of 90,000 members, where that is more. The parse is measured at the start, and again
 * beside each measure that exceeds the limit: other work may have made the machine slower since.
 */
import * as Turns from "./victim/Turns.js"

const text = JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`k${i}`, i])))

/** The best of five, in milliseconds. */
const parsing = (): number => Math.min(...Array.from({ length: 5 }, () => Turns.time(() => JSON.parse(text))))

const limit = (): number => Math.max(250, 6 * parsing())

const atStart = limit()

/** The least of several attempts, in milliseconds and as a share of the limit; above 1 it is too much. */
export interface Least {
  readonly millis: number
  readonly share: number
}

export const none: Least = { millis: Infinity, share: Infinity }

/** Adds an attempt. `parts`: how many participants of the attack share the process. */
export const least = (before: Least, millis: number, parts = 1): Least => {
  const one = millis / parts
  return {
    millis: Math.min(before.millis, millis),
    share: Math.min(before.share, one / (one > atStart ? Math.max(atStart, limit()) : atStart))
  }
}
