/**
 * Whether a value is small enough to report everything that is wrong with it. A peer chooses how much it sends; of a
 * large value the parsers report only the first error.
 */

/** The most values that a small value consists of: itself and everything inside it. */
export const SMALL = 1000

/** Stops counting as soon as the value is known to be large. */
export const isSmall = (value: unknown): boolean => remaining(value, SMALL) >= 0

const remaining = (value: unknown, budget: number): number => {
  let left = budget - 1
  if (typeof value !== "object" || value === null) return left
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = remaining(value[i], left)
    return left
  }
  for (const key in value) {
    if (left < 0) return left
    left = remaining((value as Record<string, unknown>)[key], left)
  }
  return left
}
