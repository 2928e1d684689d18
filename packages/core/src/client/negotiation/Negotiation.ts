/**
 * Opens a session in the era that client and server have in common. A client of both eras sends `server/discover` first,
 * unless it knows the era. A server that describes itself is modern. Whatever else becomes of that probe, the client sends
 * `initialize` on the same connection. When the handshake fails as well, and the connection is a pipe, the client connects
 * once more and begins with the handshake: the probe may have brought the server into a state that it does not leave.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Connector } from "../../jsonrpc/Connector.js"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import { isLocalError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import type { CallError, Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import * as Edition from "../../kit/Edition.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import * as ErrorCodes from "../../protocol/ErrorCodes.js"
import * as McpError from "../../protocol/McpError.js"
import * as Meta from "../../protocol/Meta.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type { ModernVersion } from "../../protocol/Version.js"
import * as Version from "../../protocol/Version.js"
import { type ConnectError, fromCall, NoCommonVersion } from "../ClientError.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as Legacy from "../legacy/Connect.js"
import * as LegacyMethodTable from "../legacy/MethodTable.js"
import * as Modern from "../modern/Connect.js"
import * as Decoding from "../session/Decoding.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Openings from "../session/Opening.js"
import * as KnownVersions from "./KnownVersions.js"

/** How long the client waits for the answer to a probe before it sends `initialize`, too. */
const PROBE_TIMEOUT = Duration.seconds(5)

/** How long a server on a pipe that has answered the probe may take for `initialize`, before the client connects again. */
const HANDSHAKE_TIMEOUT = Duration.seconds(15)

/** How long the client waits after a connection that has ended by itself: something of the server may still hold a lock. */
const PAUSE = Duration.seconds(1)

/** How many of the server's revisions an error names. */
const MAX_NAMED = 20

type Session<E = ConnectError> = Effect.Effect<NegotiatedSession, E, Scope.Scope>

/** A session, and how it was found. */
interface Contact {
  readonly session: NegotiatedSession
  /** What the era was taken from. */
  readonly why: string
  /**
   * What is remembered: of an `answer` and of a `silence` before the handshake the revision, of `relaunch` also that no probe may come
   * first, and nothing of a `guess` and of what was `given`.
   */
  readonly evidence: "given" | "answer" | "silence" | "guess" | "relaunch"
}

/** The outcome of a probe that made no session. */
interface NotModern {
  readonly verdict: Legacy | Failed
  /** The description of a modern server, if it has come after all. */
  readonly late: Effect.Effect<ServerFacts<ModernVersion> | undefined>
}

