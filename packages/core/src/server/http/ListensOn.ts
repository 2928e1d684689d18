/**
 * Finds out whether the HTTP server around an endpoint listens only on the loopback interface. `HttpEndpoint`, and `NodeExchange` of the
 * node package, call this module for each request. `Guard` uses the result: when other machines can reach the server, `Guard` allows any
 * Host by default, because this machine may not know all names of the server.
 */
import * as Guard from "./Guard.js"

/** The members of a Node socket that this module uses. Other platforms may not have these members. */
interface NodeSocket {
  readonly localAddress?: unknown
  readonly server?: { readonly address?: () => unknown }
}

/**
 * Whether the server listens only on the loopback interface; `undefined` where the platform does not say. `false` for a server on a Unix
 * socket, because a proxy usually passes requests to such a server.
 */
export const isLocal = (source: unknown): boolean | undefined => {
  const { socket } = source as { readonly socket?: NodeSocket }
  if (socket === undefined || socket === null) return undefined
  const bound = socket.server?.address?.()
  if (typeof bound === "string") return false
  const address = (bound as { readonly address?: unknown } | null | undefined)?.address ?? socket.localAddress
  return typeof address === "string" ? Guard.isLoopback(address) : undefined
}
