/**
 * Measures how fast the machine was during a run, for the other checks. The limits of these checks in milliseconds are higher while other
 * programs use the processors of the machine. The canaries show how fast the machine is, because they do the same small work all the time.
 */
import { type History, only, type Time } from "../History.js"

/** How many canaries are answered in a second when the machine does nothing else. */
const USUAL = 24

/** The highest slowness. A limit is never more than three times as high as usual. */
const SLOWEST = 3

/** Returns by which factor the canaries between two times took longer than usual: from 1 to 3. */
export const slowness = (history: History, from: Time, to: Time): number => {
  const answered = only(history, "Canary").filter(({ at, outcome }) =>
    at > from && at <= to && outcome?.type === "result"
  )
  return Math.min(SLOWEST, Math.max(1, USUAL * (to - from) / 1000 / answered.length))
}
