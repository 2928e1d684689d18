/** The address of an HTTP server of the platform, as far as this library reads it, for version 4. */
import type { SocketAddress } from "effect/net/NetAddress"
import * as NetAddress from "effect/net/NetAddress"

/** The name or the number of the host; empty for a socket in the file system. */
export const hostname = (address: SocketAddress): string =>
  NetAddress.isInetAddress(address) ? NetAddress.formatHost(address) : ""
