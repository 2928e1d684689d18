/**
 * What a client does next while it looks for the era of its server. A client of both eras sends `server/discover` first, unless it knows
 * the era. A server that describes itself is modern. Whatever else becomes of that probe, the client sends `initialize` on the same
 * connection. When the handshake fails as well, and the connection is a pipe, the client connects once more and begins with the handshake:
 * the probe may have brought the server into a state that it does not leave.
 *
 * - `begin`: what does the client do first?
 * - `step`: what does the client do after the outcome of an action, and with which error does the client give up?
 * - `contact`: what showed the era, and how sure is it?
 *
 * The first condition that holds decides. `Negotiation` performs the actions; nothing here has effects.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import { isLocalError } from "../../jsonrpc/LocalError.js"
import type { CallError } from "../../jsonrpc/Outbound.js"
import * as Version from "../../protocol/Version.js"
import { type ConnectError, fromCall, NoCommonVersion } from "../ClientError.js"
import * as EraEvidence from "../http/EraEvidence.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"
import type { Skipped } from "../session/Opening.js"
import type { Failed, Legacy, Verdict } from "./Probe.js"

/** What the client knows before it sends anything. */
export interface Facts {
  /** All revisions of the client; `legacy` and `modern` are the revisions of one era. */
  readonly versions: ReadonlyArray<Version.Version>
  readonly legacy: ReadonlyArray<Version.LegacyVersion>
  readonly modern: ReadonlyArray<Version.ModernVersion>
  /** What the application knows of the server. */
  readonly prior: ServerFacts | undefined
  /** The revision that an earlier connection has shown. */
  readonly known: Version.Version | undefined
  /** Whether each request has an exchange of its own, as over HTTP. Otherwise the connection is a pipe. */
  readonly hasExchanges: boolean
  /** Whether the connection goes on with a session that an earlier connection began. */
  readonly isResumed: boolean
  readonly canReconnect: boolean
  readonly canLogIn: boolean
}

/** What the client is doing, and why. */
export type State =
  /** The client makes the only handshake that there can be. */
  | { readonly _tag: "Only" }
  /** It speaks the modern era that the option `prior` names. */
  | { readonly _tag: "Prior" }
  /** It makes the handshake with a server that was legacy before. */
  | { readonly _tag: "Known" }
  /** It has sent a probe first. */
  | { readonly _tag: "Looking" }
  /** It makes the handshake, because the probe made no session. `isSecond`: the server has refused a handshake that came right after the probe. */
  | { readonly _tag: "Trying"; readonly verdict: NotModern; readonly isSecond: boolean }
  /** It connects once more and makes the handshake there. */
  | { readonly _tag: "Again"; readonly verdict: NotModern }
  /** It has sent a probe, because the server refused the handshake with `error`. `verdict` is that of the probe before, if there was one. */
  | { readonly _tag: "Instead"; readonly verdict: NotModern | undefined; readonly error: ConnectError }

type NotModern = Legacy | Failed

export type Action =
  | Probe
  | Handshake
  /** Opens a modern session. */
  | { readonly _tag: "Open"; readonly facts: ServerFacts<Version.ModernVersion> }
  /** Connects again; `pauses` when the connection had ended by itself. `error` is why the first connection has no session. */
  | { readonly _tag: "Reconnect"; readonly pauses: boolean; readonly error: ConnectError }
  | { readonly _tag: "Fail"; readonly error: ConnectError }

export interface Probe {
  readonly _tag: "Probe"
  readonly version: Version.ModernVersion
  /** Whether the server has named this revision in its answer to a probe. */
  readonly isNamed: boolean
  /** Whether the client waits as long as for any request: there is nothing else to try. */
  readonly isPatient: boolean
}

export interface Handshake {
  readonly _tag: "Handshake"
  /** The revision that the client asks for. The server may answer with any other legacy revision of the client. */
  readonly version: Version.LegacyVersion
  readonly patience: Patience
  /** Whether an answer to the probe counts that comes before the outcome of the handshake. */
  readonly takesLate: boolean
  /** Whether the client waits before it sends the request. */
  readonly pauses: boolean
}

