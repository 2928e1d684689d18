/**
 * Begins a new session in place of one that the server has lost: sends the `initialize` of the first session again, under an
 * id of its own, then `initialized`. All requests that find the session lost meanwhile wait for the same new one.
 *
 * The conversation goes on as before, so the server has to agree on the same revision; otherwise the connection ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as SingleFlight from "@effect-mcp/jsonrpc/unstable/kit/SingleFlight"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { HttpRefused } from "../HttpRefused.js"
import * as HttpSession from "./HttpSession.js"
import { Post } from "./Post.js"

export interface Renewal {
  /**
   * Waits for a session in place of the one of this id. When the server does not go on with the conversation, the
   * connection ends; when it cannot be reached now, this fails, and the next call tries again.
   */
  readonly renew: (lost: string) => Effect.Effect<void, TransportError>
  /** Runs an effect, and `onExpired` when the server loses the session meanwhile. */
  readonly watchSession: <A, E>(effect: Effect.Effect<A, E>, onExpired: Effect.Effect<unknown>) => Effect.Effect<A, E>
}

export interface Options {
  readonly connection: HttpConnection
  readonly session: Ref.Ref<HttpSession.HttpSession>
  /** The request that began the first session; `undefined` when an earlier connection sent it. */
  readonly opening: Effect.Effect<Message.Request | undefined>
  /** Sends `initialized`. */
  readonly send: (message: Message.Message, text: string) => Effect.Effect<void, TransportError>
}

export const make = ({ connection, opening, send, session }: Options): Renewal => {
  const flight = SingleFlight.make<void, TransportError>()
  let count = 0
  const watching = new Set<Effect.Effect<unknown>>()

  const renew: Renewal["renew"] = (lost) =>
    Effect.suspend(() => {
      if (!connection.isOpen()) return Effect.fail(closed)
      return flight.join(Effect.suspend(() => {
        // The renewal goes on when the requests that wait for it are interrupted.
        connection.fork(Effect.ignore(flight.join(Effect.void)))
        return replace(lost)
      }))
    })

  /** Ends the requests whose streams the server has lost. */
  const expire = Effect.suspend(() => Effect.all([...watching], { discard: true }))

  const watchSession: Renewal["watchSession"] = (effect, onExpired) =>
    Effect.acquireUseRelease(
      Effect.sync(() => watching.add(onExpired)),
      () => effect,
      () => Effect.sync(() => watching.delete(onExpired))
    )

  const replace = (lost: string): Effect.Effect<void, TransportError> =>
    Effect.flatMap(Ref.get(session), ({ id }) =>
      // Another request was faster.
      id !== lost ? Effect.void : connection.requests.hold(Effect.zipRight(
        expire,
        Effect.tapErrorCause(begin, () => Ref.update(session, (now) => HttpSession.withId(now, lost)))
      )))

  const begin: Effect.Effect<void, TransportError> = Effect.gen(function*() {
    const { version } = yield* Ref.get(session)
    const first = yield* opening
    if (first === undefined) return yield* end(undefined, "an earlier connection had begun it")
    const answer = yield* Effect.catchAll(initialize(first), failed)
    if (!Message.isSuccess(answer)) {
      const error = new JsonRpcError.JsonRpcError(JsonRpcError.toObject(answer.error))
      return yield* end(error, `the server answered: ${error.message}`)
    }
    const offered = HttpSession.versionOf(answer)
    if (offered !== version) {
      return yield* end(undefined, `the server speaks ${String(offered)} now, and not ${version}`)
    }
    const initialized = Message.notification(Methods.initialized.name)
    yield* Effect.catchAll(send(initialized, Json.stringify(initialized)!), failed)
    const { onRenewed } = connection.settings
    if (onRenewed === undefined) return
    connection.fork(Effect.catchAllCause(onRenewed, (cause) => Effect.logWarning("onRenewed failed", cause)))
  })

  /** Gives the answer when it comes; the rest of its response is read in the background. */
  const initialize = Effect.fnUntraced(function*(first: Message.Request) {
    const answer = yield* Deferred.make<Message.Response, LocalError>()
    const request = { ...first, id: `effect-mcp-renewal-${++count}` }
    const post = new Post(
      { connection, session, renew: () => Effect.void, watchSession: (effect) => effect },
      request,
      Json.stringify(request)!,
      (response) => Effect.asVoid(Deferred.succeed(answer, response))
    )
    connection.fork(Effect.catchAllCause(post.run, (cause) => Effect.asVoid(Deferred.failCause(answer, cause))))
    return yield* Deferred.await(answer)
  })

  /** Ends the connection: the server could answer nothing on it. */
  const end = (cause: LocalError | JsonRpcError.JsonRpcError | undefined, why?: string) =>
    Effect.tapError(notBegun(cause, why), (error) => connection.end(Exit.fail(error)))

  const failed = (error: LocalError) => isPassing(error) ? notBegun(error) : end(error)

  return { renew, watchSession }
}

const notBegun = (
  cause: LocalError | JsonRpcError.JsonRpcError | undefined,
  why: string = cause?.message ?? ""
): Effect.Effect<never, TransportError> => {
  const message = `The session has expired, and no other could be begun: ${why}`
  return Effect.fail(new TransportError({ reason: "Write", message, cause }))
}

/** Whether the server may answer the next time: it was not reachable, or it had too much to do. */
const isPassing = (error: LocalError): boolean => {
  if (error._tag !== "TransportError") return true
  const cause = error.cause as Partial<HttpRefused> | undefined
  if (cause?._tag !== "HttpRefused") return error.reason !== "Decode"
  return cause.status! >= 500 || cause.status === 408 || cause.status === 429
}
