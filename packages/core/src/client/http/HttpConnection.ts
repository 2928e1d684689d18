/**
 * What the parts of one connection over HTTP share: the URL and the settings, the sender, the reader of incoming messages, the limits of
 * outgoing messages, and the fibers that send and receive. `negotiation/HttpTransport` makes the connection; `Outgoing` and the transports
 * of both eras (`legacy/Http`, `legacy/Sse`, `modern/Http`) send and receive through `HttpSender` and `Reader` there. A connection knows no
 * message and no era.
 *
 * A connection ends when its reader stops, when the server ends the connection, or when its scope closes. From then on the connection
 * takes no message; requests are interrupted, and other messages may still be accepted until the connection has closed.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import { identity } from "effect/Function"
import * as Scope from "effect/Scope"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import type { PauseTimeouts } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as HttpSender from "./HttpSender.js"
import * as Reader from "./Reader.js"
import type { Settings } from "./Settings.js"

export interface HttpConnection extends HttpSender.HttpSender {
  readonly url: URL
  readonly settings: Settings
  readonly reader: Reader.Reader
  readonly requests: Semaphore.Semaphore
  /**
   * For notifications and responses. Requests have a limit of their own: the server may need a response to answer one.
   */
  readonly messages: Semaphore.Semaphore
  readonly isOpen: () => boolean
  readonly authorizing: Authorizing
  /** Starts an effect that is interrupted when the connection ends. */
  readonly fork: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  /** Starts an effect that goes on when the connection has ended, until it closes. */
  readonly forkMessage: <E>(effect: Effect.Effect<void, E>) => Fiber.RuntimeFiber<void, E>
  /** Ends the connection. The first call decides what its reader ends with. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => Effect.Effect<void>
  /** Ends the connection, and waits for a bounded time until messages are accepted; then runs `last`, for a bounded time. */
  readonly finish: (last: Effect.Effect<void, unknown>) => Effect.Effect<void>
}

/** The runs of the authorizer for requests: it may wait for the user. Its mutable fields count them. */
class Authorizing {
  private pauseTimeouts: PauseTimeouts = identity
  running = 0
  ended = 0

  readonly onConversation = (given: PauseTimeouts): void => void (this.pauseTimeouts = given)

  readonly run: PauseTimeouts = (effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => this.running++),
      () => this.pauseTimeouts(effect),
      () =>
        Effect.sync(() => {
          this.running--
          this.ended++
        })
    )
}

/**
 * How a fiber of a connection runs. It can be interrupted, also where connecting cannot. Effect logs no failure of it or of its children as
 * unhandled: a response that fails is the outcome of a call, or is tried again.
 */
const asFiber = <A, E, R>(runtime: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  EffectInternals.unreported(Effect.interruptible(runtime))

/** Closing the scope interrupts every fiber of the connection and waits for them, for a bounded time. */
export const make = (
  url: URL,
  settings: Settings,
  client: HttpClient
): Effect.Effect<HttpConnection, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { capacity, closeTimeout, maxExchanges } = settings
    const fibers = yield* Scope.make()
    const running = yield* Scope.extend(FiberSet.make<void>(), fibers)
    const sending = yield* Scope.extend(FiberSet.make<void, unknown>(), fibers)
    const fork = yield* asFiber(FiberSet.runtime(running)())
    const forkMessage = yield* asFiber(FiberSet.runtime(sending)())
    let isOpen = true
    const authorizing = new Authorizing()

    const end: HttpConnection["end"] = (exit) =>
      Effect.suspend(() => {
        if (!isOpen) return Effect.void
        isOpen = false
        // Not waited for: the fiber that ends the connection may be one of them.
        const interrupting = Effect.forkDaemon(Fiber.interruptAll(running))
        return Effect.asVoid(Effect.zipRight(reader.end(exit), interrupting))
      })

    const bounded = (effect: Effect.Effect<unknown, unknown>): Effect.Effect<void> =>
      Effect.ignore(TimeLimit.end(effect, closeTimeout))

    const reader = yield* Reader.make(capacity, Effect.suspend(() => end(Exit.void)))
    yield* Effect.addFinalizer(() => Effect.zipRight(end(Exit.void), bounded(Scope.close(fibers, Exit.void))))
    const sender = HttpSender.make(client, settings, url, authorizing.run)
    // They are found as for a request, which runs on a fiber of the connection.
    const runtime = yield* EffectInternals.currentServices()
    return {
      ...sender,
      credentials: sender.credentials &&
        { ...sender.credentials, now: Effect.provide(sender.credentials.now, runtime) },
      authorizing,
      url,
      settings,
      reader,
      requests: Semaphore.make(maxExchanges, capacity),
      messages: Semaphore.make(maxExchanges, capacity),
      isOpen: () => isOpen,
      fork: (effect) => fork(Effect.suspend(() => isOpen ? effect : Effect.void)),
      forkMessage: (effect) => forkMessage(effect),
      end,
      finish: (last) =>
        end(Exit.void).pipe(
          Effect.zipRight(bounded(Effect.zipRight(FiberSet.awaitEmpty(running), FiberSet.awaitEmpty(sending)))),
          Effect.zipRight(bounded(last))
        )
    }
  })

/** A request to a URL of the connection. A header of `headers` replaces the same header of the application. */
export const request = (
  { settings }: HttpConnection,
  method: "GET" | "POST" | "DELETE",
  url: URL,
  headers: Readonly<Record<string, string>>
): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make(method)(url, { headers: { ...settings.headers, ...headers } })
