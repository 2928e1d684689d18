/**
 * The sentences with which stores of tasks (`TaskStore`) and inboxes (`Inbox`) refuse a value. The stores in memory, in Redis and in SQL
 * use the same sentences: packages `redis` and `sql` import this module. Each sentence names the refused value, on one line and shortened.
 * The id of a task is cut to its first 8 characters, because anyone who knows the whole id may be able to read the task. `isSmallEnd` is
 * the one exception from the limits of the stores.
 */
import * as Tasks from "../../protocol/Tasks.js"

export const taken = (taskId: string): string =>
  `There is a task with the id ${shown(taskId, 8)} already: create each task with an id of its own`

export const noPage = (after: string): string =>
  `There is no page of tasks after ${shown(after, 100)}: pass the \`next\` of the page before`

export const gone = (node: string): string =>
  `The node ${shown(node, 100)} has no open inbox: the node or its lease has ended`

/** `limit` is the limit with its unit. */
export const full = (node: string, limit: string): string =>
  `More than ${limit} wait for the node ${
    shown(node, 100)
  }: send again when it has read some, or give \`maxSize\` a higher value`

export const ownerSize = (limit: number): string =>
  `The tasks of this owner have ${limit} characters, and may have no more`

/** How many characters the end of a task may have, as JSON, so that a store of tasks takes it whatever its limits are. */
const END_SIZE = 4096

/** Whether a store of tasks takes a replacement of this size whatever its limits are, so that each task can end. */
export const isSmallEnd = (status: Tasks.TaskStatus, size: number): boolean =>
  Tasks.isTerminal(status) && size <= END_SIZE

const shown = (text: string, limit: number): string =>
  JSON.stringify(text.length > limit ? `${text.slice(0, limit)}…` : text)
