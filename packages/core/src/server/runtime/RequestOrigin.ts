/**
 * What a server knows of a message beside the message: the HTTP request that carried it, its session, and its user, or why the
 * authenticator found none. Handlers read it through `RequestContext`. The name is not that of the HTTP field `Origin`.
 *
 * The HTTP modules set it as the `origin` of the channel of each POST, `dispatch/Conversations` of a pipe whose client it
 * has authenticated. Other channels have none.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Channel } from "../../jsonrpc/Side.js"
import { InvalidRequest } from "../../protocol/McpError.js"
import type { Principal, Refuses } from "../Authenticator.js"

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

/** The origin of a message in an HTTP request; by default of one that is answered without a stream. */
export const request = (
  { arrived, headers, principal, user }: Pick<RequestOrigin, "headers" | "principal" | "user"> & {
    readonly arrived: Pick<RequestOrigin, "services"> & NonNullable<RequestOrigin["listener"]>
  },
  sessionId: string | undefined,
  closeStream: Effect.Effect<void> = Effect.void
): RequestOrigin => ({
  sessionId,
  headers,
  principal,
  services: arrived.services,
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
