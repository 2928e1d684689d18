/**
 * Opens a session in the protocol era that client and server share (revisions up to 2025-11-25 are legacy, 2026-07-28 is modern), for
 * `Client`. `Plan` decides what the client sends, and this module sends it. `session/Opening` begins a conversation, `Probe` sends
 * `server/discover`, and `legacy/Connect` or `modern/Connect` makes the session. `KnownVersions` remembers the revisions of servers. The
 * log says why a session has its revision.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as MutableRef from "effect/MutableRef"
import * as Scope from "effect/Scope"
import type { Connector } from "../../jsonrpc/Connector.js"
import * as Message from "../../jsonrpc/Message.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import type { ModernVersion } from "../../protocol/Version.js"
import * as Version from "../../protocol/Version.js"
import type { ConnectError } from "../ClientError.js"
import * as LegacyConnect from "../legacy/Connect.js"
import * as LegacyMethodTable from "../legacy/MethodTable.js"
import * as ModernConnect from "../modern/Connect.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import * as Opening from "../session/Opening.js"
import * as KnownVersions from "./KnownVersions.js"
import * as Plan from "./Plan.js"
import * as Probe from "./Probe.js"

/** How long the client waits for the answer to a probe before it also sends `initialize`. */
const PROBE_TIMEOUT = Duration.seconds(5)

/** How long a server on a pipe that has answered the probe may need for `initialize` before the client connects again. */
const HANDSHAKE_TIMEOUT = Duration.seconds(15)

/**
 * How long the client waits in two cases. First, after a connection that has ended by itself, because a part of the server may still hold a
 * lock. Second, before it sends `initialize` again to a server that limits how many requests it serves in a time.
 */
const PAUSE = Duration.seconds(1)

const INITIALIZE = "initialize"

interface Self<R> {
  readonly connector: Connector<R>
  readonly options: Options
  readonly known: KnownVersions.KnownVersionsService
}

/** A connection that is open and has no session yet. */
interface Reached {
  readonly opening: Opening.Opening
  readonly close: Effect.Effect<void>
  /** The description of a modern server that arrived after the client had given up the probe; `undefined` when no description arrived. */
  readonly late: Effect.Effect<ServerFacts<ModernVersion> | undefined>
}

/** A session, or the event that an action has led to. */
type Attempt = Either.Either<NegotiatedSession, readonly [Reached, Plan.Event]>

/** Opens a session. Connects at most twice. Dies when the client has no revision. */
export const connect = <R>(
  connector: Connector<R>,
  options: Options
): Effect.Effect<NegotiatedSession, ConnectError, R | Scope.Scope> =>
  options.versions.some(Version.isLegacy) || options.versions.some(Version.isModern)
    // The annotation also applies to what the session logs later, on fibers that begin here.
    ? Effect.annotateLogs(
      Effect.flatMap(KnownVersions.current, (known) => negotiate({ connector, options, known })),
      "server",
      connector.name
    )
    : Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)

const negotiate = Effect.fnUntraced(function*<R>(self: Self<R>) {
  let reached = yield* open(self)
  const facts = factsOf(self, reached.opening)
  let [state, action] = Plan.begin(facts)
  let attempt = yield* perform(self, reached, action)
  while (Either.isLeft(attempt)) {
    const [now, event] = attempt.left
    reached = now
    ;[state, action] = Plan.step(facts, state, event)
    attempt = yield* perform(self, reached, action)
  }
  const session = attempt.right
  yield* conclude(self, Plan.contact(state, facts, session.facts.version), session.facts)
  return session
})

const factsOf = <R>(
  { connector, known, options: { prior, versions } }: Self<R>,
  { transport }: Opening.Opening
): Plan.Facts => {
  const { exchanges } = transport
  const hasExchanges = exchanges !== undefined
  return {
    versions,
    legacy: versions.filter(Version.isLegacy),
    modern: versions.filter(Version.isModern),
    prior,
    known: known.of(connector),
    hasExchanges,
    isResumed: exchanges?.isResumed === true,
    canReconnect: !hasExchanges && connector.connectsAgain !== false,
    canLogIn: exchanges?.canLogIn === true
  }
}

const perform = <R>(
  self: Self<R>,
  reached: Reached,
  action: Plan.Action
): Effect.Effect<Attempt, ConnectError, R | Scope.Scope> => {
  switch (action._tag) {
    case "Probe":
      return probe(self, reached, action)
    case "Handshake":
      return handshake(self, reached, action)
    case "Open":
      return Effect.map(toModern(self, reached, action.facts), Either.right)
    case "Reconnect":
      return reconnect(self, reached, action)
    case "Fail":
      return Effect.fail(action.error)
  }
}

const open = Effect.fnUntraced(function*<R>({ connector, known, options }: Self<R>) {
  const scope = yield* EffectInternals.childOf(yield* Effect.scope)
  const transport = yield* Scope.extend(connector.connect, scope)
  const opening = yield* Scope.extend(Opening.open(transport, LegacyMethodTable.notifications, options), scope)
  yield* Scope.addFinalizer(
    scope,
    Effect.sync(() => {
      // When the server comes back, it may be another server.
      if (opening.isOver()) known.forget(connector)
    })
  )
  const reached: Reached = { opening, close: ScopeEnd.close(scope, Exit.void), late: Effect.succeed(undefined) }
  return reached
})

