/**
 * The values that all modules of one endpoint share: the options, the timer for deadlines, the number of characters that clients have not
 * read yet, and the services for fibers. `dispatch/Endpoint` makes this object. `legacy/HttpContext` adds the values for revisions up to
 * 2025-11-25.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Deadlines from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Metrics from "../telemetry/Metrics.js"
import type { Admitted, Headers, HttpExchange, SlowReaders } from "./HttpExchange.js"
import * as ResolvedOptions from "./ResolvedOptions.js"
import * as SessionId from "./SessionId.js"
import * as StreamedAnswer from "./StreamedAnswer.js"
import { UnsentText } from "./UnsentText.js"

/** The least time between two checks of the deadlines of an endpoint, in milliseconds. */
const RESOLUTION = 1000

export class EndpointContext implements SlowReaders {
  private readonly unsent: UnsentText
  private readonly shared: StreamedAnswer.Shared
  private open = 0

  constructor(
    readonly options: ResolvedOptions.ResolvedOptions,
    readonly sweeper: Deadlines.Deadlines,
    readonly runtime: EffectInternals.Services
  ) {
    this.unsent = new UnsentText(options.limits.maxUnsent)
    this.shared = { sweeper, unsent: this.unsent, limits: options.limits }
  }

  /**
   * Begins to answer with an event stream. `onInvalid` runs when the user of the request is no longer valid. Without `onInvalid`, the
   * endpoint does not check the user again.
   */
  stream(
    exchange: Pick<Admitted, "stream" | "watchUser">,
    onClose: (unsent: ReadonlyArray<string>) => void,
    headers?: Headers,
    onInvalid?: (stream: StreamedAnswer.EventStream) => void
  ): StreamedAnswer.EventStream {
    this.open++
    let stopWatching = () => {}
    const stream = new StreamedAnswer.EventStream(exchange, this.shared, {
      headers: headers === undefined ? StreamedAnswer.HEADERS : { ...StreamedAnswer.HEADERS, ...headers },
      keepAlive: this.options.keepAlive,
      onClose: (unsent) => {
        this.open--
        stopWatching()
        onClose(unsent)
      }
    })
    if (onInvalid !== undefined) stopWatching = exchange.watchUser?.(() => onInvalid(stream)) ?? stopWatching
    return stream
  }

  sendLong(exchange: Pick<HttpExchange, "stream">, status: number, headers: Headers, body: string): void {
    const watched: typeof exchange = {
      stream: (status, headers, reader) => exchange.stream(status, headers, reader, this)
    }
    const stream = new StreamedAnswer.EventStream(watched, this.shared, {
      status,
      headers,
      keepAlive: Infinity,
      onClose: () => {}
    })
    stream.push(body)
    stream.end()
  }

  watch(held: number, cut: () => void): () => void {
    const holder = {
      held,
      lastWrite: this.sweeper.now(),
      cut: () => {
        stop()
        cut()
      }
    }
    const scheduled = this.sweeper.schedule(this.options.limits.stallTimeout, () => {
      Metrics.add(Metrics.slowReaders)
      holder.cut()
    })
    const stop = () => {
      this.sweeper.unwatch(scheduled)
      const before = holder.held
      holder.held = 0
      if (before > 0) this.unsent.change(holder, -before)
    }
    this.unsent.change(holder, held)
    return stop
  }

  tick(): () => void {
    const { keepAlive } = this.options
    if (keepAlive === Infinity) return () => {}
    const catchUp = Effect.sync(() => this.sweeper.catchUp())
    // The last check may have run too early for the deadlines of this request.
    const sweep = Effect.flatMap(
      catchUp,
      (swept) => swept ? Effect.void : Effect.delay(Effect.asVoid(catchUp), this.sweeper.resolution)
    )
    // The fiber whose services this code uses may be uninterruptible.
    const ticking = Effect.interruptible(Effect.forever(Effect.delay(sweep, keepAlive)))
    const fiber = EffectInternals.runFork(this.runtime, ticking)
    return () => EffectInternals.interrupt(fiber)
  }

  /** How many event streams are open. */
  get openStreams(): number {
    return this.open
  }

  /** How many characters of all answers clients have not read yet. */
  get unsentSize(): number {
    return this.unsent.size
  }
}

export const make = (options: ResolvedOptions.Given): Effect.Effect<EndpointContext, never, Scope.Scope> =>
  Effect.gen(function*() {
    const resolved = ResolvedOptions.make(options)
    if (!SessionId.isPrefix(resolved.sessionIdPrefix)) {
      return yield* Effect.dieMessage(
        "The option legacy.sessionIdPrefix may have at most 64 letters, digits and '.', '_', '~', '-', because session ids " +
          `are in headers and URLs; the value is ${JSON.stringify(resolved.sessionIdPrefix.slice(0, 80))}`
      )
    }
    return new EndpointContext(resolved, yield* Deadlines.make(RESOLUTION), yield* EffectInternals.currentServices())
  })
