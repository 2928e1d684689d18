/**
 * The error of a request that is refused because of a limit, or because a store is away. The modern era has no code for it:
 * over HTTP the status says it, and `Http` recognises the error by its data.
 */
import { InternalError } from "@effect-mcp/protocol/McpError"

/** The data of every such error. The client may send the request again later. */
export const data: { readonly reason: "overloaded" } = { reason: "overloaded" }

export const error = (message: string): InternalError => new InternalError({ message, data })
