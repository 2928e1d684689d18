/**
 * Streamable HTTP for a client of the legacy era: each message is a POST. The response to the POST of a request has the answer. One
 * standalone stream has the messages that belong to no request. When the server has lost the session, the client begins a new session.
 *
 * `negotiation/HttpTransport` makes the transport. `Post` sends requests, `EventStream` reads the standalone stream, and `HttpSession` is
 * the session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as MutableRef from "effect/MutableRef"
import * as Ref from "effect/Ref"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import { type LocalError, TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import { closed, Undelivered } from "../../jsonrpc/Transport.js"
import * as SingleFlight from "../../kit/SingleFlight.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { Sender } from "../http/Outgoing.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import * as ResponseBody from "../http/ResponseBody.js"
import type { HttpResponseError } from "../HttpResponseError.js"
import * as EventStream from "./EventStream.js"
import * as HttpSession from "./HttpSession.js"
import { type Fallback, type Options, Post } from "./Post.js"

export interface Http extends Sender {
  /** Ends the session at the server, if there is one. */
  readonly terminate: Effect.Effect<void, TransportError>
}

interface Self {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession.HttpSession>
  /** The request that has begun the first session; `undefined` when an earlier connection has sent it. */
  readonly opening: Ref.Ref<Message.Request | undefined>
  /** The fiber that reads the standalone stream. */
  readonly standalone: Ref.Ref<Fiber.RuntimeFiber<void> | undefined>
  /** Begins a session in place of a lost session, once for all requests that wait for it. */
  readonly renewal: SingleFlight.SingleFlight<void, TransportError>
  /** How many times the client has tried to begin a session in place of a lost session. */
  readonly renewals: MutableRef.MutableRef<number>
  /** Effects that end the requests whose streams the server loses together with its session. */
  readonly watching: Set<Effect.Effect<unknown>>
}

export const make = (connection: HttpConnection, fallback: Fallback | undefined): Effect.Effect<Http> =>
  Effect.gen(function*() {
    const self = yield* initial(connection)
    const { session } = self
    if (connection.settings.session !== undefined) yield* listen(self)
    const options: Options = { connection, session, fallback, renew: renews(self), watchSession: watches(self) }
    return {
      cancelsByClosing: false,
      canResume: true,
      send: sends(self),
      request: requests(self, options),
      terminate: Effect.flatMap(Ref.get(session), terminate)
    }
  })

/** Makes the state before any message was sent. A session of an earlier connection continues. */
const initial = Effect.fnUntraced(function*(connection: HttpConnection) {
  const { session: earlier } = connection.settings
  const self: Self = {
    connection,
    session: yield* Ref.make(
      earlier === undefined ? HttpSession.initial(connection) : HttpSession.resumed(connection, earlier)
    ),
    opening: yield* Ref.make<Message.Request | undefined>(undefined),
    standalone: yield* Ref.make<Fiber.RuntimeFiber<void> | undefined>(undefined),
    renewal: SingleFlight.make(),
    renewals: MutableRef.make(0),
    watching: new Set()
  }
  return self
})

const requests =
  ({ connection: { reader }, opening }: Self, options: Options): Sender["request"] => (request, text, resumption) => {
    const post = new Post(options, request, text, reader.deliver, resumption).run
    return Effect.catchAll(
      HttpSession.isInitialize(request) ? Effect.zipRight(Ref.set(opening, request), post) : post,
      (error) => reader.deliver(new Undelivered(request.id, error))
    )
  }

const sends = (self: Self): Sender["send"] => (message, text) =>
  Effect.flatMap(
    Ref.get(self.session),
    (current) =>
      self.connection.send(HttpSession.post(current, text), (response) => {
        if (RefusedResponse.isOk(response)) {
          return Effect.zipRight(ResponseBody.discard(response), accepted(self, message))
        }
        return Effect.flatMap(RefusedResponse.fromResponse(response), (refused) => {
          // The message belonged to the lost session. The next session begins without it.
          if (current.id !== undefined && HttpSession.isLost(refused)) {
            self.connection.fork(Effect.ignore(renews(self)(current.id)))
          }
          return Effect.fail(RefusedResponse.toError(refused))
        })
      })
  )

const accepted = (self: Self, message: Message.Message): Effect.Effect<void> =>
  Effect.suspend(() => {
    const isInitialized = Message.isNotification(message) && message.method === Methods.initialized.name
    return isInitialized && self.connection.isOpen()
      ? Effect.zipRight(Effect.map(Ref.get(self.session), announce), listen(self))
      : Effect.void
  })

/** Starts to read the standalone stream of the current session, and stops reading the stream of the previous session. */
const listen = ({ connection, session, standalone }: Self): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!connection.settings.standalone) return Effect.void
    const fiber = connection.fork(EventStream.listen(connection, session))
    return Effect.flatMap(
      Ref.getAndSet(standalone, fiber),
      (last) => last === undefined ? Effect.void : Fiber.interruptFork(last)
    )
  })

/** Tells the application which session has begun, with the option `onSession`. */
const announce = ({ connection, id, version }: HttpSession.HttpSession): void => {
  const { onSession } = connection.settings
  if (onSession === undefined || id === undefined || version === undefined) return
  connection.fork(Effect.catchAllCause(
    Effect.suspend(() => onSession({ id, version })),
    (cause) => Effect.logWarning("onSession failed", cause)
  ))
}

