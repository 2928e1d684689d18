/**
 * Reads the address of an HTTP server of `@effect/platform`, for `HttpEndpoint`. In Effect 4 this address has another type, so builds for
 * Effect 4 use `ServerAddress.v4.ts` in place of this file.
 */
import type { Address } from "@effect/platform/HttpServer"

/** The host name or the IP address; an empty text for a Unix socket. */
export const hostname = (address: Address): string => address._tag === "TcpAddress" ? address.hostname : ""
