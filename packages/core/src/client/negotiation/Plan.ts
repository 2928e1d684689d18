/**
 * Decides what a client does next while it finds out the protocol era of its server. A client of both eras first sends `server/discover`
 * (the probe), except when it already has a hint about the era. A server that describes itself is modern. After any other outcome of the
 * probe, the client sends `initialize` on the same connection. If this handshake fails, too, and the connection is a pipe, the server may
 * have stopped working because of the probe. Therefore the client connects a second time, and begins with the handshake.
 *
 * - `begin`: what does the client do first?
 * - `step`: what does the client do after an outcome, and with which error does it give up?
 * - `contact`: what showed the era, and how certain is it?
 *
 * In each function, the first condition that holds decides. `Negotiation` performs the actions; the functions here are pure.
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
  /** All revisions of the client. `legacy` and `modern` are those of one era, the oldest first. */
  readonly versions: ReadonlyArray<Version.Version>
  readonly legacy: ReadonlyArray<Version.LegacyVersion>
  readonly modern: ReadonlyArray<Version.ModernVersion>
  /** What the application has said about the server (option `prior`). */
  readonly prior: ServerFacts | undefined
  /** The revision on which an earlier connection agreed. */
  readonly known: Version.Version | undefined
  /** Whether each request has an exchange of its own, as over HTTP. Otherwise the connection is a pipe. */
  readonly hasExchanges: boolean
  /** Whether the connection continues a session that an earlier connection has begun. */
  readonly isResumed: boolean
  readonly canReconnect: boolean
  readonly canLogIn: boolean
}

/** What the client does now, and why. */
export type State =
  /** The client makes the handshake, because there is no other possibility. */
  | { readonly _tag: "Only" }
  /** The client opens the modern session that the option `prior` describes. */
  | { readonly _tag: "Prior" }
  /** The client makes the handshake with a server that was legacy before. */
  | { readonly _tag: "Known" }
  /** The client has sent a probe first. */
  | { readonly _tag: "Looking" }
  /**
   * The client makes the handshake, because the probe led to no session. `isSecond`: the server has refused the handshake that came right
   * after the probe.
   */
  | { readonly _tag: "Trying"; readonly verdict: NotModern; readonly isSecond: boolean }
  /** The client connects once more, and makes the handshake on that connection. */
  | { readonly _tag: "Again"; readonly verdict: NotModern }
  /**
   * The client has sent a probe, because the server refused the handshake with `error`. `verdict` is the verdict of an earlier probe, if
   * there was one.
   */
  | { readonly _tag: "Instead"; readonly verdict: NotModern | undefined; readonly error: ConnectError }

type NotModern = Legacy | Failed

export type Action =
  | Probe
  | Handshake
  /** Opens a modern session. */
  | { readonly _tag: "Open"; readonly facts: ServerFacts<Version.ModernVersion> }
  /**
   * Connects again, after a pause if `pauses` is `true` (the connection had ended by itself). `error` is the reason why the first
   * connection has no session.
   */
  | { readonly _tag: "Reconnect"; readonly pauses: boolean; readonly error: ConnectError }
  | { readonly _tag: "Fail"; readonly error: ConnectError }

export interface Probe {
  readonly _tag: "Probe"
  readonly version: Version.ModernVersion
  /** Whether the server has named this revision in its answer to a probe. */
  readonly isNamed: boolean
  /** Whether the client waits for the answer as long as for any request, because there is nothing else to try. */
  readonly isPatient: boolean
}

export interface Handshake {
  readonly _tag: "Handshake"
  /** The revision that the client requests. The server may answer with any other legacy revision of the client. */
  readonly version: Version.LegacyVersion
  readonly patience: Patience
  /** Whether the client still accepts an answer to the probe that comes before the outcome of the handshake. */
  readonly takesLate: boolean
  /** Whether the client waits before it sends the request. */
  readonly pauses: boolean
}

/**
 * How long the client waits for the answer to `initialize`. It waits less than for other requests when it can connect again.
 *
 * - `full`: as long as for any request.
 * - `answering`: a shorter time, because the server has answered the probe.
 * - `silent`: as long as the client has waited for the answer to the probe, which did not come.
 */
export type Patience = "full" | "answering" | "silent"

/** The outcome of an action. `skipped` is the input that was skipped before the request had its outcome. */
export type Event =
  | { readonly _tag: "Probed"; readonly probe: Probe; readonly verdict: Verdict; readonly skipped: Skipped }
  | { readonly _tag: "HandshakeFailed"; readonly error: ConnectError; readonly skipped: Skipped }
  /** The server has described itself after the client had given up the probe. */
  | { readonly _tag: "DescribedLate"; readonly facts: ServerFacts<Version.ModernVersion> }
  | { readonly _tag: "Reconnected" }
  /** The client could not connect again. `error` is the error of the action `Reconnect`. */
  | { readonly _tag: "NotReconnected"; readonly error: ConnectError }

type Next = readonly [State, Action]