const reconnect = <R>(
  self: Self<R>,
  reached: Reached,
  { error, pauses }: Extract<Plan.Action, { readonly _tag: "Reconnect" }>
): Effect.Effect<Attempt, never, R | Scope.Scope> =>
  reached.close.pipe(
    Effect.zipRight(pauses ? Effect.sleep(PAUSE) : Effect.void),
    Effect.zipRight(open(self)),
    Effect.match({
      onFailure: () => Either.left([reached, { _tag: "NotReconnected", error }]),
      onSuccess: (again) => Either.left([again, { _tag: "Reconnected" }])
    })
  )

const probe = <R>(
  { options }: Self<R>,
  reached: Reached,
  action: Plan.Probe
): Effect.Effect<Attempt> => {
  const { version } = action
  const { opening } = reached
  const { follow, hub: { report }, skipped } = opening
  const answer = MutableRef.make<Message.Response | undefined>(undefined)
  const late = Effect.suspend(() => {
    const response = MutableRef.get(answer)
    return response === undefined || !Message.isSuccess(response)
      ? Effect.succeed(undefined)
      : Effect.map(
        Probe.ofResult(response.result, version, report),
        (verdict) => verdict._tag === "Modern" ? verdict.facts : undefined
      )
  })
  const probing = Probe.discover(ModernConnect.enveloped(opening, options, version), version, {
    timeout: action.isPatient ? options.timeout : probeTimeout(options),
    // Over HTTP, a request is cancelled when its exchange ends. On a pipe, a legacy server does not support the notification that cancels.
    cancelOnAbandon: opening.transport.exchanges !== undefined,
    onId: follow((response) => MutableRef.set(answer, response))
  }, report)
  return Effect.map(
    probing,
    (verdict) =>
      Either.left([{ ...reached, late }, { _tag: "Probed", probe: action, verdict, skipped: { ...skipped } }])
  )
}

/** Returns how long the client waits for the answer to a probe. The wait is shorter when the client can also make the handshake. */
const probeTimeout = ({ timeout, timeouts, versions }: Options): Duration.DurationInput =>
  timeouts.get(Probe.DISCOVER) ?? (isDual(versions) ? shorter(PROBE_TIMEOUT, timeout) : timeout)

const handshake = <R>(
  { options }: Self<R>,
  reached: Reached,
  { patience, pauses, takesLate, version }: Plan.Handshake
): Effect.Effect<Attempt> => {
  const { late, opening } = reached
  const timeouts = new Map(options.timeouts).set(INITIALIZE, handshakeTimeout(options, patience))
  const versions = options.versions.filter(Version.isLegacy)
  const attempt = (pauses ? Effect.sleep(PAUSE) : Effect.void).pipe(
    Effect.zipRight(LegacyConnect.connect(opening, { ...options, versions, timeouts }, version)),
    Effect.ensuring(Effect.sync(opening.unfollow)),
    Effect.match({
      onFailure: (error): Attempt =>
        Either.left([reached, { _tag: "HandshakeFailed", error, skipped: { ...opening.skipped } }]),
      onSuccess: (session): Attempt => Either.right(session)
    })
  )
  return takesLate
    // A server that was slow to start may have answered the probe before it answers `initialize`.
    ? Effect.flatMap(
      attempt,
      (attempt) =>
        Effect.map(
          late,
          (facts): Attempt => facts === undefined ? attempt : Either.left([reached, { _tag: "DescribedLate", facts }])
        )
    )
    : attempt
}

const handshakeTimeout = (options: Options, patience: Plan.Patience): Duration.DurationInput => {
  const own = options.timeouts.get(INITIALIZE) ?? options.timeout
  switch (patience) {
    case "full":
      return own
    case "answering":
      return shorter(HANDSHAKE_TIMEOUT, own)
    case "silent":
      return shorter(probeTimeout(options), own)
  }
}

const toModern = <R>({ options }: Self<R>, { opening }: Reached, facts: ServerFacts<ModernVersion>) => {
  opening.unfollow()
  return ModernConnect.connect(opening, ModernConnect.enveloped(opening, options, facts.version), facts, options)
}

/** Remembers the revision if it is certain. Logs the revision of the session, and why the session has it. */
const conclude = <R>(
  { connector, known, options: { versions } }: Self<R>,
  { evidence, why }: Plan.Contact,
  { version }: ServerFacts
): Effect.Effect<void> => {
  if (isDual(versions) && evidence !== "given" && evidence !== "guess") {
    known.remember(connector, version, evidence === "relaunch")
  }
  const isUnsure = evidence !== "given" && evidence !== "answer"
  return Effect.annotateLogs((isUnsure ? Effect.logInfo : Effect.logDebug)("Connected to a server"), {
    revision: version,
    era: Version.eraOf(version),
    why
  })
}

const isDual = (versions: ReadonlyArray<Version.Version>): boolean =>
  versions.some(Version.isLegacy) && versions.some(Version.isModern)

const shorter = (one: Duration.DurationInput, other: Duration.DurationInput): Duration.Duration =>
  Duration.min(Duration.decode(one), Duration.decode(other))
