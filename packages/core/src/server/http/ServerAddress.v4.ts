/**
 * Reads the address of an HTTP server of the platform, for `HttpEndpoint`. Builds for Effect 4 use this file in place of
 * `ServerAddress.ts`.
 */
import type { SocketAddress } from "effect/net/NetAddress"
import * as NetAddress from "effect/net/NetAddress"

/** The host name or the IP address; an empty text for a Unix socket. */
export const hostname = (address: SocketAddress): string =>
  NetAddress.isInetAddress(address) ? NetAddress.formatHost(address) : ""