// The client SHOULD end a session that it does not need any more (2025-11-25 basic/transports#session-management).
const terminate = (session: HttpSession.HttpSession): Effect.Effect<void, TransportError> =>
  session.id === undefined || !session.connection.settings.terminateOnClose
    ? Effect.void
    : session.connection.send(HttpSession.terminate(session), ResponseBody.discard)

/**
 * Begins a session in place of the lost session with this id, or waits until another request has begun it. When the server does not
 * continue the conversation, the connection ends. When the server cannot be reached now, the effect fails, and the next call tries again.
 */
const renews = (self: Self): Options["renew"] => (lost) =>
  Effect.suspend(() => {
    const { connection, renewal } = self
    if (!connection.isOpen()) return Effect.fail(closed)
    return renewal.join(Effect.suspend(() => {
      // Also joined by a fiber of the connection, so that the renewal goes on when the requests that wait for it are interrupted.
      connection.fork(Effect.ignore(renewal.join(Effect.void)))
      return replace(self, lost)
    }))
  })

/** Runs `effect`. When the server loses the session meanwhile, runs `onExpired`. */
const watches = ({ watching }: Self): Options["watchSession"] => (effect, onExpired) =>
  Effect.acquireUseRelease(
    Effect.sync(() => watching.add(onExpired)),
    () => effect,
    () => Effect.sync(() => watching.delete(onExpired))
  )

const replace = (self: Self, lost: string): Effect.Effect<void, TransportError> =>
  Effect.flatMap(Ref.get(self.session), ({ id }) =>
    // Another request has already begun a new session.
    id !== lost ? Effect.void : self.connection.requests.hold(Effect.zipRight(
      expire(self),
      Effect.tapErrorCause(begin(self), () => Ref.update(self.session, (now) => HttpSession.withId(now, lost)))
    )))

/** Ends the requests whose streams the server has lost. */
const expire = ({ watching }: Self): Effect.Effect<void> =>
  Effect.suspend(() => Effect.all([...watching], { discard: true }))

/** Sends again the request that has begun the first session, and sends `notifications/initialized` after its answer. */
const begin = Effect.fnUntraced(function*(self: Self) {
  const { version } = yield* Ref.get(self.session)
  const first = yield* Ref.get(self.opening)
  if (first === undefined) return yield* end(self, undefined, "an earlier connection had begun it")
  const failed = (error: LocalError) => isPassing(error) ? notBegun(error) : end(self, error)
  const answer = yield* Effect.catchAll(initialize(self, first), failed)
  if (!Message.isSuccess(answer)) {
    const error = new JsonRpcError.JsonRpcError(JsonRpcError.toObject(answer.error))
    return yield* end(self, error, `the server answered: ${error.message}`)
  }
  const offered = HttpSession.versionOf(answer)
  if (offered !== version) {
    return yield* end(self, undefined, `the server now supports ${String(offered)}, and not ${version}`)
  }
  const initialized = Message.notification(Methods.initialized.name)
  yield* Effect.catchAll(sends(self)(initialized, JsonText.stringify(initialized)!), failed)
  const { onRenewed } = self.connection.settings
  if (onRenewed === undefined) return
  self.connection.fork(Effect.catchAllCause(onRenewed, (cause) => Effect.logWarning("onRenewed failed", cause)))
})

/** Returns the answer when it arrives. The rest of its response is read in the background. */
const initialize = Effect.fnUntraced(function*({ connection, renewals, session }: Self, first: Message.Request) {
  const answer = yield* Deferred.make<Message.Response, LocalError>()
  const request = { ...first, id: `effect-mcp-renewal-${MutableRef.incrementAndGet(renewals)}` }
  const post = new Post(
    { connection, session, renew: () => Effect.void, watchSession: (effect) => effect },
    request,
    JsonText.stringify(request)!,
    (response) => Effect.asVoid(Deferred.succeed(answer, response))
  )
  connection.fork(Effect.catchAllCause(post.run, (cause) => Effect.asVoid(Deferred.failCause(answer, cause))))
  return yield* Deferred.await(answer)
})

/** Ends the connection, because the server could answer nothing on it. */
const end = ({ connection }: Self, cause: LocalError | JsonRpcError.JsonRpcError | undefined, why?: string) =>
  Effect.tapError(notBegun(cause, why), (error) => connection.end(Exit.fail(error)))

const notBegun = (
  cause: LocalError | JsonRpcError.JsonRpcError | undefined,
  why: string = cause?.message ?? ""
): Effect.Effect<never, TransportError> => {
  const message = `The session has expired, and a new session could not begin: ${why}`
  return Effect.fail(new TransportError({ reason: "Write", message, cause }))
}

/** Whether the server may answer the next attempt: it could not be reached, or it had too much to do. */
const isPassing = (error: LocalError): boolean => {
  if (error._tag !== "TransportError") return true
  const cause = error.cause as Partial<HttpResponseError> | undefined
  if (cause?._tag !== "HttpResponseError") return error.reason !== "Decode"
  return cause.status! >= 500 || cause.status === 408 || cause.status === 429
}
