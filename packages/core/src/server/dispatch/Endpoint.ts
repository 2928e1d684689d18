/**
 * The server's HTTP endpoint: the stages that each request passes, from its first header to the transport that serves it. A stage
 * answers the request, or passes it on to the next stage. `HttpTransports` says what serves a path and an era.
 *
 * `HttpEndpoint`, `WebHandler`, and `HttpServer` and `NodeHandler` of the node package, call it with an `HttpExchange` for each
 * request. They own the sockets; the dispatcher owns the fibers of the handlers.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Tap from "../../jsonrpc/Tap.js"
import * as Edition from "../../kit/Edition.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Version from "../../protocol/Version.js"
import type { Caller, Principal, Refuses } from "../Authenticator.js"
import type { Dispatcher } from "../Dispatcher.js"
import { Bodies, MAX_DISCARDED, OpenBody } from "../http/Body.js"
import * as EndpointContext from "../http/EndpointContext.js"
import * as Guard from "../http/Guard.js"
import * as Health from "../http/Health.js"
import { type Headers, type HttpExchange, pathOf, repeated, tapped } from "../http/HttpExchange.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import type * as ResolvedOptions from "../http/ResolvedOptions.js"
import * as HttpContext from "../legacy/HttpContext.js"
import * as SessionFacts from "../legacy/SessionFacts.js"
import * as Authentication from "../runtime/Authentication.js"
import * as HttpRefusalCheck from "../runtime/HttpRefusalCheck.js"
import * as Permission from "../runtime/Permission.js"
import * as Reply from "../runtime/Reply.js"
import * as Metrics from "../telemetry/Metrics.js"
import { Entrances } from "./Dispatch.js"
import * as Draining from "./Draining.js"
import type { ServedPath } from "./HttpTransports.js"
import * as HttpTransports from "./HttpTransports.js"

export interface Endpoint {
  /** Answers a request, at once or later. */
  readonly handle: (exchange: HttpExchange) => void
  /**
   * Ends the endpoint before its scope does, after `drain`: streams end, running requests are interrupted and answered with
   * -32000 (-32603 from 2026-07-28 on), new requests are refused with 503. Waits until the sessions have ended, for
   * `closeTimeout` at most. Can be run again.
   */
  readonly close: Effect.Effect<void>
  /**
   * Is not ready from now on, and serves as before for the time that load balancers get. Then it refuses new requests with 503,
   * gives its sessions to other nodes, and waits until no request runs, for `drainTimeout` at most. Can be run again.
   */
  readonly drain: Effect.Effect<void>
  /** How many sessions there are, those of HTTP+SSE included. */
  readonly sessions: () => number
}

/**
 * An endpoint that serves until the scope closes. With an `EventStore` in the context, clients can resume streams. `isOpen` tells
 * that programs of other machines may reach the endpoint, as far as that is known before the first request.
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
    const stages = new Stages(context, entrances, Guard.make(options), health)
    const { close, drain, sessions } = stages
    const pass = options.tap && (yield* Tap.make("HTTP", options.tap))
    const handle = pass === undefined
      ? stages.handle
      : (exchange: HttpExchange) => stages.handle(tapped(exchange, pass))
    const made = yield* Metrics.timed<Endpoint>({ close, drain, handle, sessions }, () => sweeper.now())
    yield* Metrics.sessions.observe(made.sessions)
    yield* Metrics.streams.observe(() => context.openStreams)
    yield* Effect.addFinalizer(() => made.close)
    return made
  })

type User = Principal | undefined

/**
 * The stages in their order: `handle` (health, Host and Origin), `document`, `pathAndMethod`, `user`, `headers`, `owner`, `body`,
 * `message`; then `HttpTransports` chooses the era.
 *
 * A class, because each stage knows the next one. `isClosing` and `isAbandoned`, whether closing has gone on without sessions that did
 * not end in time, turn true once; `hasWarned` is about requests whose Host or Origin was refused; every answer has the headers `added`.
 */
