/**
 * The methods whose requests never wait for others to end and take no place from them: a ping shows that the server is
 * there, whatever it has to do, and a subscription stays open.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"

const brief: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"])

/**
 * Whether a request about a task never waits either: it reads or changes what is stored, and its sender may need it to end what
 * holds the places.
 */
export const isBrief = (method: string): boolean => brief.has(method)
