/**
 * Modern Streamable HTTP: each message is a POST of its own, and nothing is kept from one to the next. The headers must repeat
 * what the body says. A client that disconnects cancels its request. `dispatch/Endpoint` has checked and read each POST before.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import type { Requests } from "@effect-mcp/jsonrpc/unstable/Requests"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Envelope from "@effect-mcp/protocol/modern/Envelope"
import * as Headers from "@effect-mcp/protocol/modern/Headers"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Principal } from "../Authenticator.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import { accepted } from "../http/HttpExchange.js"
import * as HttpRefusal from "../http/Refusal.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import { Post } from "./Post.js"
import * as Serve from "./Serve.js"
import * as Status from "./Status.js"

export interface Http {
  readonly post: (exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined) => void
  /** Answers the requests that are running and interrupts them; subscriptions end with their result. */
  readonly close: () => void
  /** Ends the subscriptions with their result. */
  readonly endSubscriptions: () => void
  /** How many POSTs are being answered. */
  readonly size: () => number
}

export const make = (
  context: EndpointContext,
  requests: Requests,
  serving: Serve.ModernServe,
  versions: ReadonlyArray<string>
): Http => {
  const running = new Set<Post>()
  const onDone = (post: Post): void => void running.delete(post)

  const serve = (exchange: HttpExchange, request: Message.Request, principal: Principal | undefined): void => {
    const { headers } = exchange
    const envelope = envelopeOf(request, headers, versions)
    if (Either.isLeft(envelope)) return refuse(exchange, request.id, envelope.left)
    const post = new Post(context, exchange, request, principal, onDone)
    const active = requests.start(post, request, serving.posted({ envelope, headers }))
    if (active === undefined || post.isDone) return
    running.add(post)
    post.wait(active)
  }

  return {
    post: (exchange, incoming, principal) => {
      if (Message.isMalformed(incoming)) {
        return HttpRefusal.failure(exchange, 400, Message.malformedResponse(incoming))
      }
      if (Message.isRequest(incoming)) return serve(exchange, incoming, principal)
      // MUST NOT send responses: this era has no requests to the client
      if (Message.isResponse(incoming)) return HttpRefusal.send(exchange, unexpectedResponse)
      const error = refusalOfNotification(incoming, exchange.headers, versions)
      if (error !== undefined) return refuse(exchange, undefined, error)
      notify(requests, serving, incoming, RequestOrigin.request(exchange, principal, undefined))
      accepted(exchange)
    },
    close: () => {
      for (const post of [...running]) post.close()
    },
    endSubscriptions: () => {
      for (const post of [...running]) if (post.isSubscription) post.close()
    },
    size: () => running.size
  }
}

/** Handles a notification, on a channel on which nothing can be sent. */
export const notify = (
  requests: Requests,
  serving: Serve.ModernServe,
  notification: Message.Notification,
  origin: RequestOrigin.RequestOrigin
): void => {
  const channel = { origin, unsafeSend: () => false, send: () => Effect.fail(closed), canRequest: () => false }
  const handler = serving.notification(notification, channel, true)
  if (handler !== undefined) requests.handle(notification.method, handler)
}

const refuse = (exchange: HttpExchange, id: Message.RequestId | undefined, error: McpError.McpError): void =>
  HttpRefusal.failure(exchange, Status.of(error), Message.failure(id, McpError.toWire(error, "modern")))

/**
 * The envelope. Left: why it does not fit to the headers, if there are any, in the order in which the client can correct them.
 */
export const envelopeOf = (
  request: Message.Request,
  headers: HttpExchange["headers"] | undefined,
  versions: ReadonlyArray<string>
): Serve.Posted["envelope"] => {
  if (headers === undefined) return Serve.envelopeOf(request.params, versions)
  const differs = differentVersion(request.params, headers)
  if (differs !== undefined) return Either.left(differs)
  const envelope = Serve.envelopeOf(request.params, versions)
  if (Either.isLeft(envelope)) return envelope
  const checked = Headers.check(request, (name) => headers[name])
  return Either.isLeft(checked) ? Either.left(checked.left) : envelope
}

/** Why a notification does not fit to the headers, if there are any. */
export const refusalOfNotification = (
  { params }: Message.Notification,
  headers: HttpExchange["headers"] | undefined,
  versions: ReadonlyArray<string>
): McpError.McpError | undefined => {
  if (headers === undefined) return undefined
  const version = headers[VERSION]?.trim()
  if (version !== undefined && !versions.includes(version)) {
    return new McpError.UnsupportedVersion({ requested: version.slice(0, 128), supported: versions })
  }
  return differentVersion(params, headers)
}

const differentVersion = (
  params: Message.Params | undefined,
  headers: HttpExchange["headers"]
): McpError.HeaderMismatch | undefined => {
  const header = headers[VERSION]?.trim()
  if (header === undefined) {
    return new McpError.HeaderMismatch({ message: `Header mismatch: ${Headers.VERSION} is missing` })
  }
  const version = Envelope.versionOf(params)
  return version === undefined || version === header
    ? undefined
    : new McpError.HeaderMismatch({ message: `Header mismatch: ${Headers.VERSION} differs from the body` })
}

const VERSION = Headers.VERSION.toLowerCase()

const unexpectedResponse = HttpRefusal.badRequest("a response answers no request: from 2026-07-28 on servers send none")
