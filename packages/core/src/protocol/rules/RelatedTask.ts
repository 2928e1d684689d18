/**
 * Writes the member of `_meta` that names the task of revision 2025-11-25 to which a message belongs. `server/legacy/TaskWire` and
 * `client/legacy/InboundHandlers` call this module. Requests about a task, and notifications of its status, name the task in their
 * parameters instead.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#associating-task-related-messages
 */
import type { JsonObject } from "../Json.js"
import * as Meta from "../Meta.js"

/** Adds to parameters or to a result the id of the task to which they belong. */
export const related = (content: JsonObject | undefined, taskId: string): JsonObject => ({
  ...content,
  _meta: { ...(content?.["_meta"] as JsonObject | undefined), [Meta.keys.relatedTask]: { taskId } }
})
