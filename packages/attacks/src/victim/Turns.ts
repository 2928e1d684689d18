/**
 * The processor time of this process, and the most that one turn of the event loop took. Between two ticks of a timer that
 * is the lesser of the processor time and the time that passed: the first leaves out what other processes did meanwhile, the
 * second what other threads of this process did at the same time (compiling, collecting garbage).
 */
import { performance } from "node:perf_hooks"

/** How often the timer ticks, in milliseconds: a turn may look longer by this much. */
const TICK = 5

const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1000
}

/** The time of a turn that runs this, in milliseconds. */
export const time = (run: () => unknown): number => {
  const before = cpu()
  const begin = performance.now()
  run()
  return Math.min(cpu() - before, performance.now() - begin)
}

export interface Turns {
  /** Milliseconds of processor time since the start, and the longest turn since the last call, in milliseconds. */
  readonly read: () => { readonly cpu: number; readonly longest: number }
}

export const watch = (): Turns => {
  let last = cpu()
  let lastTime = performance.now()
  let longest = 0
  const tick = (): void => {
    const now = cpu()
    const time = performance.now()
    longest = Math.max(longest, Math.min(now - last, time - lastTime))
    last = now
    lastTime = time
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
