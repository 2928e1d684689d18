/**
 * The links of clients: a session with the upstream for each client of the proxy. The link of a client with a session closes
 * when the client disconnects. From 2026-07-28 on, the requests of one pipe or principal that declare equal capabilities share a
 * link, which closes some time after the last request. So do the requests of anonymous clients over HTTP, where only programs of
 * this machine reach the server. Where other machines reach the server, each anonymous request opens a link of its own.
 *
 * `supervise` keeps the one session open that lists what the upstream has: it connects, follows the lists until the session ends,
 * and connects again as a schedule says. Calls wait while a connection may still come, and fail at once while the last attempt has
 * failed. A defect ends it for good, and is logged.
 */
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import type { Change } from "@effect-mcp/client/Notifications"
import type { ServerLists } from "@effect-mcp/client/unstable/Entries"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { forOperator } from "@effect-mcp/server/ClientLogger"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import * as Session from "@effect-mcp/server/unstable/Session"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Followed from "./Followed.js"
import type { Link } from "./Link.js"
import * as Questions from "./Questions.js"
import * as UpstreamError from "./UpstreamError.js"

export interface Options {
  readonly name: string
  readonly max: number
  readonly idle: Duration.DurationInput
  readonly open: (
    capabilities: ClientCapabilities,
    standalone: () => ServerSessionService | undefined
  ) => Effect.Effect<Link, McpError, Scope.Scope>
  /** Runs when a client with a session has a link, anew for each link. */
  readonly onOpen: (
    link: Link,
    client: ServerSessionService,
    listed: Deferred.Deferred<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

export interface Links {
  /** The link of the client of a request, for as long as the scope is open. */
  readonly of: (session: ServerSessionService) => Effect.Effect<Link, McpError, Scope.Scope>
  /** The client has completed the handshake: `session` reaches it outside of its requests. */
  readonly begin: (session: ServerSessionService) => void
  /** The link that a client has already. */
  readonly existing: (session: ServerSessionService) => Link | undefined
  /** The link that a client has already, if its lists were read. */
  readonly listedNow: (session: ServerSessionService) => Link | undefined
  /** The link of a client that has a session, when its lists were read. */
  readonly listed: (session: ServerSessionService) => Effect.Effect<Link, McpError>
}

/** Stands in a `Key` for all clients without a session and a user, at a server that only programs of this machine reach. */
const anonymousOfMachine = {}

class Key implements Equal.Equal {
  readonly text: string

  constructor(readonly client: object | string, readonly session: ServerSessionService) {
    // A session declares its capabilities once; a request of the modern era anew. What is not passed on makes no difference.
    this.text = session.client.sessionScope === undefined
      ? JSON.stringify(Questions.passed(session.client.capabilities))
      : ""
  }

  [Hash.symbol](): number {
    return Hash.combine(Hash.hash(this.client))(Hash.string(this.text))
  }

  [Equal.symbol](that: unknown): boolean {
    return that instanceof Key && this.client === that.client && this.text === that.text
  }
}

export const make = (options: Options): Effect.Effect<Links, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { idle, max, name, onOpen, open } = options
    const standalones = new WeakMap<object, ServerSessionService>()
    const opened = new WeakMap<object, { readonly link: Link; readonly listed: Deferred.Deferred<void> }>()
    const ending = new WeakSet<object>()
    const left = new WeakSet<object>()
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    let anonymous = 0

    const standaloneOf = ({ client: { key } }: ServerSessionService) =>
      typeof key === "object" ? standalones.get(key) : undefined
    const tooMany = UpstreamError.of(name, `serves ${max} clients already; try again later`)

    const opening = (key: Key) =>
      Effect.gen(function*() {
        const { client, session } = key
        const own = yield* Edition.childOf(closing)
        yield* Effect.addFinalizer((exit) => Scope.close(own, exit))
        const link = yield* Scope.extend(open(session.client.capabilities, () => standaloneOf(session)), own)
        run(Effect.zipRight(Effect.ignore(link.session.ended), RcMap.invalidate(all, key)))
        if (typeof client === "object" && session.client.sessionScope !== undefined) {
          const listed = yield* Deferred.make<void>()
          opened.set(client, { link, listed })
          yield* Scope.extend(onOpen(link, standaloneOf(session) ?? session, listed), own)
        }
        return link
      })

    const all: RcMap.RcMap<Key, Deferred.Deferred<Link, McpError>> = yield* RcMap.make({
      idleTimeToLive: ({ session }: Key) => session.client.sessionScope === undefined ? idle : Duration.infinity,
      lookup: (key: Key) =>
        Effect.gen(function*() {
          const link = yield* Deferred.make<Link, McpError>()
          // The map runs this in an uninterruptible region, which a fiber inherits.
          yield* Effect.forkScoped(Effect.interruptible(
            Effect.onExit(opening(key), (exit) =>
              Deferred.done(
                link,
                Exit.isInterrupted(exit) ? Exit.fail(UpstreamError.of(name, "is not connected")) : exit
              ))
          ))
          return link
        })
    })
    const lock = Semaphore.make()
    // It closes before the map does, all links at the same time.
    const closing = yield* Effect.acquireRelease(
      Edition.parallelScope,
      (scope) => Scope.close(scope, Exit.void)
    )

    const size = Effect.map(RcMap.keys(all), (keys) => keys.length + anonymous)

    const get = (key: Key): Effect.Effect<Link, McpError, Scope.Scope> =>
      Effect.gen(function*() {
        const { client, session } = key
        if (!(yield* RcMap.has(all, key)) && (yield* size) >= max) return yield* tooMany
        const { sessionScope } = session.client
        // The scope may have closed: then the link closes at once.
        const end = Effect.suspend(() => {
          if (typeof client !== "object" || sessionScope === undefined) return Effect.void
          const close = Effect.sync(() => void run(RcMap.invalidate(all, key)))
          if (ending.has(client)) return left.has(client) ? close : Effect.void
          ending.add(client)
          return Scope.addFinalizer(sessionScope, Effect.zipRight(Effect.sync(() => left.add(client)), close))
        })
        // One at a time: of two requests that come together, the map would open a link each. Nothing waits in there: the link
        // opens on a fiber of its own. Uninterruptible, so that no link begins without its end.
        const link = yield* Effect.uninterruptible(Effect.zipLeft(lock.run(RcMap.get(all, key)), end))
        return yield* Effect.tapError(Deferred.await(link), () => RcMap.invalidate(all, key))
      })

    const warnOnce = yield* Effect.once(forOperator(Effect.logWarning(
      `A client without a session and without a user called over HTTP: each of its requests opens a session with the upstream "${name}", ` +
        "and state of the session is lost. Give the server an `authenticator`, or the proxy `sessions: \"shared\"`"
    )))

    const ofUnknown = (session: ServerSessionService): Effect.Effect<Link, McpError, Scope.Scope> =>
      Effect.gen(function*() {
        yield* warnOnce
        if ((yield* size) >= max) return yield* tooMany
        yield* Effect.acquireRelease(Effect.sync(() => anonymous++), () => Effect.sync(() => anonymous--))
        return yield* open(session.client.capabilities, () => undefined)
      })

    return {
      of: (session) =>
        Effect.suspend(() => {
          const key = session.client.key ?? (Session.isLocal(session) ? anonymousOfMachine : undefined)
          return key === undefined ? ofUnknown(session) : get(new Key(key, session))
        }),
      begin: (session) => {
        if (typeof session.client.key === "object") standalones.set(session.client.key, session)
      },
      existing: ({ client: { key } }) => typeof key === "object" ? opened.get(key)?.link : undefined,
      listedNow: ({ client: { key } }) => {
        const found = typeof key === "object" ? opened.get(key) : undefined
        return found !== undefined && Option.isSome(Effect.runSync(Deferred.poll(found.listed)))
          ? found.link
          : undefined
      },
      listed: (session) =>
        Effect.flatMap(Effect.scoped(get(new Key(session.client.key!, session))), (link) => {
          const found = opened.get(session.client.key as object)
          return Effect.as(found?.link === link ? Deferred.await(found.listed) : Effect.void, link)
        })
    }
  })

