import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { HttpRefused } from "../HttpRefused.js"
import * as Refused from "../HttpRefused.js"
import { Http } from "./Http.js"
import { Outgoing } from "./Outgoing.js"
import type { Post } from "./Post.js"
import { Sse } from "./Sse.js"

/** SHOULD then try the older transport (2025-11-25 basic/transports#backwards-compatibility) */
const older = new Set([400, 404, 405])

/**
 * The way out of a connection, and how it is ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface Way {
  readonly outgoing: Outgoing
  readonly farewell: Effect.Effect<void, TransportError>
}

/**
 * Speaks the transport that the options name. Over the older one it fails when that cannot be opened.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (site: HttpConnection): Effect.Effect<Way, TransportError> =>
  Effect.suspend(() => {
    const { transport } = site.options
    if (transport === "sse") {
      const sse = new Sse(site)
      return Effect.as(sse.open, { outgoing: new Outgoing(site, sse), farewell: Effect.void })
    }
    const fallback = (post: Post, refused: HttpRefused): Effect.Effect<void, TransportError> | undefined => {
      if (transport === "streamable" || !older.has(refused.status)) return undefined
      const sse = new Sse(site)
      return Effect.matchEffect(sse.open, {
        onFailure: (error) => Effect.fail(neither(refused, error)),
        onSuccess: () => {
          outgoing.road = sse
          return sse.ask(post.request, post.text)
        }
      })
    }
    const http = new Http(site, fallback)
    const outgoing = new Outgoing(site, http)
    return Effect.succeed({ outgoing, farewell: http.farewell })
  })

const neither = (refused: HttpRefused, error: TransportError): TransportError =>
  new TransportError({
    reason: Refused.toError(refused).reason,
    message: `${refused.message}. It is no server of 2024-11-05 either: ${error.message}`,
    cause: refused
  })
