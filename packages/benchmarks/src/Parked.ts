/**
 * Calls of the tool "park", which does not answer until it is cancelled; client and server are in one process. Two rows are about these
 * calls: the time that cancelling takes, and the memory of a call in flight.
 */
import type { Holder, Subject } from "./Workload.js"

/** How many handlers of "park" have begun, and how many have ended. Only the handlers change these numbers. */
export const parked = { begun: 0, ended: 0 }

/** Begins so many calls. The function that it returns cancels the calls, and waits until they have ended at the client. */
export type Park = (count: number) => Promise<() => Promise<void>>

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const begin = async (park: Park, count: number): Promise<() => Promise<void>> => {
  const all = parked.begun + count
  const cancel = await park(count)
  while (parked.begun < all) await turn()
  return cancel
}

const TOGETHER = 1000

/** Cancels 1,000 calls at once, when all their handlers run. Only the time of cancelling counts. */
export const cancelling = (park: Park, close: () => Promise<void>): Subject => {
  let microseconds = 0
  return {
    step: TOGETHER,
    run: async (calls) => {
      for (let cancelled = 0; cancelled < calls; cancelled += TOGETHER) {
        const cancel = await begin(park, TOGETHER)
        const all = parked.ended + TOGETHER
        const before = process.cpuUsage()
        await cancel()
        while (parked.ended < all) await turn()
        const { system, user } = process.cpuUsage(before)
        microseconds += system + user
      }
    },
    used: () => Promise.resolve(microseconds),
    close
  }
}

export const holding = (park: Park, close: () => Promise<void>): Holder => ({
  hold: async (count) => void await begin(park, count),
  heapBytes: async () => {
    await turn()
    global.gc!()
    return process.memoryUsage().heapUsed
  },
  close
})

/** Makes calls that are promises and that end with a signal, as the official SDKs cancel calls. */
export const parkWith = (call: (signal: AbortSignal) => Promise<unknown>): Park => (count) => {
  const controllers = Array.from({ length: count }, () => new AbortController())
  const calls = controllers.map(({ signal }) =>
    call(signal).then(() => {
      throw new Error("A call that was cancelled has a result")
    }, () => {})
  )
  return Promise.resolve(async () => {
    for (const controller of controllers) controller.abort()
    await Promise.all(calls)
  })
}

/** A handler of "park" for servers that hand a signal to their handlers. */
export const untilAborted = (signal: AbortSignal): Promise<never> => {
  parked.begun++
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => {
      parked.ended++
      reject(new Error("The call was cancelled"))
    })
  )
}
