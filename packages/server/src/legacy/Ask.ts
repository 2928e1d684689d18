/**
 * Questions in the legacy era: each is a request to the client, on the channel of the request whose handler asks. The
 * handler waits for the answer.
 */
import { JsonRpcError, METHOD_NOT_FOUND } from "@effect-mcp/jsonrpc/JsonRpcError"
import { RequestTimeout, TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { CallError, Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import * as Issue from "@effect-mcp/protocol/Issue"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import * as Telemetry from "@effect-mcp/protocol/unstable/Telemetry"
import * as Version from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Question } from "../Ask.js"
import type { Server } from "../runtime/Server.js"
import type { AskError } from "../ServerSession.js"
import type { TaskQuestion } from "../TaskStore.js"
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
  connection: Connection,
  outbound: Outbound,
  settings: Settings,
  question: Question<A>,
  options?: RequestOptions
): Effect.Effect<A, AskError> =>
  Effect.suspend(() => {
    const encoded = encode(connection, question)
    if (Either.isLeft(encoded)) return Effect.fail(encoded.left)
    // A person needs longer than a program.
    const timeout = options?.timeout ?? (question.kind === "elicit" ? settings.elicitationTimeout : undefined)
    return Effect.flatMap(
      post(connection, outbound, settings, encoded.right, { ...options, timeout }),
      (answer) => decode(question, answer)
    )
  })

/** Sends the request of a handler, with the trace context of the handler's current span, if it has one. */
export const post = (
  connection: Connection,
  outbound: Outbound,
  settings: Settings,
  { method, params }: TaskQuestion,
  options?: RequestOptions
): Effect.Effect<Params, AskError> =>
  Effect.mapError(
    Effect.contextWithEffect((context: Context.Context<never>) =>
      send(connection, outbound, settings, method, traced(params, context), options)
    ),
    fromCall
  )

/** The request of a question. Left: the client lacks the capability, or the question is not valid. */
export const encode = (
  connection: Connection,
  { kind, params, problem, requires }: Question<any>
): Either.Either<TaskQuestion, McpError.McpError> => {
  const method = methods[kind] as Method.Request
  const missing = Capabilities.missing(connection.clientCapabilities, requires)
  if (missing !== undefined) return Either.left(new McpError.MissingClientCapability({ required: missing }))
  if (problem !== undefined) {
    return Either.left(new McpError.InternalError({ message: `"${method.name}" cannot be sent: ${problem}` }))
  }
  const narrowed = method.narrowParams(connection.version)(params) as JsonObject
  return Either.right({ method: method.name, params: withoutContext(narrowed, connection) })
}

export const decode = <A>({ decode, kind }: Question<A>, answer: JsonObject): Effect.Effect<A, AskError> => {
  const method = methods[kind] as unknown as Method.Request<string, JsonObject, unknown>
  const result = method.decodeResult(answer)
  return Either.isLeft(result)
    ? Effect.fail(invalid(method.name, Issue.sentence(result.left.issue)))
    : Effect.mapError(decode(result.right), (why) => invalid(method.name, why))
}

/** How long requests wait, unless they have a timeout. */
export type Settings = Pick<Server, "elicitationTimeout" | "requestTimeout">

/**
 * Sends a request. SHOULD NOT send one before the client has sent `notifications/initialized`, but for `ping`, so it waits
 * for that first, no longer than for the answer (2025-11-25 basic/lifecycle#initialization).
 */
export const send = (
  connection: Connection,
  outbound: Outbound,
  { requestTimeout }: Settings,
  method: string,
  params?: Params,
  options?: RequestOptions
): Effect.Effect<Params, CallError> =>
  Effect.suspend(() => {
    const known = Methods.table.get(method)
    if (known !== undefined && (!Method.isIn(known, connection.version) || known.from === "client")) {
      const message = `Method not found: revision ${connection.version} has no "${method}" that a server sends`
      return Effect.fail(new JsonRpcError({ code: METHOD_NOT_FOUND, message }))
    }
    const request = Effect.suspend(() => outbound.request(method, params, options))
    if (connection.initialized || connection.scope === undefined || method === Methods.ping.name) return request
    const timeout = Duration.decode(options?.timeout ?? requestTimeout)
    return Effect.zipRight(
      Effect.timeoutFail(connection.awaitInitialized, {
        duration: timeout,
        onTimeout: () => new RequestTimeout({ method, millis: Duration.toMillis(timeout) })
      }),
      request
    )
  })

/**
 * SHOULD NOT ask for the context of servers from a client that does not declare `sampling.context`, since 2025-11-25
 * (client/sampling#capabilities). The default is none.
 */
const withoutContext = (params: JsonObject, { clientCapabilities, version }: Connection): JsonObject => {
  const { includeContext, ...rest } = params
  return includeContext === undefined || includeContext === "none" || !Version.isAtLeast(version, "2025-11-25") ||
      Capabilities.declares(clientCapabilities, "sampling.context")
    ? params
    : rest
}

const traced = (params: JsonObject, context: Context.Context<never>): JsonObject =>
  Option.match(Context.getOption(context, Tracer.ParentSpan), {
    onNone: () => params,
    onSome: (span) => ({ ...params, _meta: { ...(params._meta as JsonObject | undefined), ...Telemetry.inject(span) } })
  })

const fromCall = (error: JsonRpcError | Exclude<AskError, McpError.McpError>): AskError =>
  error instanceof JsonRpcError ? McpError.fromWire(error) : error

export const invalid = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The client's answer to "${method}" is not valid: ${why}` })
