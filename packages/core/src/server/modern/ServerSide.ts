/**
 * Serves the messages of revision 2026-07-28 (the modern era). Each request is independent of earlier requests: the members of its `_meta`
 * (the envelope) describe the client. `Http`, `dispatch/EraOfMessage` and `dispatch/Dispatch` pass messages to this module.
 *
 * `RequestFacts` reads the envelope. `runtime/Serve` runs the handlers of messages, with the record that `Era` makes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import type { Notification, Request } from "../../jsonrpc/Message.js"
import * as Outbound from "../../jsonrpc/Outbound.js"
import type { Requests } from "../../jsonrpc/runtime/Requests.js"
import type { Channel, IncomingRequest, RequestSide, Side, Work } from "../../jsonrpc/Side.js"
import { closed } from "../../jsonrpc/Transport.js"
import type * as McpError from "../../protocol/McpError.js"
import type { Envelope } from "../../protocol/modern/Envelope.js"
import * as Methods from "../../protocol/modern/Methods.js"
import { isBrief } from "../../protocol/rules/NeverWaits.js"
import * as Version from "../../protocol/Version.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import * as Routes from "../runtime/Routes.js"
import * as Serve from "../runtime/Serve.js"
import type { Server } from "../runtime/Server.js"
import type { KeptSession } from "../runtime/SessionLayer.js"
import * as Era from "./Era.js"
import { envelopeOf, type Posted, RequestFacts } from "./RequestFacts.js"
import { Subscriptions } from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

/** Serves the modern messages of all clients. Each server makes one such object. */
export interface ModernServerSide {
  /** The open subscriptions of all clients. */
  readonly subscriptions: Subscriptions
  /** Makes the functions that serve the messages of one pipe. The pipe closes with the scope. */
  readonly piped: (scope: Scope.Scope) => Side
  /** Makes the functions that serve the request of one POST. */
  readonly posted: (posted: Posted) => RequestSide
  readonly notification: (
    notification: Notification,
    channel: Channel,
    isPosted: boolean,
    pipe?: KeptSession
  ) => Effect.Effect<void> | undefined
  /** Answers a request without a valid envelope with an error. Middleware gets the request and the error. */
  readonly refuseUnknown: (request: Request, incoming: IncomingRequest, error: McpError.McpError) => Work
}

type Self = Serve.Serve<RequestFacts>

export const make = (server: Server, wire?: Wire): ModernServerSide => {
  const subscriptions = new Subscriptions(server)
  const self: Self = Serve.make(server, Era.make(server, subscriptions, wire))
  const notification: ModernServerSide["notification"] = (received, channel, isPosted, pipe) =>
    notified(self, received, channel, isPosted, pipe)
  const ownLimit: RequestSide["ownLimit"] = ({ method }, channel) =>
    method === Methods.listen.name ? subscriptions.limitOf(RequestOrigin.principalOf(channel)) : undefined
  return {
    subscriptions,
    piped: (scope) => {
      const pipe = server.session?.within(scope)
      return {
        onRequest: (request, incoming) => serve(self, request, incoming, undefined, pipe),
        onNotification: (received, channel) => notification(received, channel, false, pipe),
        neverWaits: isBrief,
        ownLimit: ({ method }, channel) => method === Methods.listen.name ? subscriptions.limitOf(channel) : undefined,
        unavailableCode: Era.unavailableCode
      }
    },
    posted: (posted) => ({
      onRequest: (request, incoming) => serve(self, request, incoming, posted),
      neverWaits: isBrief,
      ownLimit,
      unavailableCode: Era.unavailableCode
    }),
    notification,
    refuseUnknown: (request, incoming, error) => refuseUnknown(self, request, incoming, error)
  }
}

const serve = (
  self: Self,
  request: Request,
  incoming: IncomingRequest,
  posted?: Posted,
  pipe?: KeptSession
): Work => {
  const { authenticate, versions } = self.server
  const refusal = authenticate === undefined ? undefined : RequestOrigin.refusal(incoming.channel)
  if (refusal !== undefined) return Serve.fail(self, refusal)
  const envelope = posted?.envelope ?? envelopeOf(request.params, versions)
  if (Either.isLeft(envelope)) return refuseUnknown(self, request, incoming, envelope.left)
  const { channel } = incoming
  const facts = new RequestFacts(envelope.right, channel, posted !== undefined, posted?.headers, pipe)
  return Serve.request(self, facts, request, incoming)
}

const refuseUnknown = (self: Self, request: Request, incoming: IncomingRequest, error: McpError.McpError): Work =>
  Serve.refuse(self, new RequestFacts(unknownClient, incoming.channel, false), request, incoming, error)

const notified = (
  self: Self,
  { method, params }: Notification,
  channel: Channel,
  isPosted: boolean,
  pipe?: KeptSession
): Effect.Effect<void> | undefined => {
  const { pipeline, server } = self
  if (server.authenticate !== undefined && RequestOrigin.refusal(channel) !== undefined) return undefined
  if (Routes.listenerOf(server, method) === undefined && !pipeline.isSurrounded) return undefined
  return Effect.suspend(() => {
    const received: Notification = { jsonrpc: "2.0", method, ...(params === undefined ? undefined : { params }) }
    const envelope = Either.getOrElse(envelopeOf(params, server.versions), () => unknownClient)
    const facts = new RequestFacts(envelope, channel, isPosted, undefined, pipe)
    const listener = Serve.listenerOf(self, facts, method)
    return Serve.notification(self, facts, received, { ...Outbound.none, channel }, listener)
  })
}

/** Handles a notification that came outside of a pipe. Its handler cannot send messages on this channel. */
export const notify = (
  requests: Requests,
  serving: ModernServerSide,
  notification: Notification,
  origin: RequestOrigin.RequestOrigin
): void => {
  const channel = { origin, unsafeSend: () => false, send: () => Effect.fail(closed), canRequest: () => false }
  const handler = serving.notification(notification, channel, true)
  if (handler !== undefined) requests.handle(notification.method, handler)
}

const unknownClient: Envelope = {
  version: Version.latestModern,
  capabilities: {},
  clientInfo: undefined,
  logLevel: undefined
}
