/**
 * Makes the `Viewer` for a request about tasks, for `legacy/TaskWire` and the methods of `TasksServer`. A `Viewer` contains the principal
 * of the request, and the check of its scopes. The token of *this* request decides, not the token of the call that became the task, because
 * a user may have several tokens.
 */
import type { Viewer } from "../tasks/StoredTasks.js"
import type { HandlerContext } from "./HandlerContext.js"
import * as Permission from "./Permission.js"

export const make = (
  { origin, principal }: Pick<HandlerContext, "origin" | "principal">,
  isOfEra: Viewer["isOfEra"]
): Viewer => ({
  owner: principal?.id ?? null,
  isOfEra,
  refusal: (scopes) => scopes.length === 0 ? undefined : Permission.refusal(origin.user, scopes)
})
