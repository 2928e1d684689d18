/**
 * A process of a node ends because the nemesis kills it, or because it was shut down, with exit code 0. An error that ends the process has
 * another exit code, or a signal of its own: no fault around a node may cause such an error.
 */
import { type History, only } from "../History.js"
import type { Violation } from "./Violation.js"

export const check = (history: History): Array<Violation> => {
  const killed = new Set(only(history, "Fault").flatMap(({ kind, node }) => kind === "kill" ? [node] : []))
  return only(history, "Exited").flatMap(({ at, code, node, signal }): Array<Violation> =>
    code === 0 || (signal === "SIGKILL" && killed.has(node)) ? [] : [{
      promise: "a node runs until it is ended",
      at,
      message: `${node} has ended with ${signal ?? `exit code ${code}`}`
    }]
  )
}
