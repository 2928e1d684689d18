/**
 * Builds the application's session layer separately for every client. Two clients never share the services of the layer. With revision
 * 2025-11-25 or earlier, the layer is released when the client's session ends. With revision 2026-07-28 or later on a pipe, the layer is
 * released when the pipe ends. With revision 2026-07-28 or later over HTTP, the server builds and releases the layer for each request. With
 * the option `lifetime: "user"`, the server instead keeps the layer for further requests of the user. `dispatch/Build` calls `make`, and
 * `Pipeline` gets the services of a client from the result.
 *
 * `legacy/Initialize` builds the layer in the handshake. With revision 2026-07-28 or later, the first request of a pipe or of a user builds
 * the layer, and other requests wait. When building fails, the next request builds the layer again.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as Deadlines from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Release from "../../kit/Release.js"
import * as SingleFlight from "../../kit/SingleFlight.js"
import { InvalidParams } from "../../protocol/McpError.js"
import { ChangeBus } from "../ChangeBus.js"
import { CODE, HttpRefusal } from "../HttpRefusal.js"
import type { ServerLimits } from "../Limits.js"
import { RequestContext, type RequestContextService } from "../RequestContext.js"
import { SessionDirectory } from "../SessionDirectory.js"
import type { RequestOrigin } from "./RequestOrigin.js"
import type { Resolved } from "./ResolvedLimits.js"

/** How many characters the facts about a client may have, as JSON. The server stores these facts together with the session. */
export const MAX_FACTS = 65_536

/**
 * The greatest number of sessions of users (`lifetime: "user"`), for all users and for one user. A user has one session for each client
 * program.
 */
const MAX_SESSIONS = 10_000
const MAX_SESSIONS_PER_USER = 64

/** The least time between two checks of idle sessions, in milliseconds. */
const RESOLUTION = 1000

interface Options {
  readonly closeTimeout?: Duration.DurationInput | undefined
  readonly lifetime?: "user" | undefined
  readonly limits: Resolved<ServerLimits>
  /** The greatest number of sessions of users. Default: 10,000. */
  readonly maxSessions?: number
}

type Request = RequestContextService & { readonly origin: Pick<RequestOrigin, "user"> }

type Services = Context.Context<never>

export interface SessionLayer {
  /**
   * Builds the services of a session in the scope of the session. `request` is the request that begins the session. Calls `keep` with the
   * services, and with an effect that releases the services before the scope closes.
   */
  readonly build: (
    request: Request,
    scope: Scope.Scope,
    keep?: (services: Services, release: Effect.Effect<void>) => void
  ) => Effect.Effect<Services, unknown>
  /** Makes the session of a pipe. Closing the scope ends the session. */
  readonly within: (scope: Scope.Scope) => KeptSession
  /** Builds the services for a request without a session and without a pipe. `scope` is the scope of the request. */
  readonly ofRequest: (request: Request, scope: Scope.Scope) => Effect.Effect<Services, unknown>
  /** Whether the server keeps the session of a user between such requests (`lifetime: "user"`). */
  readonly isOfUsers: boolean
}

/** A session. The first request of the session builds the layer. */
export class KeptSession<S extends Scope.Scope = Scope.Scope> {
  /** The services of the layer; `undefined` before the layer is built. */
  services: Services | undefined
  private readonly flight: SingleFlight.SingleFlight<Services, unknown>

  constructor(private readonly build: SessionLayer["build"], readonly scope: S) {
    this.flight = SingleFlight.make(scope)
  }

  get(request: Request): Effect.Effect<Services, unknown> {
    return Effect.suspend(() =>
      this.services === undefined
        ? this.flight.join(this.build(request, this.scope, (services) => {
          this.services = services
        }))
        : Effect.succeed(this.services)
    )
  }
}

export const make = (
  layer: Layer.Layer<never, unknown, any>,
  application: Services,
  options: Options
): Effect.Effect<SessionLayer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const context = Context.omit(Scope.Scope)(application as Context.Context<any>)
    // Each session has its own memo map. A shared memo map would give one client's services to the next client.
    const fresh = Layer.fresh(layer)
    const build: SessionLayer["build"] = (request, scope, keep) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          // A separate scope, so that a layer that fails releases its resources immediately.
          Effect.zip(Layer.makeMemoMap, EffectInternals.childOf(scope)),
          ([memo, own]) =>
            restore(Effect.mapInputContext(
              Layer.buildWithMemoMap(fresh, memo, own),
              (_: Services) =>
                Context.add(
                  request.origin.user === undefined ? context : Context.merge(context, request.origin.user),
                  RequestContext,
                  request
                ) as Context.Context<any>
            )).pipe(
              Effect.onError((cause) =>
                Release.within(
                  Scope.close(own, Exit.failCause(cause)),
                  "A session layer that failed",
                  options.closeTimeout
                )
              ),
              Effect.tap((services) => Effect.sync(() => keep?.(services, Scope.close(own, Exit.void))))
            )
        )
      )
    return {
      build,
      within: (scope) => new KeptSession(build, scope),
      ofRequest: options.lifetime === "user" ? yield* ofUsers(build, options) : (request, scope) =>
        Effect.flatMap(
          Scope.extend(Release.scope("The session layer of a request", options.closeTimeout), scope),
          (own) => build(request, own)
        ),
      isOfUsers: options.lifetime === "user"
    }
  })

