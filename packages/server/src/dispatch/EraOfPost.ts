/**
 * Chooses the era of one HTTP message, and passes it to the POST of that era. A server of one era refuses the messages of
 * the other with an error from which a client of both eras learns what to do.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Era from "@effect-mcp/protocol/Era"
import * as McpError from "@effect-mcp/protocol/McpError"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import { isInitialize } from "../legacy/Http.js"
import type { Principal } from "../Principal.js"
import * as EraOfMessage from "./EraOfMessage.js"
import * as ModernRefusal from "./ModernRefusal.js"

export type Post = (exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined) => void

/** The POST of an endpoint whose server has one era, or both. */
export const post = (legacy: Post | undefined, modern: Post | undefined, versions: ReadonlyArray<string>): Post => {
  const era = (incoming: Message.Incoming, header: string | undefined): Era.Era => {
    if (!Message.isMalformed(incoming) && !Message.isResponse(incoming)) {
      return EraOfMessage.of(incoming, versions, header)
    }
    return header !== undefined && Era.ofVersion(header) === "modern" ? "modern" : "legacy"
  }
  if (legacy === undefined) {
    return (exchange, incoming, principal) =>
      isInitialize(incoming) && era(incoming, versionOf(exchange)) === "legacy"
        // SHOULD name the supported revisions to a client that sends `initialize`
        ? refuse(exchange, incoming, EraOfMessage.unsupported(incoming, versions), "modern")
        : modern!(exchange, incoming, principal)
  }
  if (modern === undefined) {
    return (exchange, incoming, principal) => {
      const error = Message.isMalformed(incoming) || Message.isResponse(incoming)
        ? undefined
        : ModernRefusal.of(incoming, versions, versionOf(exchange))
      // MUST answer 400 to an unsupported revision (2025-11-25 basic/transports#protocol-version-header)
      if (error !== undefined) return refuse(exchange, incoming, error, "legacy")
      legacy(exchange, incoming, principal)
    }
  }
  return (exchange, incoming, principal) =>
    (era(incoming, versionOf(exchange)) === "modern" ? modern : legacy)(exchange, incoming, principal)
}

const versionOf = ({ headers }: HttpExchange): string | undefined => headers["mcp-protocol-version"]

const refuse = (exchange: HttpExchange, incoming: Message.Incoming, error: McpError.McpError, era: Era.Era): void => {
  const id = !Message.isMalformed(incoming) && Message.isRequest(incoming) ? incoming.id : undefined
  Refusal.failure(exchange, 400, Message.failure(id, McpError.toWire(error, era)))
}
