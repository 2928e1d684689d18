/**
 * What a server knows of a message beside the message: the HTTP request that carried it, its session, and its user, or why the
 * authenticator found none. Handlers read it through `RequestContext`. The name is not the name of the HTTP field Origin.
 *
 * The HTTP modules (`legacy/Post`, `modern/Http`) set the origin of the channel of each POST, `dispatch/Conversations` the origin of a
 * pipe whose client it has authenticated. Other channels have no origin.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { Channel } from "../../jsonrpc/Side.js"
import type * as EffectInternals from "../../kit/EffectInternals.js"
import { InvalidRequest } from "../../protocol/McpError.js"
import type { Principal, Refuses } from "../Authenticator.js"

/** What an HTTP request brings for the handlers of its messages. */
export interface Brought {
  /** The services that the application gave with the request; none where the platform has no place for them. */
  readonly services: Context.Context<never> | undefined
  /** Whether the server listens on the loopback interface alone, where that is known. */
  readonly isLocal?: boolean | undefined
  /** What HTTP middleware of the application has set for the fiber of the request: log annotations, for example. */
  readonly values: EffectInternals.ChangedValues | undefined
  /** The span of the request, once its sender is known. Only a server that makes spans has this function. */
  readonly spanOf?: ((sender: Principal | undefined) => Tracer.AnySpan | undefined) | undefined
}

export interface RequestOrigin {
  /** `undefined` on a server that keeps no sessions. */
  readonly sessionId: string | undefined
  /** The headers of the HTTP request, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly principal: Principal | undefined
  /** The services that the application gave with the HTTP request. */
  readonly services?: Context.Context<never> | undefined
  /** The user that the authenticator of the server has found, as a service. */
  readonly user?: Context.Context<never> | undefined
  /** What HTTP middleware of the application has set for the fiber of the request. */
  readonly values?: EffectInternals.ChangedValues | undefined
  /** The span of the HTTP request, on a server that makes spans. */
  readonly span?: Tracer.AnySpan | undefined
  /** Tells whether the HTTP server that received the message listens on the loopback interface alone, where that is known. */
  readonly listener?: { readonly isLocal?: boolean | undefined } | undefined
  /** Why the authenticator has found no user. */
  readonly refusal?: Refuses | undefined
  /**
   * Ends the HTTP stream that would carry the response; the client resumes the stream later. Does nothing where the client
   * could not resume it.
   */
  readonly closeStream: Effect.Effect<void>
}

/** The origin of a message on a transport other than HTTP. */
export const none: RequestOrigin = { sessionId: undefined, headers: {}, principal: undefined, closeStream: Effect.void }

/** The origin of a message in an HTTP request; by default of a request that is answered without a stream. */
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

/** The origin of the messages of a channel. */
export const of = (channel: Channel): RequestOrigin => (channel.origin ?? none) as RequestOrigin

/** The id of the principal that a channel belongs to. */
export const principalOf = (channel: Channel): string | undefined =>
  (channel.origin as RequestOrigin | undefined)?.principal?.id

/**
 * Why a server with an authenticator refuses a message that came on the channel; `undefined` when the channel has a user.
 */
export const refusal = (channel: Channel): Refuses | undefined => {
  const origin = of(channel)
  return origin.user === undefined ? origin.refusal ?? unauthenticated : undefined
}

const unauthenticated = new InvalidRequest({
  message: "Invalid request: the transport of this message has not authenticated its sender"
})
