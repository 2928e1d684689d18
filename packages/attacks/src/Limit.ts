/**
 * How much processor time one message may cost, and how long one turn of the event loop may be: 250 ms, or six times what
 * this machine needs to parse an object of 90,000 members, where that is more.
 */
import { performance } from "node:perf_hooks"

const text = JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`k${i}`, i])))

/** The best of five. */
const parsing = Math.min(...Array.from({ length: 5 }, () => {
  const begin = performance.now()
  JSON.parse(text)
  return performance.now() - begin
}))

/** In milliseconds. */
export const LIMIT = Math.max(250, 6 * parsing)
