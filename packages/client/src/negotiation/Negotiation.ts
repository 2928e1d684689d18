/**
 * Opens a session in the era that client and server have in common. A client of both eras sends `server/discover` first,
 * unless it knows the era. A modern server describes itself. A refusal means the handshake of the legacy era, and so does
 * the silence or the end of a program that was launched for this client. A server that cannot be reached shows no era.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import { isLocalError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError, Outbound } from "@effect-mcp/jsonrpc/Outbound"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as ErrorCodes from "@effect-mcp/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Meta from "@effect-mcp/protocol/Meta"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type ConnectError, fromCall, NoCommonVersion } from "../ClientError.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as Legacy from "../legacy/Connect.js"
import * as LegacyMethodTable from "../legacy/MethodTable.js"
import * as Modern from "../modern/Connect.js"
import * as Decoding from "../session/Decoding.js"
import type { NegotiatedSession, Options, ServerFacts } from "../session/NegotiatedSession.js"
import type { Opening } from "../session/Opening.js"
import * as Openings from "../session/Opening.js"
import { KnownVersions } from "./KnownVersions.js"

/** How long a server at the other end of a pipe may be silent before the client tries the handshake. */
const PROBE_TIMEOUT = Duration.seconds(5)

/** How many of the server's revisions an error names. */
const MAX_NAMED = 20

type Session<E = ConnectError> = Effect.Effect<NegotiatedSession, E, Scope.Scope>

/** The outcome of a probe that made no session. */
class NotModern extends Data.TaggedError("NotModern")<{ readonly verdict: Legacy | Unknown }> {}

/** May connect a second time. Dies when the client has no revision. */
export const connect = <R>(
  connector: Connector<R>,
  options: Options
): Effect.Effect<NegotiatedSession, ConnectError, R | Scope.Scope> => {
  const legacy = options.versions.filter(Version.isLegacy)
  const modern = options.versions.filter(Version.isModern)
  const { prior } = options
  const latest = modern.at(-1)
  const isDual = legacy.length > 0 && latest !== undefined

  const open = Effect.gen(function*() {
    const scope = yield* Edition.childOf(yield* Effect.scope)
    const transport = yield* Scope.extend(connector.connect, scope)
    const opening = yield* Scope.extend(Openings.open(transport, LegacyMethodTable.notifications, options), scope)
    const known = yield* KnownVersions
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        // The server may be another one when it comes back.
        if (opening.isOver()) known.forget(connector)
      })
    )
    return { opening, close: Scope.close(scope, Exit.void) }
  })

  const handshake = (opening: Opening, versions = legacy): Session => Legacy.connect(opening, { ...options, versions })

  const probe = (
    opening: Opening,
    version: Version.ModernVersion,
    isFirst = true
  ): Session<ConnectError | NotModern> => {
    const outbound = Modern.enveloped(opening, options, version)
    const timeout = options.timeouts.get(DISCOVER) ??
      (isDual && !hasExchanges(opening) ? shorter(PROBE_TIMEOUT, options.timeout) : options.timeout)
    return Effect.flatMap(
      discover(outbound, version, timeout, opening.hub.report),
      (verdict): Session<ConnectError | NotModern> => {
        if (verdict._tag === "Modern") return Modern.connect(opening, outbound, verdict.facts, options)
        if (verdict._tag !== "OtherVersions") return new NotModern({ verdict })
        const { supported } = verdict
        const again = modern.filter((version) => supported.includes(version)).at(-1)
        // SHOULD retry with a revision that the server names (2026-07-28 basic/versioning)
        if (again !== undefined && isFirst) return probe(opening, again, false)
        // A legacy revision can only be spoken after the handshake.
        const common = legacy.filter((version) => supported.includes(version))
        return common.length > 0
          ? handshake(opening, common)
          : Effect.fail(noCommonVersion(supported.slice(0, MAX_NAMED).join(", "), options.versions))
      }
    )
  }

  /** The handshake with a server that has not shown its era now. When it refuses the handshake, it may be modern. */
  const assumed = (opening: Opening): Session =>
    Effect.catchIf(
      handshake(opening),
      isRefusal,
      (error) =>
        latest === undefined ?
          Effect.fail(error) :
          Effect.catchTag(probe(opening, latest), "NotModern", () => Effect.fail(error))
    )

  const negotiate = Effect.gen(function*() {
    const known = yield* KnownVersions
    const { close, opening } = yield* open
    // Only a legacy session outlives its connection.
    if (latest === undefined || (isDual && opening.transport.isResumed === true)) return yield* handshake(opening)
    if (isModern(prior, modern)) {
      return yield* Modern.connect(opening, Modern.enveloped(opening, options, prior.version), prior, options)
    }
    const expected = prior?.version ?? known.of(connector)
    // A server that is silent may only be slow: the next one is probed again.
    let isGuess = false
    const session = yield* legacy.some((version) => version === expected)
      ? assumed(opening)
      : Effect.catchTag(
        probe(opening, modern.find((version) => version === expected) ?? latest),
        "NotModern",
        ({ verdict }): Effect.Effect<NegotiatedSession, ConnectError, R | Scope.Scope> => {
          if (verdict._tag === "Legacy") {
            return isDual
              ? handshake(opening)
              : Effect.fail(noCommonVersion(`a legacy revision (${verdict.why})`, modern))
          }
          const error = fromCall(verdict.error)
          const isSilent = error._tag === "RequestTimeout" && !hasExchanges(opening)
          if (isDual && (isSilent || EraEvidence.isHidden(verdict.error))) {
            isGuess = true
            return assumed(opening)
          }
          // Some legacy servers exit when the first request is not `initialize`.
          if (isDual && error._tag === "ConnectionClosed" && !hasExchanges(opening)) {
            const again = Effect.filterOrFail(
              open,
              // A connector of one transport cannot connect a second time.
              (again) => again.opening.transport !== opening.transport,
              () => error
            )
            return Effect.zipRight(
              close,
              Effect.flatMap(Effect.orElseFail(again, () => error), (again) => assumed(again.opening))
            )
          }
          return Effect.fail(error)
        }
      )
    if (isDual && !isGuess) known.remember(connector, session.facts.version)
    return session
  })

  return latest === undefined && legacy.length === 0
    ? Effect.dieMessage(`This client implements none of the revisions ${options.versions.join(", ")}`)
    : negotiate
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

