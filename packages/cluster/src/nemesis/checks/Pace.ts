/**
 * How fast the machine was during a run: limits in milliseconds hold where it keeps pace, and not where other programs take its
 * processors. The canaries show it, which do the same small work all the time.
 */
import { type History, only, type Time } from "../History.js"

/** How many canaries are answered in a second where the machine does nothing else. */
const USUAL = 24

/** The most: a machine that is slower is no excuse for more. */
const SLOWEST = 3

/** How many times as long as usual canaries took from one time to another: from 1 to 3. */
export const slowness = (history: History, from: Time, to: Time): number => {
  const answered = only(history, "Canary").filter(({ at, outcome }) =>
    at > from && at <= to && outcome?.type === "result"
  )
  return Math.min(SLOWEST, Math.max(1, USUAL * (to - from) / 1000 / answered.length))
}