class Stages implements Endpoint {
  private readonly documents: ReadonlyMap<string, string>
  private readonly bodies: Bodies
  private readonly draining: Draining.Draining
  private readonly transports: HttpTransports.HttpTransports
  private isClosing = false
  private isAbandoned = false
  private hasWarned = false
  private added: Headers | undefined

  constructor(
    private readonly context: HttpContext.HttpContext,
    private readonly entrances: Entrances,
    private readonly guard: Guard.Guard,
    private readonly health: Health.Health | undefined
  ) {
    const { nodes, options } = context
    const texts = Object.entries(entrances.documents ?? {}).map(([path, one]) => [path, JSON.stringify(one)] as const)
    this.documents = new Map([...texts, ...options.documents ?? []])
    this.bodies = new Bodies(options.limits, context.sweeper)
    this.draining = Draining.make({
      timeout: options.drainTimeout ?? (nodes === undefined ? 0 : Draining.TIMEOUT),
      hasOthers: nodes !== undefined,
      begin: () => this.transports.drain(),
      release: () => this.transports.release()
    })
    this.transports = HttpTransports.make(context, entrances, this.draining)
    nodes?.serve({ ...this.transports.sessions, handle: (exchange) => this.forwarded(exchange) })
  }

  readonly handle = (exchange: HttpExchange): void => {
    const { headers, method } = exchange
    exchange.added = this.added
    if (this.health !== undefined && (method === "GET" || method === "HEAD") && this.health.answers(exchange)) return
    exchange.slowReaders = this.context
    const document = this.documents.size === 0 ? undefined : this.documents.get(exchange.path)
    // A document is for the pages of every origin.
    const refusal = this.guard.check(document === undefined ? headers : { ...headers, origin: undefined }, exchange)
    if (refusal !== undefined) {
      if (!this.hasWarned) this.log(Effect.logWarning(`${refusal.message}. ${ALLOW}`))
      this.hasWarned = true
      return Refusal.send(exchange, refusal)
    }
    if (headers.origin !== undefined) {
      const cors = document === undefined ? this.guard.cors(headers) : Guard.anyOrigin
      exchange.added = { ...this.added, ...cors }
    }
    if (this.isClosing) return Refusal.send(exchange, Refusal.closing)
    if (document !== undefined) return this.document(exchange, document)
    this.pathAndMethod(exchange)
  }

  /** JSON that every page may read, such as the metadata of the authorization: its client need not be authenticated. */
  private document(exchange: HttpExchange, text: string): void {
    const { headers, method } = exchange
    const allow = "GET, OPTIONS"
    if (method === "OPTIONS") return exchange.reply(204, this.guard.preflight(headers, allow), "")
    if (method !== "GET") return Refusal.send(exchange, Refusal.methodNotAllowed(method, allow))
    exchange.reply(200, { "content-type": "application/json" }, text)
  }

  private pathAndMethod(exchange: HttpExchange): void {
    const { headers, method, url } = exchange
    const target = this.transports.find(url)
    if (target === undefined) return Refusal.send(exchange, Refusal.notFound(pathOf(url)))
    const { allow } = target
    if (method === "OPTIONS") return exchange.reply(204, this.guard.preflight(headers, allow), "")
    if (!methods.has(method) || !allow.includes(method)) {
      return Refusal.send(exchange, Refusal.methodNotAllowed(method, allow))
    }
    this.draining.arrived++
    if (this.draining.hasBegun && (method === "GET" || target.toOwner(exchange) !== undefined)) {
      return Refusal.send(exchange, Refusal.closing)
    }
    if (this.entrances.authenticate === undefined) this.headers(exchange, target, undefined)
    else this.user(exchange, target)
  }

  /** A request that arrived at another node: that node has checked what comes before the user. */
  private forwarded(exchange: HttpExchange): void {
    const target = this.transports.find(exchange.url)
    if (target === undefined || target.toOwner(exchange) !== undefined) exchange.moved?.(this.draining.hasBegun)
    else this.user(exchange, target)
  }