/** Connects a second time at most. Dies when the client has no revision. */
export const connect = <R>(
  connector: Connector<R>,
  options: Options
): Effect.Effect<NegotiatedSession, ConnectError, R | Scope.Scope> => {
  const legacy: ReadonlyArray<Version.LegacyVersion> = options.versions.filter(Version.isLegacy)
  const modern = options.versions.filter(Version.isModern)
  const { prior } = options
  const latest = modern.at(-1)
  const isDual = legacy.length > 0 && latest !== undefined

  const open = Effect.gen(function*() {
    const scope = yield* Edition.childOf(yield* Effect.scope)
    const transport = yield* Scope.extend(connector.connect, scope)
    const opening = yield* Scope.extend(Openings.open(transport, LegacyMethodTable.notifications, options), scope)
    const known = yield* KnownVersions.current
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        // The server may be another one when it comes back.
        if (opening.isOver()) known.forget(connector)
      })
    )
    return { opening, close: ScopeEnd.close(scope, Exit.void) }
  })

  const handshake = (opening: Opening, versions = legacy, timeouts = options.timeouts): Session =>
    Legacy.connect(opening, { ...options, versions, timeouts }).pipe(
      Effect.mapError((error) => withSkipped(error, opening)),
      Effect.ensuring(Effect.sync(opening.unfollow))
    )

  const toModern = (opening: Opening, facts: ServerFacts<ModernVersion>): Session<never> => {
    opening.unfollow()
    return Modern.connect(opening, Modern.enveloped(opening, options, facts.version), facts, options)
  }

  const probe = (
    opening: Opening,
    version: ModernVersion,
    timeout: Duration.DurationInput,
    isFirst = true
  ): Effect.Effect<Either.Either<NegotiatedSession, NotModern>, ConnectError, Scope.Scope> =>
    Effect.gen(function*() {
      const { follow, hub: { report } } = opening
      let answer: Message.Response | undefined
      const late = Effect.suspend(() =>
        answer === undefined || !Message.isSuccess(answer)
          ? Effect.succeed(undefined)
          : Effect.map(ofResult(answer.result, version, report), (late) =>
            late._tag === "Modern" ? late.facts : undefined)
      )
      const verdict = yield* discover(Modern.enveloped(opening, options, version), version, {
        timeout,
        // Over HTTP the end of its exchange cancels a request. On a pipe a legacy server does not know the cancel.
        cancelOnAbandon: hasExchanges(opening),
        onId: follow((response) => {
          answer = response
        })
      }, report)
      if (verdict._tag === "Modern") {
        return Either.right(yield* toModern(opening, verdict.facts))
      }
      if (verdict._tag !== "OtherVersions") {
        return Either.left({ late, verdict })
      }
      const { supported } = verdict
      const again = modern.filter((version) =>
        supported.includes(version)
      ).at(-1)
      // SHOULD retry with a revision that the server names (2026-07-28 basic/versioning)
      if (again !== undefined && isFirst) return yield* probe(opening, again, timeout, false)
      // A legacy revision can only be spoken after the handshake.
      const versions = legacy.filter((version) => supported.includes(version))
      const named = supported.slice(0, MAX_NAMED).join(", ")
      return versions.length > 0
        ? Either.left({ late, verdict: { _tag: "Legacy", why: `it supports ${named}`, versions } })
        : yield* noCommonVersion(named, options.versions)
    })

  const patience = options.timeouts.get(DISCOVER) ??
    (isDual ? shorter(PROBE_TIMEOUT, options.timeout) : options.timeout)

  /** A probe of a server that has refused `initialize` with this error. */
  const probeInstead = (opening: Opening, timeout: Duration.DurationInput, error: ConnectError): Session =>
    latest === undefined ? Effect.fail(error) : Effect.flatMap(
      probe(opening, latest, timeout),
      Either.match({
        onLeft: ({ verdict }) =>
          verdict._tag === "Legacy" && verdict.versions !== undefined
            ? handshake(opening, verdict.versions)
            : Effect.fail(error),
        onRight: Effect.succeed
      })
    )

  /** The handshake with a server that has not shown its era now. When it refuses the handshake, it may be modern. */
  const assumed = (opening: Opening): Session =>
    Effect.catchIf(handshake(opening), isRefusal, (error) => probeInstead(opening, patience, error))

  /** The handshake after a probe. A server that was slow to start has answered the probe before it answers `initialize`. */
  const afterProbe = (opening: Opening, { late, verdict }: NotModern): Session => {
    const isAnswered = verdict._tag === "Legacy"
    const own = options.timeouts.get(INITIALIZE) ?? options.timeout
    const timeouts = isAnswered && canReconnect(opening)
      ? new Map(options.timeouts).set(INITIALIZE, shorter(HANDSHAKE_TIMEOUT, own))
      : options.timeouts
    return Effect.flatMap(
      Effect.either(handshake(opening, isAnswered ? verdict.versions : legacy, timeouts)),
      // A server that has named its legacy revisions has described itself in time.
      (outcome) =>
        verdict._tag === "Legacy" && verdict.versions !== undefined
          ? outcome
          : Effect.flatMap(late, (facts) => facts === undefined ? outcome : toModern(opening, facts))
    )
  }

  const canReconnect = (opening: Opening): boolean => !hasExchanges(opening) && connector.connectsAgain !== false

  /** What is left when neither a probe nor `initialize` made a session on the first connection. */
  const onceMore = (
    { close, opening }: Reached,
    verdict: NotModern["verdict"],
    error: ConnectError
  ): Effect.Effect<NegotiatedSession, ConnectError, R | Scope.Scope> => {
    const isAnswered = verdict._tag === "Legacy"
    const hasEnded = verdict._tag === "Gone" || error._tag === "ConnectionClosed"
    if (!canReconnect(opening)) {
      return isAnswered || !isRefusal(error) ? Effect.fail(error) : probeInstead(opening, options.timeout, error)
    }
    return close.pipe(
      Effect.zipRight(hasEnded ? Effect.sleep(PAUSE) : Effect.void),
      Effect.zipRight(Effect.orElseFail(open, () => error)),
      Effect.flatMap(({ opening }) => isAnswered ? handshake(opening, verdict.versions) : assumed(opening))
    )
  }

  /** Finds the era of a server by a probe, and by what is left when the probe does not show it. */
  const look = (
    reached: Reached,
    version: ModernVersion
  ): Effect.Effect<Contact, ConnectError, R | Scope.Scope> =>
    Effect.flatMap(
      probe(reached.opening, version, patience),
      Either.match({
        onRight: (session) =>
          Effect.succeed<Contact>({ session, why: "the server described itself", evidence: "answer" }),
        onLeft: (outcome) => {
          const { verdict } = outcome
          if (!isDual) {
            return Effect.fail(
              verdict._tag === "Legacy"
                ? noCommonVersion(`a legacy revision (${verdict.why})`, modern)
                : withSkipped(fromCall(verdict.error), reached.opening)
            )
          }
          if (verdict._tag === "Final" && !isRefusedLogin(verdict.error, reached.opening)) {
            return Effect.fail(fromCall(verdict.error))
          }
          const why = verdict._tag === "Legacy"
            ? verdict.why
            : verdict._tag === "Gone"
            ? "the connection ended"
            : verdict.error.message
          const contact = (isFirst: boolean) => (session: NegotiatedSession): Contact => ({
            session,
            why: `the outcome of "server/discover" was: ${why}`,
            evidence: Version.isModern(session.facts.version)
              ? "answer"
              : hasExchanges(reached.opening) && verdict._tag !== "Legacy"
              ? "guess"
              : !isFirst
              ? "relaunch"
              : verdict._tag === "Legacy"
              ? "answer"
              : "silence"
          })
          return (verdict._tag === "Gone" ? Effect.fail(fromCall(verdict.error)) : afterProbe(reached.opening, outcome))
            .pipe(
              Effect.map(contact(true)),
              Effect.catchAll((error) =>
                error._tag === "NoCommonVersion"
                  ? Effect.fail(error)
                  : Effect.map(onceMore(reached, verdict, error), contact(false))
              ),
              Effect.mapError((error) =>
                // A program that ends whatever it is sent has said why.
                verdict._tag === "Gone" && error._tag === "ConnectionClosed" ? error : explained(error, why)
              )
            )
        }
      })
    )

  const negotiate = Effect.gen(function*() {
    const known = yield* KnownVersions.current
    const reached = yield* open
    const { opening } = reached
    const expected = prior?.version ?? known.of(connector)
    const by = (why: string, evidence: Contact["evidence"]) => (session: NegotiatedSession): Contact => ({
      session,
      why,
      evidence
    })
    const contact = yield* latest === undefined || (isDual && opening.transport.isResumed === true)
      // Only a legacy session outlives its connection.
      ? Effect.map(handshake(opening), by("the client has no other", "given"))
      : isModern(prior, modern)
      ? Effect.map(toModern(opening, prior), by("the option `prior`", "given"))
      : legacy.some((version) => version === expected)
      ? Effect.map(assumed(opening), by("an earlier connection", "answer"))
      : look(reached, modern.find((version) => version === expected) ?? latest)
    const { evidence, session, why } = contact
    const { version } = session.facts
    if (isDual && evidence !== "given" && evidence !== "guess") {
      known.remember(connector, version, evidence === "relaunch")
    }
    const isUnsure = evidence !== "given" && evidence !== "answer"
    yield* Effect.annotateLogs((isUnsure ? Effect.logInfo : Effect.logDebug)("Connected to a server"), {
      revision: version,
      era: Version.eraOf(version),
      why
    })
    return session
  })

  return latest === undefined && legacy.length === 0
    ? Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)
    // Also for what the session logs later, on fibers that begin here.
    : Effect.annotateLogs(negotiate, "server", connector.name)
}