/**
 * A session of a user. Mutable fields: `uses` is the number of requests that use the session. `idle` is the deadline of the session while
 * no request uses it.
 */
class UserSession extends KeptSession<Scope.CloseableScope> {
  uses = 0
  idle: Deadlines.Expirable | undefined

  constructor(readonly key: string, readonly user: string, build: SessionLayer["build"], scope: Scope.CloseableScope) {
    super(build, scope)
  }
}

/**
 * Keeps a session for each combination of user, client and declared capabilities, while requests use the session and for the idle time
 * after that. Each request of a client without a user gets a separate session.
 */
const ofUsers = (
  build: SessionLayer["build"],
  { closeTimeout, limits, maxSessions = MAX_SESSIONS }: Options
): Effect.Effect<SessionLayer["ofRequest"], never, Scope.Scope> =>
  Effect.gen(function*() {
    yield* refuseNodes
    // The server makes this scope before the dispatcher, so that the scope closes after the handlers have ended.
    const whole = yield* Release.scope("The session layer of users", closeTimeout)
    const deadlines = yield* Deadlines.make(RESOLUTION)
    const services = yield* EffectInternals.services
    const idleTimeout = Deadlines.millis(limits.userSessionIdleTimeout)
    /** In the order of last use. */
    const sessions = new Map<string, UserSession>()

    const end = (session: UserSession): void => {
      sessions.delete(session.key)
      if (session.idle !== undefined) deadlines.unwatch(session.idle)
      const close = Scope.close(session.scope, Exit.void)
      EffectInternals.runFork(services, Release.within(close, "The session layer of a user", closeTimeout))
    }
    /**
     * When a limit of sessions is reached, ends one idle session. Gives `false` when a limit is reached and requests use all of these
     * sessions.
     */
    const makeRoom = (user: string): boolean => {
      const all = [...sessions.values()]
      const own = all.filter((session) => session.user === user)
      const crowd = own.length >= MAX_SESSIONS_PER_USER ? own : all.length >= maxSessions ? all : undefined
      const oldest = crowd?.find(({ uses }) => uses === 0)
      if (oldest !== undefined) end(oldest)
      return crowd === undefined || oldest !== undefined
    }
    const enter = (key: string, user: string) =>
      Effect.suspend(() => {
        let session = sessions.get(key)
        if (session === undefined) {
          if (!makeRoom(user)) return Effect.fail(busy)
          session = new UserSession(key, user, build, Effect.runSync(EffectInternals.childOf(whole)))
        }
        sessions.delete(key)
        sessions.set(key, session)
        if (session.idle !== undefined) deadlines.unwatch(session.idle)
        session.uses++
        return Effect.succeed(session)
      })
    const leave = (session: UserSession) =>
      Effect.sync(() => {
        if (--session.uses > 0) return
        if (session.services === undefined) end(session)
        else session.idle = deadlines.schedule(idleTimeout, () => end(session))
      })

    return (request, scope) => {
      const { client: { capabilities, info }, principal } = request
      if (principal === undefined) return build(request, scope)
      const key = JsonText.stringify([principal.id, info, capabilities])
      if (key === undefined || key.length > MAX_FACTS) return Effect.fail(tooLong)
      return Effect.flatMap(
        Scope.extend(Effect.acquireRelease(enter(key, principal.id), leave), scope),
        (session) => session.get(request)
      )
    }
  })

// Refuses a server with several nodes, because the next request of the client may arrive at another node.
const refuseNodes = Effect.gen(function*() {
  const directory = yield* Effect.serviceOption(SessionDirectory)
  const bus = yield* Effect.serviceOption(ChangeBus)
  if (Option.isSome(directory) || Option.isSome(bus)) {
    yield* Effect.dieMessage(
      "The option lifetime: \"user\" keeps sessions in the memory of one node, and this server has a SessionDirectory or a ChangeBus, " +
        "which connect several nodes: keep the state of users in a store of the application"
    )
  }
})

const busy = new HttpRefusal({
  status: 503,
  error: { code: CODE, message: "Service Unavailable: all sessions that this user may have are in use" }
})

const tooLong = new InvalidParams({
  message: `Invalid params: clientInfo and the capabilities of the client have more than ${MAX_FACTS} characters`
})
