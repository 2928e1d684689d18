import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Body from "../http/Body.js"
import * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import * as Refused from "../HttpRefused.js"
import type { HttpSession } from "./HttpSession.js"
import type { ResumePoint } from "./ResumePoint.js"

/**
 * - `Ended`: it can be tried again; `error` says why it ended, if it did not do so by itself.
 * - `Unavailable`: it makes no sense to try again.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome = Data.TaggedEnum<{
  readonly Ended: { readonly error: TransportError | undefined }
  readonly Unavailable: { readonly status: number; readonly message: string }
}>

/**
 * @since 0.1.0
 * @category constructors
 */
export const Outcome = Data.taggedEnum<Outcome>()

/** A conflict is a stream of ours that the server has not yet found to be dead. */
const passing = new Set([408, 409, 425, 429])

/**
 * Listens from where the cursor is.
 *
 * @since 0.1.0
 * @category running
 */
export const listen = (
  site: HttpConnection,
  session: HttpSession,
  cursor: ResumePoint,
  hear: Events.Hear
): Effect.Effect<Outcome> =>
  Effect.catchAll(
    site.courier.send<Outcome>(session.get(cursor.lastEventId), (response) => {
      const { status } = response
      if (status < 200 || status >= 300) {
        return Effect.map(Refused.fromResponse(response), (refused) =>
          status >= 500 || passing.has(status)
            ? Outcome.Ended({ error: Refused.toError(refused) })
            : Outcome.Unavailable({ status, message: refused.message }))
      }
      const type = MediaType.of(response.headers["content-type"])
      if (type === MediaType.EVENTS) {
        return Effect.as(
          Events.read(response, site.options.maxEventBytes, hear),
          Outcome.Ended({ error: undefined })
        )
      }
      const message = `GET ${response.request.url} was answered with ${status} and no stream of events`
      return Effect.as(Body.discard(response), Outcome.Unavailable({ status, message }))
    }),
    (error) => Effect.succeed(Outcome.Ended({ error }))
  )
