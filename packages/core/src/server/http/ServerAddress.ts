/**
 * The address of an HTTP server of the platform, as far as `HttpEndpoint` reads it. The platform of Effect 4 has other addresses:
 * for version 4 this module is written anew.
 */
import type { Address } from "@effect/platform/HttpServer"

/** The name or the number of the host; empty for a socket in the file system. */
export const hostname = (address: Address): string => address._tag === "TcpAddress" ? address.hostname : ""
