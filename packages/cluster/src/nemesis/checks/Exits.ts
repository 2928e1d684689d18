/**
 * Checks how processes of nodes end. A process may end because the nemesis (the program that makes the faults) kills it, or because it was
 * shut down, with exit code 0. After an error the process ends with another exit code or by another signal. No fault around a node may
 * cause such an error.
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
