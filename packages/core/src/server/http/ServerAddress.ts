/**
 */
import type { Address } from "@effect/platform/HttpServer"

/** The name or the number of the host; empty for a socket in the file system. */
export const hostname = (address: Address): string => address._tag === "TcpAddress" ? address.hostname : ""
