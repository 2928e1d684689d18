/**
 * The error messages of task stores (`TaskStore`) and inboxes (`Inbox`). The stores in memory, in Redis and in SQL use the same messages:
 * the packages `redis` and `sql` import this module. Each message contains the refused value, shortened and on one line. A message contains
 * only the first 8 characters of a task id, because anyone with the whole id may be able to read the task. `isSmallEnd` defines the one
 * exception from the limits of the stores.
 */
import * as Tasks from "../../protocol/Tasks.js"

export const taken = (taskId: string): string =>
  `There is already a task with the id ${shown(taskId, 8)}: create each task with a new id`

export const noPage = (after: string): string =>
  `There is no page of tasks after ${shown(after, 100)}: pass the \`next\` of the previous page`

export const gone = (node: string): string =>
  `The node ${shown(node, 100)} has no open inbox: the node or its lease has ended`

/** The message of a full inbox. `limit` is the limit with its unit. */
export const full = (node: string, limit: string): string =>
  `More than ${limit} wait for the node ${
    shown(node, 100)
  }: send again when it has read some, or give \`maxSize\` a higher value`

export const ownerSize = (limit: number): string =>
  `The tasks of this owner have ${limit} characters, and this is the limit`

/** Up to this length (as JSON, in characters), a task store accepts the end of a task whatever its limits are. */
const END_SIZE = 4096

/** Whether a task store must accept a replacement of this size whatever its limits are, so that each task can end. */
export const isSmallEnd = (status: Tasks.TaskStatus, size: number): boolean =>
  Tasks.isTerminal(status) && size <= END_SIZE

const shown = (text: string, limit: number): string =>
  JSON.stringify(text.length > limit ? `${text.slice(0, limit)}…` : text)