interface Reached {
  readonly opening: Opening
  readonly close: Effect.Effect<void>
}

const isModern = (
  prior: ServerFacts | undefined,
  modern: ReadonlyArray<Version.ModernVersion>
): prior is ServerFacts<Version.ModernVersion> => modern.some((version) => version === prior?.version)

/** Whether the server answered, and did not take the request for `initialize`. */
const isRefusal = (error: ConnectError): boolean => !isLocalError(error) || EraEvidence.isOfOtherEra(error)

const hasExchanges = ({ transport }: Opening): boolean => transport.hasExchanges === true

const shorter = (one: Duration.DurationInput, other: Duration.DurationInput): Duration.Duration =>
  Duration.min(Duration.decode(one), Duration.decode(other))

const noCommonVersion = (offered: string, supported: ReadonlyArray<string>): NoCommonVersion =>
  new NoCommonVersion({ offered, supported })

/** The same error, with a message that says what became of the probe, too. A login comes first, whatever the era. */
const explained = (error: ConnectError, why: string): ConnectError => {
  if (error._tag === "NoCommonVersion" || asksForLogin(error)) return error
  const advice = "If you know a revision that the server speaks, name it with the option `versions`"
  const message = `The server opened no session. ${advice}. The outcome of "server/discover" was: ${why}. ` +
    `The outcome of "initialize" was: ${error.message}`
  return withMessage(error, message)
}

const withMessage = (error: ConnectError, message: string): ConnectError => {
  const Same = error.constructor as new(fields: object) => ConnectError
  return new Same({ ...error, message })
}

