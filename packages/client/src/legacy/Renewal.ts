/**
 * A new session in place of one that the server has forgotten: `initialize` as it was said before, under an id that is ours
 * alone, then `initialized`. Whoever finds the session gone meanwhile waits for the same one.
 *
 * The conversation goes on as if nothing had happened; what it was told to agree on has to be the same.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { LocalError } from "@effect-mcp/jsonrpc/LocalError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { HttpRefused } from "../HttpRefused.js"
import type { HttpSession } from "./HttpSession.js"
import { versionOf } from "./HttpSession.js"
import { Post } from "./Post.js"

/**
 * What a renewal needs of the connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Home {
  readonly site: HttpConnection
  readonly session: HttpSession
  readonly tell: (message: Message.Message, text: string) => Effect.Effect<void, TransportError>
  /** What went with the old session goes. */
  readonly expire: () => void
}

/**
 * @since 0.1.0
 * @category models
 */
export class Renewal {
  private current: Deferred.Deferred<void, TransportError> | undefined
  private count = 0

  constructor(private readonly home: Home) {}

  /**
   * Waits for a session in place of the one of this id. When the server does not want the same conversation any more, the
   * connection ends; when it cannot be asked now, this fails and the next one who asks tries again.
   */
  renew(gone: string): Effect.Effect<void, TransportError> {
    return Effect.suspend(() => {
      const { session, site } = this.home
      if (site.inbox.isEnded) return Effect.fail(closed)
      if (this.current !== undefined) return Deferred.await(this.current)
      // Somebody else was faster.
      if (session.id !== gone) return Effect.void
      const current = this.current = Deferred.unsafeMake<void, TransportError>(FiberId.none)
      site.requests.hold()
      this.home.expire()
      site.fork(
        Effect.flatMap(Effect.exit(this.begin), (exit) => {
          if (Exit.isFailure(exit)) session.use(gone)
          return Deferred.done(current, exit)
        }),
        () => {
          this.current = undefined
          site.requests.release()
        }
      )
      return Deferred.await(current)
    })
  }

  private get begin(): Effect.Effect<void, TransportError> {
    return Effect.gen(this, function*() {
      const { session, site, tell } = this.home
      const { version } = session
      const answer = yield* this.initialize
      if (!Message.isSuccess(answer)) {
        const error = new JsonRpcError.JsonRpcError(JsonRpcError.toObject(answer.error))
        return yield* this.end(`the server answered: ${error.message}`, error)
      }
      const offered = versionOf(answer)
      if (offered !== version) return yield* this.end(`the server speaks ${String(offered)} now, and not ${version}`)
      const initialized = Message.notification(Methods.initialized.name)
      yield* Effect.catchAll(
        tell(initialized, Json.stringify(initialized)!),
        (error) => isPassing(error) ? Effect.fail(notBegun(error.message, error)) : this.end(error.message, error)
      )
      const { onRenewed } = site.options
      if (onRenewed === undefined) return
      site.fork(Effect.catchAllCause(onRenewed, (cause) => Effect.logWarning("onRenewed failed", cause)))
    })
  }

  private get initialize(): Effect.Effect<Message.Response, TransportError> {
    const { session, site } = this.home
    return Effect.async<Message.Response, TransportError>((resume) => {
      const request = { ...session.opening!, id: `effect-mcp-renewal-${++this.count}` }
      const post = new Post(
        {
          site,
          session,
          renew: () => Effect.void,
          answered: (response) => resume(Effect.succeed(response)),
          lost: (error) => resume(this.fail(error))
        },
        request,
        Json.stringify(request)!
      )
      const slot = site.beside.start(post.run, () => post.lose(interrupted))
      return Effect.sync(() => slot.cancel())
    })
  }

  private fail(error: LocalError): Effect.Effect<never, TransportError> {
    return isPassing(error) ? Effect.fail(notBegun(error.message, error)) : this.end(error.message, error)
  }

  /** Ends the connection: nothing that is asked on it could be answered. */
  private end(why: string, cause?: unknown): Effect.Effect<never, TransportError> {
    return Effect.suspend(() => {
      const error = notBegun(why, cause)
      this.home.site.end(Exit.fail(error))
      return Effect.fail(error)
    })
  }
}

const notBegun = (why: string, cause: unknown): TransportError =>
  new TransportError({
    reason: "Write",
    message: `The session has expired, and no other could be begun: ${why}`,
    cause
  })

const interrupted = new TransportError({ reason: "Write", message: "it was interrupted" })

/** A server that is not there, or has too much to do, may be there the next time. */
const isPassing = (error: LocalError): boolean => {
  if (error._tag !== "TransportError") return true
  const cause = error.cause as Partial<HttpRefused> | undefined
  if (cause?._tag !== "HttpRefused") return error.reason !== "Decode"
  return cause.status! >= 500 || cause.status === 408 || cause.status === 429
}
