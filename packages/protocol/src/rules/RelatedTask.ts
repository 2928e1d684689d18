/**
 * The mark of messages that belong to a task of 2025-11-25. Requests about a task, which name it in their parameters, and
 * notifications of its status do not have it.
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
