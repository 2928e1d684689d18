/**
 * Writes the id of a task into `_meta` of a message that belongs to the task, for example of a question that a task asks. Only the tasks of
 * revision 2025-11-25 need this. `server/legacy/TaskWire` and `client/legacy/InboundHandlers` call this module. Requests that manage a task
 * (such as `tasks/get`), and notifications of its status, do not need this member, because their parameters name the task.
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
