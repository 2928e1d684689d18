/**
 * The methods whose requests never wait for others to end and take no place from them: a ping shows that the server is
 * there, whatever it has to do, and a subscription stays open.
 */
export const neverWaits = (method: string): boolean => method === "ping" || method === "subscriptions/listen"
