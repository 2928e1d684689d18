/**
 * The origin of a message: the HTTP request that contained the message, the session, and the user (or the reason why the authenticator
 * found no user). Handlers read these facts through `RequestContext`. This is not the HTTP header Origin.
 *
 * The HTTP modules (`legacy/Post`, `modern/Http`) set the origin of the channel of each POST. `dispatch/Conversations` sets the origin of a
 * pipe after it has authenticated the client. Other channels have no origin.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { Channel } from "../../jsonrpc/Side.js"
import type * as EffectInternals from "../../kit/EffectInternals.js"
import { InvalidRequest } from "../../protocol/McpError.js"
import type { Principal, Refuses } from "../Authenticator.js"

/** The part of an HTTP request that the handlers of its messages need. */
export interface Brought {
  /**
   * The services that the application provided with the request; `undefined` where there are none, or where the platform does not support
   * them.
   */
  readonly services: Context.Context<never> | undefined
  /** Whether the server listens only on the loopback interface; `undefined` where this is unknown. */
  readonly isLocal?: boolean | undefined
  /**
   * The values that HTTP middleware of the application has set for the fiber of the request, for example log annotations; `undefined` where
   * there is no such middleware.
   */
  readonly values: EffectInternals.ChangedValues | undefined
  /** Gives the span of the request, for an authenticated or anonymous sender. `undefined` on a server that makes no spans. */
  readonly spanOf?: ((sender: Principal | undefined) => Tracer.AnySpan | undefined) | undefined
}

export interface RequestOrigin {
  /** The id of the HTTP session; `undefined` where there is no session. */
  readonly sessionId: string | undefined
  /** The headers of the HTTP request, by their names in lower case; empty on other transports. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly principal: Principal | undefined
  /** The services that the application provided with the HTTP request. */
  readonly services?: Context.Context<never> | undefined
  /** The user that the authenticator of the server has found, as a service; `undefined` when there is no user. */
  readonly user?: Context.Context<never> | undefined
  /** The values that HTTP middleware of the application has set for the fiber of the request. */
  readonly values?: EffectInternals.ChangedValues | undefined
  /** The span of the HTTP request, on a server that makes spans. */
  readonly span?: Tracer.AnySpan | undefined
  /**
   * The HTTP server that received the message. `isLocal` says whether this server listens only on the loopback interface; `undefined` where
   * this is unknown.
   */
  readonly listener?: { readonly isLocal?: boolean | undefined } | undefined
  /** The reason why the authenticator has found no user; `undefined` when the authenticator has found a user, or did not run. */
  readonly refusal?: Refuses | undefined
  /**
   * Ends the HTTP stream of the request. The client resumes the stream later, and then gets the response. This effect does nothing when the
   * client could not resume the stream.
   */
  readonly closeStream: Effect.Effect<void>
}

/** The origin of a message that came on a transport other than HTTP. */
export const none: RequestOrigin = { sessionId: undefined, headers: {}, principal: undefined, closeStream: Effect.void }

/**
 * Makes the origin of a message that came in an HTTP request. By default, `closeStream` does nothing.
 */
export const request = (
  { arrived, headers, principal, user }: Pick<RequestOrigin, "headers" | "principal" | "user"> & {
    readonly arrived: Brought
  },
  sessionId: string | undefined,
  closeStream: Effect.Effect<void> = Effect.void
): RequestOrigin => ({
  sessionId,
  headers,
  principal,
  services: arrived.services,
  values: arrived.values,
  span: arrived.spanOf?.(principal),
  user,
  listener: arrived,
  closeStream
})

/** Gives the origin of the messages of a channel. */
export const of = (channel: Channel): RequestOrigin => (channel.origin ?? none) as RequestOrigin

/** Gives the id of a channel's principal; `undefined` for a channel without a principal. */
export const principalOf = (channel: Channel): string | undefined =>
  (channel.origin as RequestOrigin | undefined)?.principal?.id

/**
 * Gives the reason why a server with an authenticator refuses the messages of a channel; `undefined` when the channel has a user.
 */
export const refusal = (channel: Channel): Refuses | undefined => {
  const origin = of(channel)
  return origin.user === undefined ? origin.refusal ?? unauthenticated : undefined
}

const unauthenticated = new InvalidRequest({
  message: "Invalid request: the transport of this message has not authenticated its sender"
})
