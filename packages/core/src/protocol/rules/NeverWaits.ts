/**
 * The methods whose requests wait for no other request, where as many requests run as may run. `neverWaits` has a ping, which shows that
 * the other side is there, and a subscription, which stays open: `client/session/Opening` and `client/http/Outgoing` call `neverWaits`.
 * `isBrief` has the requests that read or change a stored task, which a client may need in order to end the tasks that other requests wait
 * for: `client/session/Opening`, `server/legacy/ServerSide` and `server/modern/ServerSide` call `isBrief`.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether a request about a task never waits: the request reads or changes what is stored, and the client may need it to
 * end the very tasks that other requests wait for.
 */
export const isBrief = (method: string): boolean => brief.has(method)
