/**
 * Names the methods whose requests start at once, even when the limit of concurrent requests is reached. `neverWaits` is for requests that
 * a client sends: `ping`, which tests whether the other side answers, and `subscriptions/listen`, which stays open.
 * `client/session/Opening` and `client/http/Outgoing` call `neverWaits`. `isBrief` is for the requests that read or change a stored task.
 * `client/session/Opening`, `server/legacy/ServerSide` and `server/modern/ServerSide` call `isBrief`.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether requests of this method read or change a stored task, and therefore start at once. Other requests may wait for tasks to end, and
 * a client may need these requests to end the tasks.
 */
export const isBrief = (method: string): boolean => brief.has(method)