export const begin = ({ isResumed, known, legacy, modern, prior }: Facts): Next => {
  const latest = modern.at(-1)
  // Only a legacy session can outlive its connection.
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
  // The client SHOULD retry with a revision that the server names (2026-07-28 basic/versioning).
  if (modern !== undefined && !probe.isNamed) return [state, { ...probe, version: modern, isNamed: true }]
  // A legacy revision can be used only after the handshake.
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
      // A server that has named its legacy revisions has answered the probe in time, so no late answer can come.
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
      // The probe may have used up the number of requests that the server allows for some time.
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

/** Returns the next step when the probe and the handshake did not lead to a session on the first connection. */
const secondTry = (facts: Facts, state: Trying, error: ConnectError): Next => {
  const { verdict } = state
  const pauses = verdict._tag === "Gone" || error._tag === "ConnectionClosed"
  if (facts.canReconnect) return [{ _tag: "Again", verdict }, { _tag: "Reconnect", pauses, error }]
  return verdict._tag === "Legacy" ? fail(state, error) : probeInstead(facts, state, error)
}

/** Sends a probe after a refused handshake, because a server that refuses the handshake may be modern. */
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

/** Makes the handshake on the connection on which the probe was sent. */
const tryingHandshake = ({ canReconnect, legacy }: Facts, verdict: NotModern): Handshake => ({
  ...handshake(verdict._tag === "Legacy" ? verdict.versions ?? legacy : legacy),
  patience: !canReconnect ? "full" : isSilent(verdict) ? "silent" : "answering",
  takesLate: true
})

const isSilent = (verdict: NotModern): boolean => verdict._tag !== "Legacy" && verdict.error._tag === "RequestTimeout"

const verdictOf = (state: State): NotModern | undefined => "verdict" in state ? state.verdict : undefined

/** Returns the legacy revisions that the server has named; `undefined` when it has named none. */
const namedOf = (state: State): ReadonlyArray<Version.LegacyVersion> | undefined => {
  const verdict = verdictOf(state)
  return verdict?._tag === "Legacy" ? verdict.versions : undefined
}

/** Whether the handshake would fail in the same way as the probe. Some servers demand a login only for the probe. */
const isFinal = ({ _tag, error }: Failed, { canLogIn }: Facts): boolean =>
  _tag === "Final" && (canLogIn || !asksForLogin(error))

/** Whether the server has answered, but has refused `initialize`. */
const isRefusal = (error: ConnectError): boolean => !isLocalError(error) || EraEvidence.isOfOtherEra(error)

const asksForLogin = (error: CallError | ConnectError): boolean =>
  error._tag === "TransportError" && EraEvidence.asksForLogin(error.cause)

const isModern = (
  prior: ServerFacts | undefined,
  modern: ReadonlyArray<Version.ModernVersion>
): prior is ServerFacts<Version.ModernVersion> => modern.some((version) => version === prior?.version)

/** What showed the revision of the server. */
export interface Contact {
  /** The reason, in words for the log. */
  readonly why: string
  /**
   * - `given`: the application has said it, or there is no choice.
   * - `answer`: an answer of the server has shown its era.
   * - `silence`: the server did not answer the probe, and then made the handshake.
   * - `guess`: nothing that the server did shows its era.
   * - `relaunch`: the server made the handshake only on a connection on which no probe came first.
   */
  readonly evidence: "given" | "answer" | "silence" | "guess" | "relaunch"
}

/** Returns what showed that the server supports the revision of the session. */
export const contact = (state: State, { hasExchanges }: Facts, version: Version.Version): Contact => {
  if (state._tag === "Only") return { why: "the client has no other choice", evidence: "given" }
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

/**
 * Gives up with an error. When the connection has ended after the probe and after the handshake, the error stays as it is, because it
 * already says why. The message of any other error also says what the outcome of the probe was.
 */
const fail = (state: State, error: ConnectError): Next => {
  const verdict = verdictOf(state)
  const isClear = verdict === undefined || (verdict._tag === "Gone" && error._tag === "ConnectionClosed")
  return [state, { _tag: "Fail", error: isClear ? error : explained(error, whyOf(verdict)) }]
}

/** How many revisions of the server an error names. */
const MAX_NAMED = 20

const noCommonVersion = (offered: string, supported: ReadonlyArray<string>): NoCommonVersion =>
  new NoCommonVersion({ offered, supported })

/**
 * Returns the same error with a message that also says what the outcome of the probe was. When a login is needed, the message says only
 * that, because a login is needed in both eras.
 */
const explained = (error: ConnectError, why: string): ConnectError => {
  if (error._tag === "NoCommonVersion" || asksForLogin(error)) return error
  const advice = "If you know a revision that the server supports, name it with the option `versions`"
  const message = `The server opened no session. ${advice}. The outcome of "server/discover" was: ${why}. ` +
    `The outcome of "initialize" was: ${error.message}`
  return withMessage(error, message)
}

/**
 * Adds to the error of a timeout which unreadable input of the server the client skipped before the timeout, because this input may be the
 * missing answer.
 */
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
