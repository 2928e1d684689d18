/**
 * The type of a violation: a promise that the server has broken in a run. It says what was promised, when the promise was broken, and how.
 * The modules of this folder and `Checker` find the violations.
 */
import type { Time } from "../History.js"

export interface Violation {
  readonly promise:
    | "every call ends once"
    | "an answer belongs to its client"
    | "a handler runs once"
    | "acknowledged events arrive once and in order"
    | "a session goes on at another node"
    | "the writes of a former owner are refused"
    | "another node takes over in time"
    | "changes reach every listener"
    | "a node runs until it is ended"
    | "a client that no fault concerns is served"
    | "no node loses its sessions because of what is sent or stored"
    | "a call that never ran is refused"
    | "a request with a wrong token is refused for that"
    | "a node that has lost a session says so"
    | "the run has tested something"
  readonly at: Time
  readonly message: string
}