/**
 * How long the client waits for the answer to `initialize`. It waits less than for other requests when it can connect again:
 *
 * - `full`: as long as for any request
 * - `answering`: the server has answered the probe
 * - `silent`: the server did not answer the probe, so the client waits only as long as it has waited for that answer
 */
export type Patience = "full" | "answering" | "silent"

/** The outcome of an action. `skipped` is the input that had been skipped when the request came to its end. */
export type Event =
  | { readonly _tag: "Probed"; readonly probe: Probe; readonly verdict: Verdict; readonly skipped: Skipped }
  | { readonly _tag: "HandshakeFailed"; readonly error: ConnectError; readonly skipped: Skipped }
  /** The server described itself after the client had given up the probe. */
  | { readonly _tag: "DescribedLate"; readonly facts: ServerFacts<Version.ModernVersion> }
  | { readonly _tag: "Reconnected" }
  /** The client could not connect again. `error` is that of the action. */
  | { readonly _tag: "NotReconnected"; readonly error: ConnectError }

type Next = readonly [State, Action]

export const begin = ({ isResumed, known, legacy, modern, prior }: Facts): Next => {
  const latest = modern.at(-1)
  // Only a legacy session outlives its connection.
  if (latest === undefined || (legacy.length > 0 && isResumed)) return [{ _tag: "Only" }, handshake(legacy)]
  if (isModern(prior, modern)) return [{ _tag: "Prior" }, { _tag: "Open", facts: prior }]
  const expected = prior?.version ?? known
  if (legacy.some((version) => version === expected)) return [{ _tag: "Known" }, handshake(legacy)]
  return [{ _tag: "Looking" }, probe(modern.find((version) => version === expected) ?? latest)]
}

export const step = (facts: Facts, state: State, event: Event): Next => {
  switch (event._tag) {
    case "Probed":
      return afterProbe(facts, state, event)
    case "HandshakeFailed":
      return afterHandshake(facts, state, withSkipped(event.error, event.skipped))
    case "DescribedLate":
      return [state, { _tag: "Open", facts: event.facts }]
    case "Reconnected":
      return [state, handshake(namedOf(state) ?? facts.legacy)]
    case "NotReconnected":
      return fail(state, event.error)
  }
}

const afterProbe = (facts: Facts, state: State, event: Extract<Event, { readonly _tag: "Probed" }>): Next => {
  const { probe, skipped, verdict } = event
  if (verdict._tag === "Modern") return [state, { _tag: "Open", facts: verdict.facts }]
  if (verdict._tag !== "OtherVersions") return notModern(facts, state, verdict, skipped)
  const { supported } = verdict
  const modern = facts.modern.filter((version) => supported.includes(version)).at(-1)
  const versions = facts.legacy.filter((version) => supported.includes(version))
  const named = supported.slice(0, MAX_NAMED).join(", ")
  // SHOULD retry with a revision that the server names (2026-07-28 basic/versioning)
  if (modern !== undefined && !probe.isNamed) return [state, { ...probe, version: modern, isNamed: true }]
  // A legacy revision can only be spoken after the handshake.
  if (versions.length > 0) {
    return notModern(facts, state, { _tag: "Legacy", why: `it supports ${named}`, versions }, skipped)
  }
  return fail(state, noCommonVersion(named, facts.versions))
}

