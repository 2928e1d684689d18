/**
 * The processor time of this process, and the most of it that passed between two ticks of a timer: the longest turn of the
 * event loop, independent of what else the machine does.
 */

/** How often the timer ticks, in milliseconds: a turn may look longer by this much. */
const TICK = 5

const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1000
}

export interface Turns {
  /** Milliseconds of processor time since the start, and of the longest turn since the last call. */
  readonly read: () => { readonly cpu: number; readonly longest: number }
}

export const watch = (): Turns => {
  let last = cpu()
  let longest = 0
  const tick = (): void => {
    const now = cpu()
    longest = Math.max(longest, now - last)
    last = now
  }
  setInterval(tick, TICK).unref()
  return {
    read: () => {
      tick()
      const result = { cpu: last, longest }
      longest = 0
      return result
    }
  }
}
