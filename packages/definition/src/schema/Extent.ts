/**
 * How much there is in a value. A peer chooses how much it sends, and everything that is wrong with a small value may be
 * said at once; of a large one only the first thing is looked for.
 *
 * @since 0.1.0
 */

/**
 * How many values, those inside one another counted each, a small value holds.
 *
 * @since 0.1.0
 * @category limits
 */
export const SMALL = 1000

/**
 * Whether a value is small. No more of it is looked at than that takes.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSmall = (value: unknown): boolean => left(value, SMALL) >= 0

const left = (value: unknown, before: number): number => {
  let rest = before - 1
  if (typeof value !== "object" || value === null) return rest
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i], rest)
    return rest
  }
  for (const key in value) {
    if (rest < 0) return rest
    rest = left((value as Record<string, unknown>)[key], rest)
  }
  return rest
}