const notModern = (facts: Facts, state: State, verdict: NotModern, skipped: Skipped): Next => {
  const { legacy, modern } = facts
  const named = verdict._tag === "Legacy" ? verdict.versions : undefined
  if (state._tag === "Instead") return named === undefined ? fail(state, state.error) : [state, handshake(named)]
  if (verdict._tag === "Legacy") {
    return legacy.length === 0
      ? fail(state, noCommonVersion(`a legacy revision (${verdict.why})`, modern))
      // A server that has named its legacy revisions has answered the probe in time.
      : [trying(verdict), { ...tryingHandshake(facts, verdict), takesLate: named === undefined }]
  }
  const error = fromCall(verdict.error)
  if (legacy.length === 0) return fail(state, withSkipped(error, skipped))
  if (isFinal(verdict, facts)) return fail(state, error)
  if (verdict._tag === "Gone") return secondTry(facts, trying(verdict), error)
  return [trying(verdict), tryingHandshake(facts, verdict)]
}

const afterHandshake = (facts: Facts, state: State, error: ConnectError): Next => {
  switch (state._tag) {
    case "Trying":
      if (error._tag === "NoCommonVersion") return fail(state, error)
      // The probe may have used up what the server allows in a time.
      return facts.hasExchanges && !state.isSecond && EraEvidence.mayPass(error)
        ? [{ ...state, isSecond: true }, { ...tryingHandshake(facts, state.verdict), pauses: true }]
        : secondTry(facts, state, error)
    case "Again":
      return state.verdict._tag === "Legacy" ? fail(state, error) : probeInstead(facts, state, error)
    case "Known":
      return probeInstead(facts, state, error)
    default:
      return fail(state, error)
  }
}

/** Neither the probe nor the handshake made a session on the first connection. */
const secondTry = (facts: Facts, state: Trying, error: ConnectError): Next => {
  const { verdict } = state
  const pauses = verdict._tag === "Gone" || error._tag === "ConnectionClosed"
  if (facts.canReconnect) return [{ _tag: "Again", verdict }, { _tag: "Reconnect", pauses, error }]
  return verdict._tag === "Legacy" ? fail(state, error) : probeInstead(facts, state, error)
}

/** A server that has refused the handshake may be modern. */
const probeInstead = ({ modern }: Facts, state: State, error: ConnectError): Next => {
  const latest = modern.at(-1)
  if (latest === undefined || !isRefusal(error)) return fail(state, error)
  const isPatient = state._tag === "Trying"
  return [{ _tag: "Instead", verdict: verdictOf(state), error }, { ...probe(latest), isPatient }]
}

type Trying = Extract<State, { readonly _tag: "Trying" }>

const trying = (verdict: NotModern): Trying => ({ _tag: "Trying", verdict, isSecond: false })

const probe = (version: Version.ModernVersion): Probe => ({ _tag: "Probe", version, isNamed: false, isPatient: false })

const handshake = (versions: ReadonlyArray<Version.LegacyVersion>): Handshake => ({
  _tag: "Handshake",
  version: versions.reduce((latest, version) => version > latest ? version : latest),
  patience: "full",
  takesLate: false,
  pauses: false
})

/** The handshake on the connection on which the probe was sent. */
const tryingHandshake = ({ canReconnect, legacy }: Facts, verdict: NotModern): Handshake => ({
  ...handshake(verdict._tag === "Legacy" ? verdict.versions ?? legacy : legacy),
  patience: !canReconnect ? "full" : isSilent(verdict) ? "silent" : "answering",
  takesLate: true
})

const isSilent = (verdict: NotModern): boolean => verdict._tag !== "Legacy" && verdict.error._tag === "RequestTimeout"

const verdictOf = (state: State): NotModern | undefined => "verdict" in state ? state.verdict : undefined

/** The legacy revisions that the server has named. */
const namedOf = (state: State): ReadonlyArray<Version.LegacyVersion> | undefined => {
  const verdict = verdictOf(state)
  return verdict?._tag === "Legacy" ? verdict.versions : undefined
}

/** Whether the handshake would fail in the same way. Some servers ask for a login only when they get the probe. */
const isFinal = ({ _tag, error }: Failed, { canLogIn }: Facts): boolean =>
  _tag === "Final" && (canLogIn || !asksForLogin(error))

