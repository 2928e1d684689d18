/**
 * The methods whose requests never wait until other requests have ended: a ping shows that the server is there, whatever
 * else it does, and a subscription stays open. `isBrief` names the requests about tasks that do not wait either.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether a request about a task never waits: the request reads or changes what is stored, and the client may need it to
 * end the very tasks that other requests wait for.
 */
export const isBrief = (method: string): boolean => brief.has(method)
