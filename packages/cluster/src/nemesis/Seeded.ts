/**
 * Random numbers that depend only on a seed, so that the same seed gives the same schedule of faults. The choices of clients are random,
 * and do not depend on the seed.
 */

export interface Seeded {
  /** Returns a number that is at least 0 and less than 1. */
  readonly next: () => number
  readonly between: (from: number, to: number) => number
  readonly one: <A>(all: ReadonlyArray<A>) => A
  readonly shuffled: <A>(all: ReadonlyArray<A>) => ReadonlyArray<A>
}

/** Makes random numbers with the algorithm Mulberry32. */
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
