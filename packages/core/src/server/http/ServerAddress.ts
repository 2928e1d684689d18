/**
 * Reads the address of an HTTP server of the platform, for `HttpEndpoint`. In Effect 4 such an address has another type. Under Effect 4,
 * `ServerAddress.v4.ts` is used in place of this file.
 */
import type { Address } from "@effect/platform/HttpServer"

/** The host name or the IP address; an empty text for a Unix socket. */
export const hostname = (address: Address): string => address._tag === "TcpAddress" ? address.hostname : ""
