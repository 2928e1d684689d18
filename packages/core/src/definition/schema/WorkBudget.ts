/**
 * The work that one check of a value may cost, in `JsonSchemaValidator`, `LinearPattern` and `ArgumentRepair`. A peer chooses the value,
 * and the peer of a client also the schema, so each step takes from a budget, and the check is given up when the budget is used up.
 */

/** A step is a value that is visited, a keyword, a character: at most some 100 nanoseconds each. */
export interface Budget {
  /** Throws `OverBudget` when less is left. */
  readonly spend: (steps: number) => void
}

/** Thrown inside of a check, and caught by `JsonSchemaValidator`. */
export class OverBudget extends Error {}

export const make = (steps: number): Budget => {
  let left = steps
  return {
    spend: (steps) => {
      left -= steps
      if (left < 0) throw new OverBudget("it is too much work")
    }
  }
}
