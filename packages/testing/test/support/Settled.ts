/**
 * Waits until the process has done what needs no time: turns of the event loop, and operations of WebCrypto, each of which may start
 * the next one. It counts operations of the same kind in place of milliseconds, so that it waits longer on a busy machine.
 */
import { Effect } from "effect"

/** How many operations one after another are waited for. */
const STEPS = 50

const bytes = new Uint8Array(64 * 1024)

/** As many operations as there are threads for them. */
const operations = () => Promise.all(Array.from({ length: 4 }, () => crypto.subtle.digest("SHA-256", bytes)))

export const settled: Effect.Effect<void> = Effect.promise(async () => {
  for (let step = 0; step < STEPS; step++) {
    await operations()
    await new Promise((resolve) => setImmediate(resolve))
  }
})
