/**
 * The server's HTTP endpoint, from its start to its end. Each request passes the steps in `Stages`, from the check of its first header to
 * the transport that serves the request. `HttpTransports` finds the transport for a path and for the revision of a message.
 *
 * `HttpEndpoint`, `WebHandler`, and `HttpServer` and `NodeHandler` of the node package, call this module with an `HttpExchange` for each
 * request. These modules manage the sockets, and the dispatcher manages the fibers of handlers.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Tap from "../../jsonrpc/Tap.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as EventLoop from "../../kit/EventLoop.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Version from "../../protocol/Version.js"
import type { Dispatcher } from "../Dispatcher.js"
import * as EndpointContext from "../http/EndpointContext.js"
import * as Guard from "../http/Guard.js"
import * as Health from "../http/Health.js"
import { type Answerable, type Headers, type HttpExchange, type SlowReaders, tapped } from "../http/HttpExchange.js"
import { LongBodies } from "../http/LongBodies.js"
import * as Refusal from "../http/Refusal.js"
import { Bodies } from "../http/RequestBody.js"
import type * as ResolvedOptions from "../http/ResolvedOptions.js"
import { type Any, Passage, type Surroundings } from "../http/Stage.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import * as HttpContext from "../legacy/HttpContext.js"
import * as Metrics from "../telemetry/Metrics.js"
import { Entrances } from "./Dispatch.js"
import * as Draining from "./Draining.js"
import * as HttpTransports from "./HttpTransports.js"
import * as Stages from "./Stages.js"

export interface Endpoint {
  /** Answers a request, before this function returns or later. */
  readonly handle: (exchange: HttpExchange) => void
  /**
   * Ends the endpoint before its scope ends. First runs `drain`. Then ends streams, interrupts running requests and answers them with the
   * error code -32000 (-32603 with revision 2026-07-28 or later), and refuses new requests with status 503. Waits until the sessions have
   * ended, for `closeTimeout` at most. You may run this effect several times.
   */
  readonly close: Effect.Effect<void>
  /**
   * Prepares the end of the endpoint. From now on, "/readyz" answers that the process is not ready. For the time `health.grace`, the
   * endpoint still serves requests, so that load balancers notice the change. Then the endpoint refuses new requests with status 503,
   * releases its sessions for other nodes, and waits until no request runs, for `drainTimeout` at most. You may run this effect several
   * times.
   */
  readonly drain: Effect.Effect<void>
  /** The number of open sessions. Each stream of HTTP+SSE counts as a session. */
  readonly sessions: () => number
}

/**
 * Makes an endpoint that serves until the scope closes. With an `EventStore` in the context, clients can resume streams. `isOpen` is true
 * when the caller already says that programs on other machines may reach the endpoint.
 */
export const make = (
  options: ResolvedOptions.Given = {},
  isOpen = false
): Effect.Effect<Endpoint, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const entrances = yield* Entrances
    yield* entrances.listening
    const context = yield* Effect.flatMap(
      EndpointContext.make(options),
      (context) => HttpContext.make(context, entrances.versions.filter(Version.isLegacy), entrances.open)
    )
    const { nodes, options: { sessions: hasSessions }, sweeper } = context
    const { authenticate, modern, observers, session } = entrances
    const isKept = session?.isOfUsers === true && authenticate !== undefined
    const isSessionless = modern !== undefined || !hasSessions
    if (session !== undefined && !isKept && isSessionless) yield* Effect.logWarning(UNKEPT)
    if (isOpen && authenticate === undefined && isSessionless) {
      yield* Effect.forEach([...observers], ({ onAnonymous = Effect.void }) => onAnonymous, { discard: true })
    }
    const isMember = () => nodes === undefined || nodes.place() !== undefined
    const health = yield* Health.make(options, sweeper, isMember)
    const opened = new OpenEndpoint(context, entrances, Guard.make(options), health)
    const { close, drain, sessions } = opened
    const pass = options.tap && (yield* Tap.make("HTTP", options.tap))
    const traced = entrances.tracing && (yield* entrances.tracing.exchanges(authenticate !== undefined))
    const serve = traced === undefined ? opened.handle : (exchange: HttpExchange) => opened.handle(traced(exchange))
    const handle = pass === undefined ? serve : (exchange: HttpExchange) => serve(tapped(exchange, pass))
    const made = yield* Metrics.timed<Endpoint>({ close, drain, handle, sessions }, () => sweeper.now())
    yield* Metrics.sessions.observe(made.sessions)
    yield* Metrics.streams.observe(() => context.openStreams)
    yield* Effect.addFinalizer(() => made.close)
    return made
  })

