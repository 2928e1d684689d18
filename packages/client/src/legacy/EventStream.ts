/**
 * The events that one GET brings, as a stream. It ends with the body of the response. A failure says whether another attempt
 * makes sense: after a `TransportError` it does, after `NoEventStream` it does not.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Body from "../http/Body.js"
import * as Events from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import * as HttpSession from "./HttpSession.js"

/** The server does not offer the stream. */
export class NoEventStream extends Data.TaggedError("NoEventStream")<{
  readonly status: number
  readonly message: string
}> {}

/** 409 means that the server has not yet noticed the end of an earlier stream of this client. */
const passing = new Set([408, 409, 425, 429])

/** Opens a stream of the session, from its beginning or after an event. */
export const open = (
  { settings, stream }: HttpConnection,
  session: Ref.Ref<HttpSession.HttpSession>,
  lastEventId: string | undefined
): Stream.Stream<Events.Event, TransportError | NoEventStream> =>
  Stream.unwrap(Effect.map(Ref.get(session), (current) =>
    stream(HttpSession.get(current, lastEventId), (response) => {
      const { request, status } = response
      if (!Refusal.isOk(response)) {
        return Stream.fromEffect(Effect.flatMap(Refusal.fromResponse(response), (refused) =>
          Effect.fail(
            status >= 500 || passing.has(status)
              ? Refusal.toError(refused)
              : new NoEventStream({ status, message: refused.message })
          )))
      }
      if (MediaType.of(response.headers["content-type"]) === MediaType.EVENTS) {
        return Events.fromResponse(response, settings)
      }
      const message = `GET ${request.url} was answered with ${status} and no stream of events`
      return Stream.fromEffect(
        Effect.zipRight(Body.discard(response), Effect.fail(new NoEventStream({ status, message })))
      )
    })))
