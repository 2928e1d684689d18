/**
 * Keeps the shared link of a proxy open. A link is a session with the upstream, together with the calls that run in this session. Through
 * the shared link, the proxy reads the upstream's lists of tools, prompts and resources again after each change. Clients without their own
 * session also call the upstream through this link (`Sessions`). When the session ends, this module connects again by the schedule
 * `reconnect`. At the start and after the end of a session, calls wait during the first attempt to connect. After a failed attempt, calls
 * fail at once until an attempt succeeds. After a defect this module logs the defect, and does not connect again.
 *
 * `Proxy` starts the shared link, and `ListFollower` reads the lists. `Links` opens the links that belong to one client each.
 */
import type { ConnectError } from "@effect-mcp/core/ClientError"
import type { Change, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as TimeLimit from "@effect-mcp/core/unstable/kit/TimeLimit"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Link } from "./Link.js"
import * as ListFollower from "./ListFollower.js"
import * as UpstreamError from "./UpstreamError.js"

export interface Options {
  readonly name: string
  readonly open: Effect.Effect<Link, ConnectError, Scope.Scope>
  /** How long a call waits while the link is being opened. */
  readonly connectTimeout: Duration.DurationInput
  readonly reconnect: Schedule.Schedule<unknown, unknown>
}

export interface Follower {
  /** Runs after a link has opened, before `ListFollower` reads its lists. */
  readonly onOpen: (link: Link) => Effect.Effect<void, never, Scope.Scope>
  /** Gets the present lists of the upstream. `lists` is `undefined` while the upstream cannot be reached. */
  readonly onLists: (
    lists: ListFollower.UpstreamLists | undefined,
    reported: ReadonlyArray<Change>
  ) => Effect.Effect<void>
}

export interface ListingLink {
  /** Returns the open link. Waits while this module opens the link. */
  readonly link: Effect.Effect<Link, McpError>
  /** Returns the session of the open link; `undefined` while no link is open. */
  readonly session: () => ClientSessionService | undefined
  /** Waits until the first attempt to read the lists has ended. Fails when the first attempt to connect fails. */
  readonly started: Effect.Effect<void, ConnectError>
  /** Connects, and connects again after each end, until the scope closes. */
  readonly run: (follower: Follower) => Effect.Effect<void, never, Scope.Scope>
}

type State =
  | { readonly _tag: "Opening"; readonly opened: Deferred.Deferred<Link, McpError> }
  | { readonly _tag: "Open"; readonly link: Link }
  | { readonly _tag: "Down"; readonly why: McpError }

/**
 * The time for which the entries stay listed after the session with the upstream has ended. So the lists of clients do not change when the
 * upstream restarts quickly. After a failed attempt to connect, the entries do not stay listed.
 */
const KEPT = "5 seconds"

/** After a session of this length, the schedule `reconnect` starts from its beginning. */
const RESET_AFTER = Duration.minutes(1)

interface Self extends Options {
  /** `become` changes the state. The end of a connection sets the state to `Opening`. */
  state: State
  readonly started: Deferred.Deferred<void, ConnectError>
  readonly unconnected: McpError
  readonly failed: McpError
}

export const make = (options: Options): Effect.Effect<ListingLink> =>
  Effect.map(Deferred.make<void, ConnectError>(), (started) => {
    const self: Self = {
      ...options,
      state: opening(),
      started,
      unconnected: UpstreamError.of(options.name, "is not connected"),
      failed: UpstreamError.of(options.name, "is not connected any more: the proxy has failed")
    }
    return {
      link: Effect.suspend(() => linkOf(self)),
      session: () => self.state._tag === "Open" ? self.state.link.session : undefined,
      started: Deferred.await(started),
      run: (follower) => run(self, follower)
    }
  })

const opening = (): State => ({ _tag: "Opening", opened: EffectInternals.deferred<Link, McpError>() })

const linkOf = ({ connectTimeout, state, unconnected }: Self): Effect.Effect<Link, McpError> => {
  switch (state._tag) {
    case "Open":
      return Effect.succeed(state.link)
    case "Opening":
      return TimeLimit.call(Deferred.await(state.opened), connectTimeout, () => Effect.fail(unconnected))
    case "Down":
      return Effect.fail(state.why)
  }
}

/** Changes the state. Gives `outcome` to the calls that wait for the link. */
const become = (self: Self, next: State, outcome: Effect.Effect<Link, McpError>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const before = self.state
    self.state = next
    return before._tag === "Opening" ? Effect.asVoid(Deferred.complete(before.opened, outcome)) : Effect.void
  })

const run = (self: Self, follower: Follower): Effect.Effect<void, never, Scope.Scope> => {
  const { reconnect, unconnected } = self
  const repeating = Schedule.resetWhen(
    Schedule.passthrough(Schedule.mapInput(reconnect, (_: Duration.Duration) => undefined)),
    Duration.greaterThanOrEqualTo(RESET_AFTER)
  )
  return Effect.zipRight(
    Effect.repeat(lasted(self, follower), repeating),
    Effect.zipRight(
      become(self, { _tag: "Down", why: unconnected }, Effect.fail(unconnected)),
      follower.onLists(undefined, [])
    )
  ).pipe(
    Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : broken(self, follower, cause)),
    Effect.interruptible,
    Effect.forkScoped,
    Effect.asVoid
  )
}

/** Runs one attempt to connect, and the connection until its end. Returns the duration of the connection. */
const lasted = (self: Self, follower: Follower) =>
  Effect.matchEffect(Effect.timed(connection(self, follower)), {
    onFailure: Effect.fnUntraced(function*(error) {
      const { name, started, unconnected } = self
      yield* become(self, { _tag: "Down", why: unconnected }, UpstreamError.unconnected(name, error))
      yield* follower.onLists(undefined, [])
      yield* Deferred.fail(started, error)
      return Duration.zero
    }),
    onSuccess: ([duration]) => Effect.as(Effect.forkScoped(gone(self, follower)), duration)
  })

/** Runs one connection from its beginning to its end. */
const connection = Effect.fnUntraced(
  function*(self: Self, { onLists, onOpen }: Follower) {
    const { name, open, started } = self
    const link = yield* open
    const following = yield* ListFollower.make(name, link, onLists, Deferred.succeed(started, undefined))
    yield* become(self, { _tag: "Open", link }, Effect.succeed(link))
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        self.state = opening()
        return Deferred.succeed(link.gone, undefined)
      })
    )
    yield* onOpen(link)
    yield* following
    yield* Effect.logWarning(`The upstream "${name}" has ended the session; it is connected again`)
  },
  ScopeEnd.scoped
)

/** Removes the lists if the upstream is not connected again after the time `KEPT`. */
const gone = (self: Self, { onLists }: Follower) =>
  Effect.zipRight(
    Effect.sleep(KEPT),
    Effect.suspend(() => self.state._tag === "Open" ? Effect.void : onLists(undefined, []))
  )

/**
 * Handles a defect. The proxy does not connect again. Calls fail with a message that the proxy has failed, and `started` dies with the
 * defect.
 */
const broken = (self: Self, { onLists }: Follower, cause: Cause.Cause<never>) => {
  const { failed, name, started } = self
  return Effect.logError(`The proxy of the upstream "${name}" has failed, and does not connect again`, cause).pipe(
    Effect.zipRight(become(self, { _tag: "Down", why: failed }, Effect.fail(failed))),
    Effect.zipRight(Deferred.failCause(started, cause)),
    Effect.zipRight(onLists(undefined, []))
  )
}
