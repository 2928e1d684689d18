/**
 * A process of a node ends by a signal that kills it, or in order, with exit code 0. An error that ends the process has
 * another exit code: no fault around a node may do that.
 */
import type { History } from "../History.js"
import { only } from "../History.js"
import type { Violation } from "./Violation.js"

export const check = (history: History): Array<Violation> =>
  only(history, "Exited").flatMap(({ at, code, node }): Array<Violation> =>
    code === null || code === 0
      ? []
      : [{ promise: "a node runs until it is ended", at, message: `${node} has ended with exit code ${code}` }]
  )
