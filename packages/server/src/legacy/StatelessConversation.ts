/**
 * Serves legacy requests that belong to no session: each one as if its client had completed a handshake at the revision
 * that comes with it. Nothing is remembered between two requests, and a handler cannot send requests to the client.
 *
 * `runtime/Exchanges` runs them; this module gives each of them the state that a handshake would leave.
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outbound from "@effect-mcp/jsonrpc/Outbound"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Options } from "../Dispatcher.js"
import * as Exchanges from "../runtime/Exchanges.js"
import { Connection } from "./Connection.js"
import type { Serving } from "./Serve.js"

/**
 * A function that serves one message, whose response leaves on the channel. It gives a function that interrupts the
 * request, as long as it has no response.
 */
export const make = (
  serving: Pick<Serving, "request" | "neverWaits">,
  options: Options
): Effect.Effect<
  (incoming: Message.Incoming, channel: Channel, version: LegacyVersion) => () => void,
  never,
  Scope.Scope
> =>
  Effect.map(
    Exchanges.make({
      onRequest: (request, incoming) => serving.request(connections.get(incoming.channel)!, request, incoming),
      neverWaits: serving.neverWaits
    }, options),
    (exchange) => (incoming, channel, version) => {
      connections.set(channel, connectionOf(incoming, version))
      return exchange(incoming, channel)
    }
  )

/** The state of each POST, as long as its channel is in use. */
const connections = new WeakMap<Channel, Connection>()

const connectionOf = (incoming: Message.Incoming, version: LegacyVersion): Connection => {
  const connection = new Connection(Outbound.none)
  // A client without a session may send `initialize`, too, and gets its result.
  connection.accepted = Message.isMalformed(incoming) ||
    (incoming as Message.Request).method !== Methods.initialize.name
  connection.initialized = true
  connection.version = version
  return connection
}
