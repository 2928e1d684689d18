/**
 * The member of `_meta` that names the task of 2025-11-25 to which a message belongs, for `server/legacy/TaskWire` and the client's
 * `client/legacy/InboundHandlers`. Requests about a task and notifications of its status name the task in their parameters, and do not
 * have the member.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#associating-task-related-messages
 */
import type { JsonObject } from "../Json.js"
import * as Meta from "../Meta.js"

/** Parameters or a result, with the task that they belong to. */
export const related = (content: JsonObject | undefined, taskId: string): JsonObject => ({
  ...content,
  _meta: { ...(content?.["_meta"] as JsonObject | undefined), [Meta.keys.relatedTask]: { taskId } }
})