/** Whether the server answered, and did not take the request for `initialize`. */
const isRefusal = (error: ConnectError): boolean => !isLocalError(error) || EraEvidence.isOfOtherEra(error)

const asksForLogin = (error: CallError | ConnectError): boolean =>
  error._tag === "TransportError" && EraEvidence.asksForLogin(error.cause)

const isModern = (
  prior: ServerFacts | undefined,
  modern: ReadonlyArray<Version.ModernVersion>
): prior is ServerFacts<Version.ModernVersion> => modern.some((version) => version === prior?.version)

/** What a session is taken from. */
export interface Contact {
  /** For the log. */
  readonly why: string
  /**
   * - `given`: by the application, or there is no choice
   * - `answer`: the server has shown its era
   * - `silence`: the server did not answer the probe, and then made the handshake
   * - `guess`: nothing that the server did shows its era
   * - `relaunch`: the server made the handshake only when no probe came right before it
   */
  readonly evidence: "given" | "answer" | "silence" | "guess" | "relaunch"
}

/** What showed that the server speaks the revision on which a session was opened. */
export const contact = (state: State, { hasExchanges }: Facts, version: Version.Version): Contact => {
  if (state._tag === "Only") return { why: "the client has no other", evidence: "given" }
  if (state._tag === "Prior") return { why: "the option `prior`", evidence: "given" }
  if (state._tag === "Looking") return { why: "the server described itself", evidence: "answer" }
  const verdict = verdictOf(state)
  if (verdict === undefined) return { why: "an earlier connection", evidence: "answer" }
  const why = `the outcome of "server/discover" was: ${whyOf(verdict)}`
  if (Version.isModern(version)) return { why, evidence: "answer" }
  if (hasExchanges && verdict._tag !== "Legacy") return { why, evidence: "guess" }
  if (state._tag !== "Trying") return { why, evidence: "relaunch" }
  return { why, evidence: verdict._tag === "Legacy" ? "answer" : "silence" }
}

const whyOf = (verdict: NotModern): string =>
  verdict._tag === "Legacy" ? verdict.why : verdict._tag === "Gone" ? "the connection ended" : verdict.error.message

/** When a program ends whatever it is sent, its own error says why. Every other error also says what became of the probe. */
const fail = (state: State, error: ConnectError): Next => {
  const verdict = verdictOf(state)
  const isClear = verdict === undefined || (verdict._tag === "Gone" && error._tag === "ConnectionClosed")
  return [state, { _tag: "Fail", error: isClear ? error : explained(error, whyOf(verdict)) }]
}

/** How many of the server's revisions an error names. */
const MAX_NAMED = 20

const noCommonVersion = (offered: string, supported: ReadonlyArray<string>): NoCommonVersion =>
  new NoCommonVersion({ offered, supported })

/**
 * The same error, with a message that also says what became of the probe. When a login is needed, the message says only that, whatever the
 * era is.
 */
const explained = (error: ConnectError, why: string): ConnectError => {
  if (error._tag === "NoCommonVersion" || asksForLogin(error)) return error
  const advice = "If you know a revision that the server speaks, name it with the option `versions`"
  const message = `The server opened no session. ${advice}. The outcome of "server/discover" was: ${why}. ` +
    `The outcome of "initialize" was: ${error.message}`
  return withMessage(error, message)
}

/** A time-out also says what had been skipped until then. What the server sends later cannot be the reason for the time-out. */
const withSkipped = (error: ConnectError, { count, first }: Skipped): ConnectError => {
  if (error._tag !== "RequestTimeout" || count === 0) return error
  const quoted = first === undefined
    ? ""
    : `; the first begins with "${first.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")}"`
  const said = `Inputs of the server that were not messages and were skipped: ${count}${quoted}`
  return withMessage(error, `${error.message}. ${said}`)
}

const withMessage = (error: ConnectError, message: string): ConnectError => {
  const Same = error.constructor as new(fields: object) => ConnectError
  return new Same({ ...error, message })
}
