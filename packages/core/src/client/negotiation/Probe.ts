/**
 * Sends `server/discover` to a server, so that the server describes itself, for `Negotiation`. This module reads from the outcome which
 * protocol era the server supports. `Plan` decides what follows.
 */
import * as Effect from "effect/Effect"
import { JsonRpcError } from "../../jsonrpc/JsonRpcError.js"
import type * as Message from "../../jsonrpc/Message.js"
import type { CallError, Outbound, RequestOptions } from "../../jsonrpc/Outbound.js"
import * as ErrorCodes from "../../protocol/ErrorCodes.js"
import * as McpError from "../../protocol/McpError.js"
import * as Meta from "../../protocol/Meta.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type { LegacyVersion, ModernVersion } from "../../protocol/Version.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as Decoding from "../session/Decoding.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"

export const DISCOVER = Methods.discover.name

/** What the outcome of a probe shows. */
export type Verdict =
  /** The server is modern and supports the revision. */
  | { readonly _tag: "Modern"; readonly facts: ServerFacts<ModernVersion> }
  /** The server supports the modern era (and perhaps also the legacy era), but only in these revisions. */
  | { readonly _tag: "OtherVersions"; readonly supported: ReadonlyArray<string> }
  | Legacy
  | Failed

/** The server did not answer as a modern server does, or it supports only these legacy revisions. */
export interface Legacy {
  readonly _tag: "Legacy"
  readonly why: string
  readonly versions?: ReadonlyArray<LegacyVersion>
}

/**
 * - `Inconclusive`: the outcome shows nothing about the era. No answer came in time, the exchange failed, or the answer cannot be used.
 * - `Gone`: the connection has ended.
 * - `Final`: `initialize` would fail in the same way, because a login is needed, because the request was not sent, or because a modern
 *   server refuses. If a login is needed and the connector has no authorizer, the client sends `initialize` nevertheless.
 */
export interface Failed {
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

export const ofResult = (
  result: Message.Params,
  version: ModernVersion,
  report: Decoding.Report
): Effect.Effect<Verdict> =>
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
    // The error should name the supported revisions. When it does not, it says nothing about the era.
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

/** The facts of a modern server that does not name itself, which is allowed. */
const unnamed = { name: "unknown", version: "unknown" }
