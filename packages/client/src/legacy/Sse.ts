/**
 * HTTP+SSE, the transport of 2024-11-05, as a client speaks it: GET opens a stream, its first event names where our messages
 * are to be sent, and everything that the server says travels on it. When it ends, so does the conversation.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 * @since 0.1.0
 */
import * as Url from "@effect/platform/Url"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Message from "@effect-mcp/jsonrpc/Message"
import * as Events from "@effect-mcp/jsonrpc/Sse"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Body from "../http/Body.js"
import { read } from "../http/Events.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import * as Refused from "../HttpRefused.js"
import { HttpSession, isInitialize } from "./HttpSession.js"
import * as Incoming from "./Incoming.js"
import type { Road } from "./Outgoing.js"

/**
 * @since 0.1.0
 * @category models
 */
export class Sse implements Road {
  private session: HttpSession
  private endpoint: URL | undefined
  /** The id of the request whose answer names the revision. */
  private opening: Message.RequestId | undefined

  constructor(private readonly site: HttpConnection) {
    this.session = new HttpSession(site)
  }

  /** Opens the stream and waits for where to send messages to. Fails with reason `Open`. */
  get open(): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const { site } = this
      const found = Deferred.unsafeMake<void, TransportError>(FiberId.none)
      const close = site.fork(
        Effect.flatMap(Effect.exit(this.listen(found)), (exit) => {
          // Before that, somebody waits for it; after it, everybody does.
          if (this.endpoint === undefined) return Deferred.fail(found, never(exit))
          return Effect.sync(() => site.end(exit))
        })
      )
      return Effect.onError(
        Effect.timeoutFail(Deferred.await(found), {
          duration: site.options.acceptTimeout,
          onTimeout: () => unopened("it did not say in time where messages are to be sent")
        }),
        () => Effect.sync(close)
      )
    })
  }

  readonly ask = (request: Message.Request, text: string): Effect.Effect<void> => {
    if (isInitialize(request)) this.opening = request.id
    return Effect.catchAll(
      this.tell(request, text),
      (error) => Effect.sync(() => this.site.inbox.deliver(new Transport.Undelivered(request.id, error)))
    )
  }

  readonly tell = (_: Message.Message, text: string): Effect.Effect<void, TransportError> =>
    this.site.courier.send(this.session.post(text), (response) =>
      response.status >= 200 && response.status < 300
        ? Body.discard(response)
        : Effect.flatMap(Refused.fromResponse(response), (refused) => Effect.fail(Refused.toError(refused))))

  private listen(found: Deferred.Deferred<void, TransportError>): Effect.Effect<void, TransportError> {
    const { session, site } = this
    return site.courier.send(session.get(undefined), (response) => {
      const { status } = response
      if (status < 200 || status >= 300) {
        return Effect.flatMap(
          Refused.fromResponse(response),
          (refused) => Effect.fail(unopened(refused.message, refused))
        )
      }
      const type = MediaType.of(response.headers["content-type"])
      if (type !== MediaType.EVENTS) {
        const refusal = Refused.fromResponse(response)
        return Effect.flatMap(
          refusal,
          (refused) => Effect.fail(unopened(`it is no stream of events but ${type}`, refused))
        )
      }
      return read(response, site.options.maxEventBytes, (event) => this.hear(event, found))
    })
  }

  private hear(event: Events.Event | Events.TooLarge, found: Deferred.Deferred<void, TransportError>) {
    const { site } = this
    if (event instanceof Events.TooLarge) {
      return Incoming.deliver(site, [Incoming.odd(`An event has more than ${event.maxEventBytes} bytes`)])
    }
    if (event.event === "endpoint") {
      if (this.endpoint !== undefined) return undefined
      const endpoint = Either.getOrUndefined(Url.fromString(event.data ?? "", site.url))
      // Messages, and credentials with them, go where the application has said, and nowhere else.
      if (endpoint?.origin !== site.url.origin || endpoint.username !== "" || endpoint.password !== "") {
        return Deferred.fail(found, unopened("it sends messages to another origin"))
      }
      this.endpoint = endpoint
      this.session = new HttpSession(site, endpoint)
      return Effect.asVoid(Deferred.succeed(found, undefined))
    }
    const messages = Incoming.ofEvent(site, this.session, event)
    for (const message of messages) {
      if (this.opening !== undefined && Incoming.answers(message, this.opening)) this.session.agree(message)
    }
    return messages.length === 0 ? undefined : Incoming.deliver(site, messages)
  }
}

/** Why a stream ended that had not begun. */
const never = (exit: Exit.Exit<void, TransportError>): TransportError => {
  const error = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (error === undefined) return unopened("it ended")
  return error.reason === "Open" ? error : unopened(error.message, error.cause)
}

const unopened = (why: string, cause?: unknown): TransportError =>
  new TransportError({ reason: "Open", message: `The stream of HTTP+SSE cannot be opened: ${why}`, cause })
