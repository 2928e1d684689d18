/**
 * An `Outbound` whose requests and notifications carry the envelope: the revision, the capabilities and the name of the client,
 * and the log level once the application has set one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import * as Envelope from "@effect-mcp/protocol/modern/Envelope"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { CallOptions } from "../CallOptions.js"

export interface Stamped extends Outbound {
  /** Later requests ask for log messages from this level on. Without a level the server sends none. */
  readonly setLogLevel: (level: LoggingLevel) => void
}

export const make = (
  outbound: Outbound,
  facts: {
    readonly version: ModernVersion
    readonly capabilities: ClientCapabilities
    readonly clientInfo: Implementation
    readonly logLevel: LoggingLevel | undefined
  }
): Stamped => {
  // A new level is a new writer, so that a request pays for one comparison at most.
  let current = facts
  let write = Envelope.writer(current)
  return {
    setLogLevel: (logLevel) => {
      current = { ...facts, logLevel }
      write = Envelope.writer(current)
    },
    request: (method, params, options?: CallOptions) => {
      const { capabilities, logLevel } = options ?? noOptions
      const writing = capabilities === undefined && logLevel === undefined ? write : Envelope.writer({
        ...current,
        capabilities: capabilities ?? current.capabilities,
        logLevel: logLevel ?? current.logLevel
      })
      return outbound.request(method, writing(params ?? noParams) as Params, options)
    },
    // This era has no notification of changed roots: the server asks for them again with the next call. The envelope of
    // others tells a server of both eras which of them they belong to.
    notify: (method, params) =>
      method === ROOTS_CHANGED ? Effect.void : outbound.notify(method, write(params ?? noParams) as Params)
  }
}

const noParams: Params = {}

const noOptions: CallOptions = {}

const ROOTS_CHANGED = "notifications/roots/list_changed"
