/**
 * Passes each notification about a task to the listeners of that task, by the id of the task or by the progress token of its call. `Client`
 * passes the notifications to this module. `RemoteTasks` adds and removes the listeners. A notification costs two look-ups, whatever the
 * number of tasks.
 */
import type { Notification, Params } from "../../jsonrpc/Message.js"
import * as Progress from "../../jsonrpc/Progress.js"

/** Removes a listener. */
export type Stop = () => void

export interface TaskWatch {
  readonly onNotification: (notification: Notification) => void
  /** Calls the listener each time that the server notifies of a change of the task. */
  readonly onChange: (taskId: string, listener: () => void) => Stop
  /** Calls the listener for progress with this token that belongs to no pending call. */
  readonly onProgress: (token: unknown, listener: (progress: Progress.Progress) => void) => Stop
}

/** The notifications of both protocol eras whose parameters have the id of a task. */
const CHANGES: ReadonlySet<string> = new Set(["notifications/tasks", "notifications/tasks/status"])

type Listeners = Map<unknown, Set<(params: Params | undefined) => void>>

export const make = (): TaskWatch => {
  const changes: Listeners = new Map()
  const progress: Listeners = new Map()
  const add = (to: Listeners, key: unknown, listener: (params: Params | undefined) => void): Stop => {
    const listeners = to.get(key) ?? new Set()
    to.set(key, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && to.get(key) === listeners) to.delete(key)
    }
  }
  return {
    onNotification: ({ method, params }) => {
      const listeners = CHANGES.has(method)
        ? changes.get(params?.taskId)
        : method === Progress.METHOD
        ? progress.get(Progress.token(params))
        : undefined
      if (listeners !== undefined) { for (const listener of listeners) listener(params) }
    },
    onChange: (taskId, listener) => add(changes, taskId, () => listener()),
    onProgress: (token, listener) =>
      add(progress, token, (params) => {
        const one = Progress.fromParams(params)
        if (one !== undefined) listener(one)
      })
  }
}
