/**
 * Limits the work of one check of a value, in `JsonSchemaValidator`, `LinearPattern` and `ArgumentRepair`. A peer chooses the value, and
 * the server of a client also chooses the schema. Therefore each check has a budget of steps, and the check stops when the budget is used
 * up.
 */

/** A budget of steps. A step is a value that is visited, a keyword, or a character. A step takes about 100 nanoseconds at most. */
export interface Budget {
  /** Takes `steps` steps from the budget. Throws `OverBudget` when fewer steps are left. */
  readonly spend: (steps: number) => void
}

/** The error that ends a check when its budget is used up. The modules that make the budget catch this error. */
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