  private user(exchange: HttpExchange, target: ServedPath): void {
    const { authenticate } = this.entrances
    if (authenticate === undefined) return this.headers(exchange, target, undefined)
    // Which of several headers identifies the client would be a guess. A single header may have a comma, too.
    if (exchange.headers.authorization?.includes(",") === true && isRepeated(exchange, "authorization")) {
      return Refusal.send(exchange, Refusal.repeatedHeader("Authorization"))
    }
    let waiting = true
    const caller = callerOf(exchange)
    const interrupt = authenticate(caller, (found) => {
      waiting = false
      if (Either.isLeft(found)) return this.refuse(exchange, found.left)
      exchange.user = found.right.user
      exchange.watchUser = Authentication.watch(authenticate, caller, found.right, this.context.sweeper)
      this.headers(exchange, target, found.right.principal)
    })
    if (waiting) exchange.onGone(() => waiting && interrupt())
  }

  /** What the headers of a POST alone decide. */
  private headers(exchange: HttpExchange, target: ServedPath, user: User): void {
    // Closing may have begun while the user was found.
    if (this.isClosing) return Refusal.send(exchange, Refusal.closing)
    if (exchange.method !== "POST") {
      const refused = Permission.refusal(exchange.user, [])
      if (refused !== undefined) return this.refuse(exchange, refused)
    } else {
      const { maxBodyBytes } = this.context.options.limits
      const { headers } = exchange
      // Node removes the last coding, which must be chunked, and leaves the others to us.
      const coding = headers["transfer-encoding"]
      const length = Number(headers["content-length"] ?? 0)
      const refusal = target.responses !== undefined && MediaType.formOf(headers.accept, target.responses) === undefined
        ? Refusal.notAcceptable("application/json or text/event-stream")
        : coding !== undefined && coding.trim().toLowerCase() !== "chunked"
        ? Refusal.unsupportedTransferCoding
        : !MediaType.isJson(headers)
        ? Refusal.unsupportedMediaType
        : length > maxBodyBytes
        ? Refusal.tooLarge(maxBodyBytes, length - maxBodyBytes > MAX_DISCARDED)
        : undefined
      if (refusal !== undefined) return Refusal.send(exchange, refusal)
    }
    if (!this.owner(exchange, target, user)) this.body(exchange, target, user, false)
  }

  /**
   * Serves a request here. `isUnknown`: no node has its session, so its transport refuses it. `given` is the body, if it was read to be
   * passed on.
   */
  private body(exchange: HttpExchange, target: ServedPath, user: User, isUnknown: boolean, given?: string): void {
    if (this.isClosing) return Refusal.send(exchange, Refusal.closing)
    const { method } = exchange
    if (method !== "POST") {
      exchange.begins?.()
      return (method === "GET" ? target.get! : target.delete!)(exchange, user)
    }
    if (given !== undefined) return this.message(exchange, target, user, isUnknown, given)
    this.read(exchange, (body) => this.message(exchange, target, user, isUnknown, body))
  }

  private message(exchange: HttpExchange, target: ServedPath, user: User, isUnknown: boolean, body: string): void {
    if (this.isClosing) return Refusal.send(exchange, Refusal.closing)
    if (!isUnknown && this.owner(exchange, target, user, body)) return
    const incoming = MessageText.parse(body, this.context.options.limits)
    if (exchange.user === undefined) return this.serve(exchange, target, user, incoming)
    const own = this.entrances.requiredScopes(incoming)
    const ofTask = this.entrances.taskScopes(incoming, user?.id)
    if (ofTask === undefined) return this.permitted(exchange, target, user, incoming, own)
    const checked = Effect.map(ofTask, (scopes) => {
      if (!exchange.isGone) this.permitted(exchange, target, user, incoming, [...own, ...scopes])
    })
    Edition.runFork(this.context.runtime, checked)
  }

  /** Serves a message whose user may use what requires these scopes. */
  private permitted(
    exchange: HttpExchange,
    target: ServedPath,
    user: User,
    incoming: Message.Incoming,
    scopes: ReadonlyArray<string>
  ): void {
    const refused = Permission.refusal(exchange.user, scopes)
    if (refused !== undefined) return this.refuse(exchange, refused, incoming)
    if (scopes.length > 0) exchange.requires = scopes
    this.serve(exchange, target, user, incoming)
  }

