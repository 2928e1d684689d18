/**
 * Tells whether the HTTP server of an application, in which an endpoint is mounted, listens on the loopback interface alone.
 * `HttpEndpoint`, and `NodeExchange` of the node package, call it for each request. `Guard` needs the answer: other machines reach a server
 * on another address by names that this machine may not know, so there `Guard` allows any Host by default.
 */
import * as Guard from "./Guard.js"

/** The members of a Node socket that are used here. Other platforms may have none of them. */
interface NodeSocket {
  readonly localAddress?: unknown
  readonly server?: { readonly address?: () => unknown }
}

/**
 * Whether the server listens on the loopback interface alone; `undefined` where the platform does not tell. It is `false` for a server on a
 * Unix socket, because such a server has a proxy in front of it.
 */
export const isLocal = (source: unknown): boolean | undefined => {
  const { socket } = source as { readonly socket?: NodeSocket }
  if (socket === undefined || socket === null) return undefined
  const bound = socket.server?.address?.()
  if (typeof bound === "string") return false
  const address = (bound as { readonly address?: unknown } | null | undefined)?.address ?? socket.localAddress
  return typeof address === "string" ? Guard.isLoopback(address) : undefined
}
