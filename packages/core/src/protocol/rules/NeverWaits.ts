/**
 * The methods whose requests wait for no other request, where a client or a server has as many requests running as it may have. A ping shows
 * that the other side is there, whatever else that side does, and a subscription stays open.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether a request about a task never waits: the request reads or changes what is stored, and the client may need it to
 * end the very tasks that other requests wait for.
 */
export const isBrief = (method: string): boolean => brief.has(method)
