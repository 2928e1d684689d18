/**
 * Where the HTTP server of an application listens, for an endpoint that is mounted in it (`HttpEndpoint`, `NodeExchange` of the node
 * package): only a server on an address that is not loopback is meant to be reached by other names than the names of this machine.
 */
import * as Guard from "./Guard.js"

/** What a socket of Node tells, if it is one. */
interface NodeSocket {
  readonly localAddress?: unknown
  readonly server?: { readonly address?: () => unknown }
}

/**
 * Whether the server listens on the loopback interface alone; `undefined` where the platform does not tell. A server on a
 * Unix socket has a proxy in front of it.
 */
export const isLocal = (source: unknown): boolean | undefined => {
  const { socket } = source as { readonly socket?: NodeSocket }
  if (socket === undefined || socket === null) return undefined
  const bound = socket.server?.address?.()
  if (typeof bound === "string") return false
  const address = (bound as { readonly address?: unknown } | null | undefined)?.address ?? socket.localAddress
  return typeof address === "string" ? Guard.isLoopback(address) : undefined
}