interface SupervisorOptions {
  readonly name: string
  readonly open: Effect.Effect<Link, ConnectError, Scope.Scope>
  /** How long a call waits for `open`. */
  readonly connectTimeout: Duration.DurationInput
  readonly reconnect: Schedule.Schedule<unknown, unknown>
}

interface Follower {
  /** Runs when a session is open, before its lists are read. */
  readonly onOpen: (link: Link) => Effect.Effect<void, never, Scope.Scope>
  /** What the upstream lists now; `undefined` while it cannot be reached. */
  readonly onLists: (lists: ServerLists | undefined, reported: ReadonlyArray<Change>) => Effect.Effect<void>
}

interface Supervisor {
  /** The open link. Waits for one while the upstream is being connected. */
  readonly link: Effect.Effect<Link, McpError>
  /** The open session, if there is one. */
  readonly session: () => ClientSessionService | undefined
  /** Waits until the upstream has listed what it has, or was not reached. */
  readonly started: Effect.Effect<void, ConnectError>
  /** Connects, again and again until the scope closes. */
  readonly run: (follower: Follower) => Effect.Effect<void, never, Scope.Scope>
}

type State =
  | { readonly _tag: "Opening"; readonly opened: Deferred.Deferred<Link, McpError> }
  | { readonly _tag: "Open"; readonly link: Link }
  | { readonly _tag: "Down"; readonly why: McpError }