/** A time-out also says what the server sent that is no message. */
const withSkipped = (error: ConnectError, { skipped: { count, first } }: Opening): ConnectError => {
  if (error._tag !== "RequestTimeout" || count === 0) return error
  const quoted = first === undefined
    ? ""
    : `; the first begins with "${first.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")}"`
  const said = `Inputs of the server that were no messages and were skipped: ${count}${quoted}`
  return withMessage(error, `${error.message}. ${said}`)
}

const asksForLogin = (error: CallError | ConnectError): boolean =>
  error._tag === "TransportError" && EraEvidence.asksForLogin(error.cause)

/** Whether the server asks for a login that this client cannot make. Some servers refuse only the probe in this way. */
const isRefusedLogin = (error: CallError, { transport }: Opening): boolean =>
  asksForLogin(error) && !EraEvidence.canLogIn(transport)

const DISCOVER = Methods.discover.name

const INITIALIZE = "initialize"

/** What the outcome of a probe shows. */
export type Verdict =
  /** The server is modern and supports the revision. */
  | { readonly _tag: "Modern"; readonly facts: ServerFacts<ModernVersion> }
  /** The server is modern, or of both eras, and supports only these revisions. */
  | { readonly _tag: "OtherVersions"; readonly supported: ReadonlyArray<string> }
  | Legacy
  | Failed

/** The server did not answer as a modern one, or supports only these legacy revisions. */
interface Legacy {
  readonly _tag: "Legacy"
  readonly why: string
  readonly versions?: ReadonlyArray<Version.LegacyVersion>
}

/**
 * - `Inconclusive`: nothing is known of the era. No answer came in time, the exchange failed, or the answer cannot be used.
 * - `Gone`: the connection has ended.
 * - `Final`: `initialize` would fail in the same way. A login is needed, the request was not sent, or a modern server refuses. The client
 *   sends `initialize` nevertheless when a login is needed and the connector has no authorizer.
 */
interface Failed {
  readonly _tag: "Inconclusive" | "Gone" | "Final"
  readonly error: CallError
}

/** Sends the request. `outbound` writes the envelope of `version`. */
export const discover = (
  outbound: Outbound,
  version: ModernVersion,
  options: RequestOptions & { readonly cancelOnAbandon: boolean },
  report: Decoding.Report
): Effect.Effect<Verdict> =>
  Effect.matchEffect(EraEvidence.patiently(outbound.request(DISCOVER, undefined, options)), {
    onFailure: (error) => Effect.succeed(ofError(error, options.cancelOnAbandon)),
    onSuccess: (result) => ofResult(result, version, report)
  })

const ofResult = (result: Message.Params, version: ModernVersion, report: Decoding.Report): Effect.Effect<Verdict> =>
  Effect.match(Decoding.decodeOrFail(DISCOVER, Methods.discover.decodeResult, result, report), {
    onFailure: ({ message }): Verdict => ({ _tag: "Legacy", why: message }),
    onSuccess: ({ _meta, capabilities, instructions, supportedVersions: supported }): Verdict =>
      supported.includes(version)
        ? {
          _tag: "Modern",
          facts: {
            version,
            serverInfo: _meta?.[Meta.keys.serverInfo] ?? unnamed,
            serverCapabilities: capabilities,
            instructions
          }
        }
        : supported.length === 0
        ? { _tag: "Legacy", why: "the result of \"server/discover\" names no revision" }
        : { _tag: "OtherVersions", supported }
  })

const ofError = (error: CallError, hasExchanges: boolean): Verdict => {
  if (error instanceof JsonRpcError) {
    if (!ErrorCodes.isModernOnly(error.code)) return { _tag: "Legacy", why: error.message }
    const known = McpError.fromWire(error)
    if (known._tag === "UnsupportedVersion") return { _tag: "OtherVersions", supported: known.supported }
    // An error that should name the supported revisions and does not leads nowhere.
    return error.code === ErrorCodes.codes.modern.UnsupportedVersion
      ? { _tag: "Inconclusive", error }
      : { _tag: "Final", error }
  }
  switch (error._tag) {
    case "RequestTimeout":
      return { _tag: "Inconclusive", error }
    case "ConnectionClosed":
      return { _tag: hasExchanges ? "Final" : "Gone", error }
    case "TransportError":
      return EraEvidence.isOfOtherEra(error) || error.reason === "Decode"
        ? { _tag: "Legacy", why: error.message }
        : { _tag: EraEvidence.isFinal(error) ? "Final" : "Inconclusive", error }
    default:
      return { _tag: "Final", error }
  }
}

/** A modern server need not name itself. */
const unnamed = { name: "unknown", version: "unknown" }