/**
 * An endpoint that serves, drains and closes. Each request passes the steps in `dispatch/Stages`.
 *
 * Mutable fields: `isClosing` turns true when closing begins. `isAbandoned` turns true when sessions have not ended in time. `hasWarned`
 * turns true when the log has a warning about a refused Host or Origin. `added` are the headers that every answer gets.
 */
class OpenEndpoint implements Endpoint, Surroundings {
  readonly slowReaders: SlowReaders
  private readonly draining: Draining.Draining
  private readonly transports: HttpTransports.HttpTransports
  private readonly stages: ReadonlyArray<Any>
  private isClosing = false
  private isAbandoned = false
  private hasWarned = false
  private added: Headers | undefined

  constructor(
    private readonly context: HttpContext.HttpContext,
    entrances: Entrances,
    guard: Guard.Guard,
    private readonly health: Health.Health | undefined
  ) {
    const { nodes, options, sweeper } = context
    const { authenticate, documents = {}, requiredScopes, taskScopes } = entrances
    this.slowReaders = context
    this.draining = Draining.make({
      timeout: options.drainTimeout ?? (nodes === undefined ? 0 : Draining.TIMEOUT),
      hasOthers: nodes !== undefined,
      begin: () => this.transports.drain(),
      release: () => this.transports.release()
    })
    this.transports = HttpTransports.make(context, entrances, this.draining)
    const texts = Object.entries(documents).map(([path, one]) => [path, JSON.stringify(one)] as const)
    const { own, passedOn } = Stages.make({
      health,
      guard,
      documents: new Map([...texts, ...options.documents ?? []]),
      transports: this.transports,
      draining: this.draining,
      authenticate,
      requiredScopes,
      taskScopes,
      sweeper,
      bodies: new Bodies(options.limits, sweeper),
      longBodies: new LongBodies(options.limits.maxIncompleteBytes, EventLoop.onNextTurn),
      limits: options.limits,
      refuses: this.refuses,
      report: this,
      fork: this.fork
    })
    this.stages = own
    nodes?.serve({
      ...this.transports.sessions,
      handle: (exchange) => new Passage(exchange, passedOn, this, undefined).run()
    })
  }

  readonly handle = (exchange: HttpExchange): void => new Passage(exchange, this.stages, this, this.added).run()

  readonly refuses = (request: Answerable): boolean => {
    if (this.isClosing) Refusal.send(request, Refusal.closing)
    return this.isClosing
  }

  /** See `Stages.Report`. */
  readonly forbidden = ({ message }: HttpRefusal): void => {
    if (!this.hasWarned) this.fork(Effect.logWarning(`${message}. ${ALLOW}`))
    this.hasWarned = true
  }

  /** See `Stages.Report`. */
  readonly fault = ({ message }: Error): void => this.fork(Effect.logError(message))

  private readonly fork = (effect: Effect.Effect<void>): void =>
    void EffectInternals.runFork(this.context.runtime, effect)

  readonly drain: Effect.Effect<void> = Effect.suspend(() => {
    this.added = LAST
    const unready = this.isClosing ? Effect.void : this.health?.drain ?? Effect.void
    return Effect.zipRight(unready, this.draining.run)
  })

  readonly close: Effect.Effect<void> = Effect.flatMap(this.drain, () => {
    if (this.isAbandoned) return Effect.void
    this.isClosing = true
    return this.transports.close.pipe(
      TimeLimit.end(this.context.options.closeTimeout),
      Effect.flatMap((closed) => {
        this.isAbandoned = Option.isNone(closed)
        return this.isAbandoned ? Effect.logWarning(LATE) : Effect.void
      })
    )
  })

  readonly sessions = (): number => this.transports.size()
}

/**
 * The header of every answer after the shutdown has begun. Without this header, a proxy might send another request on a connection that the
 * server is closing.
 */
const LAST: Headers = { connection: "close" }

const ALLOW = "To serve this client, add the value to the option allowedHosts or allowedOrigins of the endpoint. " +
  "This warning is not repeated"

const UNKEPT =
  "This server has a session layer, and its HTTP endpoint also serves clients without a session (revision " +
  "2026-07-28, or legacy.sessions: false). For these clients the server builds the layer for each request, and " +
  "releases it after the request. `lifetime: \"user\"` with an `authenticator` keeps it for a user"

const LATE = "Closing the HTTP endpoint does not wait longer for its sessions: a handler or the release of a session " +
  "layer has not ended within closeTimeout"