  private serve(exchange: HttpExchange, target: ServedPath, user: User, incoming: Message.Incoming): void {
    if (this.isClosing) return Refusal.send(exchange, Refusal.closing)
    exchange.begins?.()
    target.post(exchange, incoming, user)
  }

  private read(exchange: HttpExchange, then: (body: string) => void): void {
    const reading = new OpenBody(this.bodies)
    exchange.body(reading, (body) => {
      reading.end()
      if (typeof body !== "string") return Refusal.send(exchange, Refusal.ofBody(body, reading.maxBytes))
      then(body)
    })
    if (!reading.isOver) exchange.onGone(() => reading.end())
  }

  /**
   * Passes a request on where another node may own its session, and gives whether it did. Runs before the body is read, so that no body
   * is read here for another node, and again afterwards: the session may have moved meanwhile.
   */
  private owner(exchange: HttpExchange, target: ServedPath, user: User, body?: string): boolean {
    const toOwner = target.toOwner(exchange)
    if (toOwner === undefined) return false
    if (exchange.moved !== undefined) exchange.moved(this.draining.hasBegun)
    else if (this.draining.hasBegun) Refusal.send(exchange, Refusal.closing)
    else {
      toOwner({
        exchange,
        isOfAnother: ({ facts }) => SessionFacts.areOfAnother(facts, user?.id),
        read: exchange.method !== "POST"
          ? undefined
          : (then) => body === undefined ? this.read(exchange, then) : then(body),
        local: (given = body) => this.body(exchange, target, user, target.toOwner(exchange) !== undefined, given)
      })
    }
    return true
  }

  private refuse(exchange: HttpExchange, refused: Refuses, incoming?: Message.Incoming): void {
    const isRequest = incoming !== undefined && !Message.isMalformed(incoming) && Message.isRequest(incoming)
    const era = Refusal.eraOf(exchange, isRequest ? incoming : undefined)
    const refusal = Refusal.of(refused, era)
    const fault = HttpRefusalCheck.of(refusal)
    if (fault !== undefined) {
      this.log(Effect.logError(fault.message))
      return Refusal.send(exchange, Refusal.failed)
    }
    if (!isRequest) return Refusal.send(exchange, refusal)
    const failure = Message.failure(incoming.id, Reply.errorOf(refusal, era))
    Refusal.failure(exchange, refusal.status, failure, refusal.headers)
  }

  private log(effect: Effect.Effect<void>): void {
    Edition.runFork(this.context.runtime, effect)
  }

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

/** From the beginning of the shutdown on: a proxy that used the connection again might do so when it is closed. */
const LAST: Headers = { connection: "close" }

const ALLOW =
  "If its client should be served, name the value in the options allowedHosts or allowedOrigins of the endpoint. " +
  "This warning is not repeated"

const UNKEPT =
  "This server has a session layer, and its HTTP endpoint serves clients without a session (2026-07-28, or " +
  "legacy.sessions: false): for them the layer is built for each request, and what it holds ends with the request. " +
  "`lifetime: \"user\"` with an `authenticator` keeps it for a user"

const LATE = "Closing the HTTP endpoint does not wait longer for its sessions: a handler or the release of a session " +
  "layer has not ended within closeTimeout"

const callerOf = (exchange: HttpExchange): Extract<Caller, { readonly _tag: "Http" }> => {
  const { encrypted, headers, method, moved, path, remoteAddress, services, url } = exchange
  const query = url.indexOf("?")
  return {
    _tag: "Http",
    request: {
      method,
      // A router may have removed the beginning of the path.
      url: query === -1 ? path : path + url.slice(query),
      headers,
      remoteAddress,
      encrypted,
      isForwarded: moved !== undefined
    },
    services
  }
}

const isRepeated = ({ rawHeaders }: HttpExchange, name: string): boolean =>
  rawHeaders !== undefined && repeated(rawHeaders)?.[name] !== undefined

const methods: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"])