const DISCOVER = Methods.discover.name

/** What the outcome shows. */
export type Verdict =
  /** The server is modern and supports the revision. */
  | { readonly _tag: "Modern"; readonly facts: ServerFacts<ModernVersion> }
  /** The server is modern, or of both eras, and supports only these revisions. */
  | { readonly _tag: "OtherVersions"; readonly supported: ReadonlyArray<string> }
  | Legacy
  | Unknown

/** The server did not answer as a modern one. */
interface Legacy {
  readonly _tag: "Legacy"
  readonly why: string
}

/** Nothing is known of the era: the server could not be reached, did not answer, or refused this client. */
interface Unknown {
  readonly _tag: "Unknown"
  readonly error: CallError
}

/** Sends the request. `outbound` writes the envelope of `version`. Never cancels it: a legacy server does not know it. */
export const discover = (
  outbound: Outbound,
  version: ModernVersion,
  timeout: Duration.DurationInput,
  report: Decoding.Report
): Effect.Effect<Verdict> =>
  Effect.matchEffect(outbound.request(DISCOVER, undefined, { timeout, cancelOnAbandon: false }), {
    onFailure: (error) => Effect.succeed(ofError(error)),
    onSuccess: (result) =>
      Effect.match(
        Decoding.decodeOrFail(DISCOVER, Methods.discover.decodeResult, result, report),
        {
          onFailure: (): Verdict => ({ _tag: "Legacy", why: "its answer to \"server/discover\" describes no server" }),
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
              : { _tag: "OtherVersions", supported }
        }
      )
  })

const ofError = (error: CallError): Verdict => {
  if (!(error instanceof JsonRpcError)) {
    const isAnswered = EraEvidence.isOfOtherEra(error) || (error._tag === "TransportError" && error.reason === "Decode")
    return isAnswered ? { _tag: "Legacy", why: error.message } : { _tag: "Unknown", error }
  }
  if (!ErrorCodes.isModernOnly(error.code)) return { _tag: "Legacy", why: error.message }
  const known = McpError.fromWire(error)
  return known._tag === "UnsupportedVersion"
    ? { _tag: "OtherVersions", supported: known.supported }
    : { _tag: "Unknown", error }
}

/** A modern server need not name itself. */
const unnamed = { name: "unknown", version: "unknown" }
