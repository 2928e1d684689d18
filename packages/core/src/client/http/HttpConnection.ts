/**
 * The parts that all modules of one connection over HTTP share: the URL, the settings, the `HttpSender`, the `Reader` of incoming messages,
 * the limits of outgoing messages, and the fibers that send and receive. `negotiation/HttpTransport` makes the connection. `Outgoing` and
 * the transports of both protocol eras (`legacy/Http`, `legacy/Sse`, `modern/Http`) use these parts. A connection does not look into
 * messages, and is the same for both eras.
 *
 * A connection ends when the conversation stops reading, when the server ends it, or when its scope closes. Then the connection accepts no
 * further message from the conversation, and interrupts the requests in flight. It does not interrupt notifications and responses that are
 * being sent. `finish` waits a limited time until the server has accepted them.
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
   * Limits notifications and responses. Requests have a limit of their own (`requests`), because the server may need a response before it
   * answers a request.
   */
  readonly messages: Semaphore.Semaphore
  readonly isOpen: () => boolean
  readonly authorizing: Authorizing
  /** Starts an effect that is interrupted when the connection ends. */
  readonly fork: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  /** Starts an effect that goes on after the connection has ended, until the scope of the connection has closed. */
  readonly forkMessage: <E>(effect: Effect.Effect<void, E>) => Fiber.RuntimeFiber<void, E>
  /** Ends the connection. The `Reader` ends with the exit of the first call. */
  readonly end: (exit: Exit.Exit<void, TransportError>) => Effect.Effect<void>
  /**
   * Ends the connection, and waits until the server has accepted all messages, at most for `closeTimeout`. Then runs `last`, also at most
   * for `closeTimeout`.
   */
  readonly finish: (last: Effect.Effect<void, unknown>) => Effect.Effect<void>
}

/** Counts the runs of the authorizer, which may wait for the user. `running` and `ended` are the numbers of runs. */
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
 * Sets how the fibers of a connection run. The fibers can be interrupted, also when the code that connects cannot be interrupted. Effect
 * does not log failures of a fiber or of its children as unhandled: each failure is the outcome of a call, or leads to another attempt.
 */
const asFiber = <A, E, R>(runtime: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  EffectInternals.unreported(Effect.interruptible(runtime))

/**
 * Makes a connection. When the scope closes, every fiber of the connection is interrupted, and closing waits for the fibers at most for
 * `closeTimeout`.
 */
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
        // Nobody waits for the interruption, because the fiber that ends the connection may be one of these fibers.
        const interrupting = Effect.forkDaemon(Fiber.interruptAll(running))
        return Effect.asVoid(Effect.zipRight(reader.end(exit), interrupting))
      })

    const bounded = (effect: Effect.Effect<unknown, unknown>): Effect.Effect<void> =>
      Effect.ignore(TimeLimit.end(effect, closeTimeout))

    const reader = yield* Reader.make(capacity, Effect.suspend(() => end(Exit.void)))
    yield* Effect.addFinalizer(() => Effect.zipRight(end(Exit.void), bounded(Scope.close(fibers, Exit.void))))
    const sender = HttpSender.make(client, settings, url, authorizing.run)
    // The credentials are found with the same services as those of a request, which runs on a fiber of the connection.
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

/** Makes a request to a URL of the connection. A header in `headers` replaces the header of the same name that the application has set. */
export const request = (
  { settings }: HttpConnection,
  method: "GET" | "POST" | "DELETE",
  url: URL,
  headers: Readonly<Record<string, string>>
): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make(method)(url, { headers: { ...settings.headers, ...headers } })
