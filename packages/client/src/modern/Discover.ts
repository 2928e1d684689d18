/**
 * The client's first request in the modern era: which revisions the server supports, what it offers, and who it is. Its
 * outcome also shows the era of a server that the client does not know yet.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import type { CallError, Outbound } from "@effect-mcp/jsonrpc/Outbound"
import * as ErrorCodes from "@effect-mcp/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Meta from "@effect-mcp/protocol/Meta"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as EraEvidence from "../http/EraEvidence.js"
import * as Decoding from "../session/Decoding.js"
import type { ServerFacts } from "../session/NegotiatedSession.js"

export const METHOD = Methods.discover.name

/** What the outcome shows. */
export type Verdict =
  /** The server is modern and supports the revision. */
  | { readonly _tag: "Modern"; readonly facts: ServerFacts<ModernVersion> }
  /** The server is modern, or of both eras, and supports only these revisions. */
  | { readonly _tag: "OtherVersions"; readonly supported: ReadonlyArray<string> }
  | Legacy
  | Unknown

/** The server did not answer as a modern one. */
export interface Legacy {
  readonly _tag: "Legacy"
  readonly why: string
}

/** Nothing is known of the era: the server could not be reached, did not answer, or refused this client. */
export interface Unknown {
  readonly _tag: "Unknown"
  readonly error: CallError
}

/** Sends the request. `outbound` writes the envelope of `version`. Never cancels it: a legacy server does not know it. */
export const run = (
  outbound: Outbound,
  version: ModernVersion,
  timeout: Duration.DurationInput,
  report: Decoding.Report
): Effect.Effect<Verdict> =>
  Effect.matchEffect(outbound.request(METHOD, undefined, { timeout, cancelOnAbandon: false }), {
    onFailure: (error) => Effect.succeed(ofError(error)),
    onSuccess: (result) =>
      Effect.match(
        Decoding.decodeOrFail(METHOD, Methods.discover.decodeResult, result, { report, onIssue: identity }),
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
