/**
 * What the rooms of one connection have in common: where the server is, how it is reached, what comes in, and the runtime
 * that everything runs on.
 *
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as RuntimeFlags from "effect/RuntimeFlags"
import type { Resolved } from "../RemoteOptions.js"
import { HttpSender } from "./HttpSender.js"
import { Inbox } from "./Inbox.js"
import { Slots } from "./Slots.js"

/**
 * @since 0.1.0
 * @category models
 */
export class HttpConnection {
  readonly courier: HttpSender
  readonly inbox: Inbox
  /** Our requests; each of them may take long. */
  readonly requests: Slots
  /** What needs no answer. Requests never take its place: the server may need an answer of ours to answer one of them. */
  readonly others: Slots<TransportError>
  /** Streams and what else goes on beside messages. */
  readonly beside: Slots
  readonly alarm: DeadlineTimer.DeadlineTimer

  constructor(
    readonly url: URL,
    readonly options: Resolved,
    readonly runtime: Runtime.Runtime<never>,
    alarm: (ring: (now: number) => number) => DeadlineTimer.DeadlineTimer,
    client: HttpClient.HttpClient
  ) {
    const { capacity, maxInFlight } = options
    this.courier = new HttpSender(client, options)
    this.inbox = new Inbox(capacity, () => this.end(Exit.void))
    this.alarm = alarm((now) => Math.min(this.requests.ring(now), this.others.ring(now)))
    this.requests = new Slots(runtime, this.alarm, maxInFlight, capacity)
    this.others = new Slots(runtime, this.alarm, maxInFlight, capacity)
    this.beside = new Slots(runtime, this.alarm, Infinity, Infinity)
  }

  /** A request with these headers, which win over the application's. */
  request(
    method: "GET" | "POST" | "DELETE",
    headers: Readonly<Record<string, string>>,
    url: URL = this.url
  ): HttpClientRequest.HttpClientRequest {
    return HttpClientRequest.make(method)(url, { headers: { ...this.options.headers, ...headers } })
  }

  /** Does it beside everything else, until the connection ends; gives how to stop it. */
  fork(effect: Effect.Effect<void>, done: () => void = () => {}): () => void {
    const slot = this.beside.start(() => this.inbox.isEnded ? Effect.void : effect, done)
    return () => slot.cancel()
  }

  /** Ends the connection: nothing is asked or heard any more, and what is under way is given up. */
  end(exit: Exit.Exit<void, TransportError>): void {
    this.inbox.end(exit)
    this.requests.stop()
    this.beside.stop()
  }

  /** Says something to the operator. */
  log(message: string, detail: unknown): void {
    Runtime.runFork(this.runtime, Effect.logDebug(message, detail))
  }

  /** Ends it and waits: what was said may still be accepted, for a moment; then `farewell`, for a moment. */
  close(farewell: Effect.Effect<void, unknown>): Effect.Effect<void> {
    const moment = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.ignore(Effect.timeoutOption(Effect.interruptible(effect), this.options.closeTimeout))
    return Effect.suspend(() => {
      this.end(Exit.void)
      const { beside, others, requests } = this
      return moment(Effect.all([requests.settled, beside.settled, others.settled])).pipe(
        Effect.zipRight(moment(farewell)),
        Effect.zipRight(Effect.sync(() => others.stop())),
        Effect.zipRight(moment(others.settled)),
        Effect.zipRight(Effect.suspend(() => {
          const asleep = this.alarm.stop()
          return asleep === undefined ? Effect.void : Effect.asVoid(Fiber.await(asleep))
        }))
      )
    })
  }
}

/**
 * The runtime of a connection: what it is opened in, with what keeps the platform's clients from doing things of their own.
 *
 * @since 0.1.0
 * @category constructors
 */
export const runtimeOf = (options: Resolved): Effect.Effect<Runtime.Runtime<never>> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    // A session id lets in whoever has it.
    const redacted = FiberRefs.getOrDefault(runtime.fiberRefs, Headers.currentRedactedNames)
    const given = Context.getOption(
      runtime.context as Context.Context<FetchHttpClient.RequestInit>,
      FetchHttpClient.RequestInit
    )
    return runtime.pipe(
      Runtime.enableRuntimeFlag(RuntimeFlags.Interruption),
      Runtime.setFiberRef(Headers.currentRedactedNames, [...redacted, "mcp-session-id"]),
      options.tracing ? (self) => self : Runtime.setFiberRef(HttpClient.currentTracerDisabledWhen, () => true),
      // `fetch` would follow redirects with all of our headers.
      Runtime.updateContext(
        Context.add(FetchHttpClient.RequestInit, { ...Option.getOrUndefined(given), redirect: "manual" })
      )
    ) as Runtime.Runtime<never>
  })
