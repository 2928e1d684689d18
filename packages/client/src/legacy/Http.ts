/**
 * Streamable HTTP as a client of the legacy era speaks it: each message is a POST, the response of a request brings its
 * answer, and one standalone stream brings what belongs to no request.
 *
 * `Post` carries requests, `Renewal` begins a new session when the server has lost one, `EventStream` reads the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { Undelivered } from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Body from "../http/Body.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { Sender } from "../http/Outgoing.js"
import * as Refusal from "../http/Refusal.js"
import * as EventStream from "./EventStream.js"
import * as HttpSession from "./HttpSession.js"
import type { Fallback, Options } from "./Post.js"
import { Post } from "./Post.js"
import * as Renewal from "./Renewal.js"

export interface Http extends Sender {
  /** Ends the session, if there is one. */
  readonly terminate: Effect.Effect<void, TransportError>
}

export const make = (connection: HttpConnection, fallback: Fallback | undefined): Effect.Effect<Http> =>
  Effect.gen(function*() {
    const { fork, isOpen, reader, settings } = connection
    const earlier = settings.session
    const session = yield* Ref.make(
      earlier === undefined ? HttpSession.initial(connection) : HttpSession.resumed(connection, earlier)
    )
    const opening = yield* Ref.make<Message.Request | undefined>(undefined)
    const standalone = yield* Ref.make<Fiber.RuntimeFiber<void> | undefined>(undefined)

    const send: Sender["send"] = (message, text) =>
      Effect.flatMap(Ref.get(session), (current) =>
        connection.send(HttpSession.post(current, text), (response) => {
          if (Refusal.isOk(response)) return Effect.zipRight(Body.discard(response), accepted(message))
          return Effect.flatMap(Refusal.fromResponse(response), (refused) => {
            // The message belonged to the lost session. The next session begins without it.
            if (current.id !== undefined && HttpSession.isLost(refused)) fork(Effect.ignore(renewal.renew(current.id)))
            return Effect.fail(Refusal.toError(refused))
          })
        }))

    const renewal: Renewal.Renewal = Renewal.make({ connection, session, send, opening: Ref.get(opening) })

    const accepted = (message: Message.Message): Effect.Effect<void> =>
      Effect.suspend(() => {
        const isInitialized = Message.isNotification(message) && message.method === Methods.initialized.name
        return isInitialized && isOpen() ? Effect.zipRight(Effect.map(Ref.get(session), announce), listen) : Effect.void
      })

    const listen: Effect.Effect<void> = Effect.suspend(() => {
      if (!settings.standalone) return Effect.void
      const fiber = fork(EventStream.listen(connection, session))
      return Effect.flatMap(
        Ref.getAndSet(standalone, fiber),
        (last) => last === undefined ? Effect.void : Fiber.interruptFork(last)
      )
    })

    if (earlier !== undefined) yield* listen

    const options: Options = { connection, session, fallback, ...renewal }
    return {
      cancelsByClosing: false,
      canResume: true,
      send,
      request: (request, text, resumption) => {
        const post = new Post(options, request, text, reader.deliver, resumption).run
        return Effect.catchAll(
          HttpSession.isInitialize(request) ? Effect.zipRight(Ref.set(opening, request), post) : post,
          (error) => reader.deliver(new Undelivered(request.id, error))
        )
      },
      terminate: Effect.flatMap(Ref.get(session), terminate)
    }
  })

/** Tells the application which session has begun. */
const announce = ({ connection, id, version }: HttpSession.HttpSession): void => {
  const { onSession } = connection.settings
  if (onSession === undefined || id === undefined || version === undefined) return
  connection.fork(Effect.catchAllCause(
    Effect.suspend(() => onSession({ id, version })),
    (cause) => Effect.logWarning("onSession failed", cause)
  ))
}

// SHOULD end the session that is not needed any more (2025-11-25 basic/transports#session-management)
const terminate = (session: HttpSession.HttpSession): Effect.Effect<void, TransportError> =>
  session.id === undefined || !session.connection.settings.terminateOnClose
    ? Effect.void
    : session.connection.send(HttpSession.terminate(session), Body.discard)