/** How long the lists of an upstream whose session has ended stay, while it is being connected again. */
const KEPT = "5 seconds"

/** How long a session must last for the schedule to begin anew. */
const RESET_AFTER = Duration.minutes(1)

export const supervise = (options: SupervisorOptions): Effect.Effect<Supervisor> =>
  Effect.gen(function*() {
    const { connectTimeout, name, open, reconnect } = options
    const opening = (): State => ({ _tag: "Opening", opened: Effect.runSync(Deferred.make<Link, McpError>()) })
    const unconnected = UpstreamError.of(name, "is not connected")
    const failed = UpstreamError.of(name, "is not connected any more: the proxy has failed")
    let state = opening()
    const started = yield* Deferred.make<void, ConnectError>()
    const change = (next: State, outcome: Effect.Effect<Link, McpError>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const before = state
        state = next
        return before._tag === "Opening" ? Effect.asVoid(Deferred.complete(before.opened, outcome)) : Effect.void
      })

    /** One connection, from its beginning to its end. */
    const connection = ({ onLists, onOpen }: Follower) =>
      Effect.gen(function*() {
        const link = yield* open
        const following = yield* Followed.make(name, link.session, onLists, Deferred.succeed(started, undefined))
        yield* change({ _tag: "Open", link }, Effect.succeed(link))
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            state = opening()
          })
        )
        yield* onOpen(link)
        yield* following
        yield* Effect.logWarning(`The upstream "${name}" has ended the session; it is connected again`)
      }).pipe(Effect.scoped)

    /** Takes the lists away when the upstream does not come back soon. */
    const gone = ({ onLists }: Follower) =>
      Effect.zipRight(
        Effect.sleep(KEPT),
        Effect.suspend(() => state._tag === "Open" ? Effect.void : onLists(undefined, []))
      )

    const lasted = (follower: Follower) =>
      Effect.matchEffect(Effect.timed(connection(follower)), {
        onFailure: (error) =>
          Effect.gen(function*() {
            yield* change({ _tag: "Down", why: unconnected }, UpstreamError.unconnected(name, error))
            yield* follower.onLists(undefined, [])
            yield* Deferred.fail(started, error)
            return Duration.zero
          }),
        onSuccess: ([duration]) => Effect.as(Effect.forkScoped(gone(follower)), duration)
      })

    /** Nothing connects again after a defect: calls say so, and who waits for the start gets it. */
    const broken = ({ onLists }: Follower, cause: Cause.Cause<never>) =>
      Effect.logError(`The proxy of the upstream "${name}" has failed, and does not connect again`, cause).pipe(
        Effect.zipRight(change({ _tag: "Down", why: failed }, Effect.fail(failed))),
        Effect.zipRight(Deferred.failCause(started, cause)),
        Effect.zipRight(onLists(undefined, []))
      )

    const repeating = Schedule.resetWhen(
      Schedule.passthrough(Schedule.mapInput(reconnect, (_: Duration.Duration) => undefined)),
      Duration.greaterThanOrEqualTo(RESET_AFTER)
    )
    return {
      link: Effect.suspend(() => {
        switch (state._tag) {
          case "Open":
            return Effect.succeed(state.link)
          case "Opening":
            return Effect.timeoutFail(Deferred.await(state.opened), {
              duration: connectTimeout,
              onTimeout: () => unconnected
            })
          case "Down":
            return Effect.fail(state.why)
        }
      }),
      session: () => state._tag === "Open" ? state.link.session : undefined,
      started: Deferred.await(started),
      run: (follower) =>
        Effect.zipRight(
          Effect.repeat(lasted(follower), repeating),
          Effect.zipRight(
            change({ _tag: "Down", why: unconnected }, Effect.fail(unconnected)),
            follower.onLists(undefined, [])
          )
        ).pipe(
          Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : broken(follower, cause)),
          Effect.interruptible,
          Effect.forkScoped,
          Effect.asVoid
        )
    }
  })
