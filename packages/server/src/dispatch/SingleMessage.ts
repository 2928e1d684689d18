/**
 * Serves one message that belongs to no conversation, as a stream of what its sender gets: `serve` of the `Dispatcher`. It does for a
 * transport of an application what a POST without a session does over HTTP, with the same `Requests` and the same limits: finds the
 * user, chooses the era, starts the request, and interrupts it when nobody reads the stream any more.
 *
 * The HTTP transports do not use it: their channels write to the response, without a stream.
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel, RequestSide } from "@effect-mcp/jsonrpc/Side"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/kit/Outbox"
import type { Requests } from "@effect-mcp/jsonrpc/unstable/Requests"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Refuses } from "../Authenticator.js"
import type { DispatcherService } from "../Dispatcher.js"
import type { Headers } from "../http/HttpExchange.js"
import { ABANDON_AFTER } from "../http/ResolvedOptions.js"
import type { LegacyServe } from "../legacy/Serve.js"
import * as Stateless from "../legacy/Stateless.js"
import * as ModernHttp from "../modern/Http.js"
import type { ModernServe } from "../modern/Serve.js"
import * as Authentication from "../runtime/Authentication.js"
import * as Permission from "../runtime/Permission.js"
import * as Reply from "../runtime/Reply.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { Server } from "../runtime/Server.js"
import * as EraOfMessage from "./EraOfMessage.js"

type Messages = Stream.Stream<Message.Message>

export const make = (
  { authenticate, requiredScopes, versions }: Pick<Server, "authenticate" | "requiredScopes" | "versions">,
  legacy: LegacyServe | undefined,
  modern: ModernServe | undefined,
  requests: Requests,
  /** What runs on after its stream has been closed ends with this scope. */
  scope: Scope.Scope
): DispatcherService["serve"] => {
  const choose = EraOfMessage.chooser(versions)
  const legacyVersions = versions.filter(Version.isLegacy)

  const sideOf = (request: Message.Request, era: Version.Era, headers: Headers | undefined): RequestSide => {
    if (era === "modern") {
      return modern!.posted({ envelope: ModernHttp.envelopeOf(request, headers, versions), headers })
    }
    const version = Stateless.versionOf(request, headers?.[VERSION], legacyVersions)
    return typeof version === "string"
      ? legacy!.to(Stateless.withoutHandshake(request, version))
      : refusing(version, era)
  }

  const start = (
    channel: SingleChannel,
    request: Message.Request,
    side: RequestSide,
    era: Version.Era
  ): Effect.Effect<Messages, never, Scope.Scope> => {
    const { outbox } = channel
    const started = Effect.acquireRelease(Effect.sync(() => requests.start(channel, request, side)), (active) => {
      const isRunning = () => active?.answered === false
      const end = Effect.sync(() => {
        if (isRunning()) active!.cancel()
        outbox.end(Exit.void)
      })
      if (era === "modern" || !isRunning()) return end
      // Reads on in place of the client, so that the handler is not suspended.
      const rest = Effect.timeoutOption(Effect.forever(outbox.takeAll), ABANDON_AFTER)
      return Effect.forkIn(Effect.ensuring(Effect.ignore(Effect.interruptible(rest)), end), scope)
    })
    return Effect.as(started, outbox.stream)
  }

  return (incoming, caller = { _tag: "Other" }) => {
    const headers = caller._tag === "Http" ? caller.request.headers : undefined
    const user = authenticate === undefined ? Effect.succeed(ANYBODY) : Authentication.find(authenticate, caller)
    return Stream.unwrapScoped(Effect.flatMap(Effect.either(user), (found) => {
      if (Message.isMalformed(incoming)) return Effect.succeed(ofMalformed(incoming))
      // No request of the server waits for a response.
      if (Message.isResponse(incoming)) return Effect.succeed(Stream.empty)
      const chosen = choose(incoming, headers?.[VERSION])
      const era = typeof chosen === "string" ? chosen : legacy === undefined ? "modern" : "legacy"
      const refusal = Either.isLeft(found)
        ? found.left
        : found.right.user && Permission.refusal(found.right.user, requiredScopes(incoming))
      const error = refusal ?? (typeof chosen === "string" ? undefined : chosen)
      const facts = Either.getOrElse(found, () => ANYBODY)
      const origin = { ...RequestOrigin.none, ...facts, headers: headers ?? {}, services: caller.services }
      if (Message.isRequest(incoming)) {
        const side = error === undefined ? sideOf(incoming, era, headers) : refusing(error, era)
        return start(new SingleChannel(origin), incoming, side, era)
      }
      // Without a session, legacy notifications are about nothing that the server knows.
      const isServed = error === undefined && era === "modern" && !requests.closing
      if (isServed && ModernHttp.refusalOfNotification(incoming, headers, versions) === undefined) {
        ModernHttp.notify(requests, modern!, incoming, origin)
      }
      return Effect.succeed(Stream.empty)
    }))
  }
}

/** Where the notifications of a request and its answer wait for the reader of the stream. The answer ends the stream. */
class SingleChannel implements Channel {
  readonly outbox = Outbox.make<Message.Message>()

  constructor(readonly origin: RequestOrigin.RequestOrigin) {}

  get congestion(): Effect.Effect<void> | undefined {
    return this.outbox.isFull ? this.outbox.awaitSpace : undefined
  }

  // A sender takes this function without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    const isTaken = this.outbox.unsafeOffer(message)
    if (Message.isResponse(message)) this.outbox.end(Exit.void)
    return isTaken
  }

  send(message: Message.Message): Effect.Effect<void, TransportError> {
    return Outbox.send(this, message, closed)
  }

  canRequest(): boolean {
    return false
  }
}

const VERSION = "mcp-protocol-version"

const ANYBODY: Pick<RequestOrigin.RequestOrigin, "principal" | "user"> = { principal: undefined, user: undefined }

const ofMalformed = (malformed: Message.Malformed): Messages =>
  malformed.kind === "request" || malformed.kind === "unknown"
    ? Stream.make(Message.malformedResponse(malformed))
    : Stream.empty

/** Answers a request with an error, before it could wait for a place. */
const refusing = (error: Refuses, era: Version.Era): RequestSide => ({
  ownLimit: () => UNLIMITED,
  onRequest: () => ({ effect: Effect.void, reply: () => Reply.fromCause(Cause.fail(error), era) })
})

const UNLIMITED = { enter: () => true, leave: () => {} }
