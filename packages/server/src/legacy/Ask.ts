/**
 * Questions in the legacy era: each is a request to the client, on the channel of the request whose handler asks. The
 * handler waits for the answer.
 */
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Telemetry from "@effect-mcp/protocol/unstable/Telemetry"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Question } from "../Ask.js"
import type { AskError } from "../ServerSession.js"
import type { Connection } from "./Connection.js"

const methods = {
  elicit: Methods.elicit,
  sample: Methods.createMessage,
  roots: Methods.listRoots
} as const

/**
 * Asks one question. Fails without a request when the client lacks the capability, or when the question is not valid.
 */
export const ask = <A>(
  { clientCapabilities, version }: Connection,
  outbound: Outbound,
  { decode, kind, params, problem, requires }: Question<A>,
  options?: RequestOptions
): Effect.Effect<A, AskError> =>
  Effect.suspend(() => {
    const method = methods[kind] as Method.Request<string, JsonObject, unknown>
    const missing = Capabilities.missing(clientCapabilities, requires)
    if (missing !== undefined) return Effect.fail(new McpError.MissingClientCapability({ required: missing }))
    if (problem !== undefined) {
      return Effect.fail(new McpError.InternalError({ message: `"${method.name}" cannot be sent: ${problem}` }))
    }
    const narrowed = method.narrowParams(version)(params) as JsonObject
    return Effect.matchEffect(
      Effect.contextWithEffect((context: Context.Context<never>) =>
        outbound.request(method.name, traced(narrowed, context), options)
      ),
      {
        onFailure: (error): Effect.Effect<A, AskError> => Effect.fail(fromCall(error)),
        onSuccess: (answer: Params) => {
          const result = method.decodeResult(answer)
          return Either.isLeft(result)
            ? Effect.fail(invalid(method.name, Issue.sentence(result.left.issue)))
            : Effect.mapError(decode(result.right), (why) => invalid(method.name, why))
        }
      }
    )
  })

/** Adds the trace context of the handler's current span, if it has one. */
const traced = (params: JsonObject, context: Context.Context<never>): JsonObject =>
  Option.match(Context.getOption(context, Tracer.ParentSpan), {
    onNone: () => params,
    onSome: (span) => ({ ...params, _meta: { ...(params._meta as JsonObject | undefined), ...Telemetry.inject(span) } })
  })

/** Waits until the client has answered a `ping`. */
export const ping = (outbound: Outbound): Effect.Effect<void, AskError> =>
  Effect.asVoid(Effect.mapError(outbound.request(Methods.ping.name), fromCall))

const fromCall = (error: JsonRpcError | Exclude<AskError, McpError.McpError>): AskError =>
  error instanceof JsonRpcError ? McpError.fromWire(error) : error

const invalid = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The client's answer to "${method}" is not valid: ${why}` })
