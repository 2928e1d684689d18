/**
 * Random numbers that depend on a seed alone, so that the same seed has the same schedule of faults. What clients choose is random, and
 * does not depend on the seed.
 */

export interface Seeded {
  /** Returns a number from 0 to 1, 1 excluded. */
  readonly next: () => number
  readonly between: (from: number, to: number) => number
  readonly one: <A>(all: ReadonlyArray<A>) => A
  readonly shuffled: <A>(all: ReadonlyArray<A>) => ReadonlyArray<A>
}

/** Mulberry32. */
export const make = (seed: number): Seeded => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const index = (size: number) => Math.floor(next() * size)
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    one: (all) => all[index(all.length)]!,
    shuffled: (all) => {
      const left = [...all]
      return all.map(() => left.splice(index(left.length), 1)[0]!)
    }
  }
}
