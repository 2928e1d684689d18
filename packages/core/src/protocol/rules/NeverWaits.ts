/**
 * The methods whose requests start at once, also while as many requests run as the limit allows. `neverWaits` names `ping`, which shows
 * that the other side is there, and a subscription, which stays open. `client/session/Opening` and `client/http/Outgoing` call
 * `neverWaits`. `isBrief` names the requests that read or change a stored task: a client may need them to end the tasks for which other
 * requests wait. `client/session/Opening`, `server/legacy/ServerSide` and `server/modern/ServerSide` call `isBrief`.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether requests of this method are about a task and never wait. Such a request reads or changes what is stored. The client may need it
 * to end the tasks for which other requests wait.
 */
export const isBrief = (method: string): boolean => brief.has(method)
