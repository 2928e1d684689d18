/**
 * What a client answers in the legacy era, where the server asks by requests: `ping`, what its features can do, and to
 * anything else that it does not know it. Each answer runs on a fiber of its own, which the server may cancel.
 *
 * @since 0.1.0
 */
import type { Request } from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { IncomingRequest, Work } from "@effect-mcp/jsonrpc/Side"
import type { ElicitFormParams, ElicitResult } from "@effect-mcp/protocol/Elicitation"
import type { ElicitParams, ElicitUrlParams } from "@effect-mcp/protocol/legacy/Elicitation"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Sampling from "@effect-mcp/protocol/Sampling"
import * as ElicitationForm from "@effect-mcp/protocol/unstable/ElicitationForm"
import * as ToolUseRules from "@effect-mcp/protocol/unstable/ToolUseRules"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Scope from "effect/Scope"
import type { Answer, FeaturesService, Kept } from "../Features.js"
import { RequestContext } from "../RequestContext.js"
import { LegacyRequestContext } from "./RequestContext.js"

/**
 * How a request of the server's is answered. `version` is the revision that was agreed on.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  features: FeaturesService,
  version: () => LegacyVersion
): (request: Request, exchange: IncomingRequest) => Work => {
  const answers = new Map<string, Route>(routes(features).map((route) => [route.method.name, route]))
  return (request, exchange) => {
    const custom = features.custom.get(request.method)
    if (custom !== undefined) return work(custom, custom.handler(request.params), request, exchange, version, undefined)
    const route = answers.get(request.method)
    if (route === undefined) return refuse(new McpError.MethodNotFound({ method: request.method.slice(0, MAX_NAME) }))
    const params = route.method.decodeParams(request.params)
    return Either.isLeft(params)
      ? refuse(McpError.ofIssue(params.left.issue))
      : work(route.kept, Effect.suspend(() => route.answer(params.right)), request, exchange, version, route.method)
  }
}

const MAX_NAME = 128

interface Route {
  readonly method: Method.Request
  readonly kept: Kept<unknown>
  readonly answer: (params: any) => Effect.Effect<unknown, McpError.McpError, any>
}

const routes = ({ form, roots, sampling, url }: FeaturesService): ReadonlyArray<Route> => [
  { method: Methods.ping, kept: nothing, answer: () => Effect.succeed({}) },
  ...(sampling === undefined ? [] : [{
    method: Methods.createMessage,
    kept: sampling,
    answer: (params: Sampling.CreateMessageParams) => sample(sampling, params)
  }]),
  ...(form === undefined && url === undefined ? [] : [{
    method: Methods.elicit,
    // One method with two handlers: each brings the context of its own layer.
    kept: nothing,
    answer: (params: ElicitParams) => elicit(form, url, params)
  }]),
  ...(roots === undefined ? [] : [{
    method: Methods.listRoots,
    kept: roots,
    answer: () => Effect.map(roots.handler, (roots) => ({ roots }))
  }])
]

const nothing: Kept<unknown> = { handler: undefined, context: Context.empty() }

const sample = (
  { handler, tools }: NonNullable<FeaturesService["sampling"]>,
  params: Sampling.CreateMessageParams
): Effect.Effect<Sampling.CreateMessageResult, McpError.McpError, any> => {
  if (!tools && Sampling.capability(params) === "sampling.tools") {
    return refused("This client does not support tools in sampling")
  }
  const problem = ToolUseRules.problem(params.messages)
  return problem === undefined ? handler(params) : refused(`Message ${problem.at}: ${problem.message}`)
}

const elicit = (
  form: FeaturesService["form"],
  url: FeaturesService["url"],
  params: ElicitParams
): Effect.Effect<ElicitResult, McpError.McpError, any> => {
  if (isPage(params)) {
    return url === undefined
      ? refused("This client does not support elicitation by a page")
      : inContext(url, Effect.map(url.handler(params), (action) => ({ action })))
  }
  if (form === undefined) return refused("This client does not support elicitation by a form")
  return inContext(form, Effect.flatMap(form.handler(params), (answer) => filledIn(params, answer)))
}

const isPage = (params: ElicitParams): params is ElicitUrlParams => params.mode === "url"

const filledIn = (
  { requestedSchema }: ElicitFormParams,
  answer: Answer
): Effect.Effect<ElicitResult> => {
  if (answer.action !== "accept") return Effect.succeed({ action: answer.action })
  return Either.match(
    ElicitationForm.check(requestedSchema, ElicitationForm.withDefaults(requestedSchema, answer.content)),
    {
      onLeft: (places) =>
        Effect.dieMessage(
          `The answer to a form does not fit it: ${places.map(({ message, path }) => `${path}: ${message}`).join("; ")}`
        ),
      onRight: (content) => Effect.succeed({ action: "accept", content })
    }
  )
}

const inContext = <A>(
  { context }: Kept<unknown>,
  effect: Effect.Effect<A, McpError.McpError, any>
): Effect.Effect<A, McpError.McpError> =>
  Effect.mapInputContext(
    effect as Effect.Effect<A, McpError.McpError>,
    (question: Context.Context<never>) => Context.merge(context, question)
  )

const refused = (message: string): Effect.Effect<never, McpError.InvalidParams> =>
  Effect.fail(new McpError.InvalidParams({ message }))

const work = (
  { context }: Kept<unknown>,
  answer: Effect.Effect<unknown, McpError.McpError, any>,
  request: Request,
  exchange: IncomingRequest,
  version: () => LegacyVersion,
  method: Method.Request | undefined
): Work => ({
  effect: Effect.scoped(answer) as Effect.Effect<unknown, unknown>,
  context: Context.add(
    Context.omit(Scope.Scope)(context as Context.Context<any>),
    RequestContext,
    new LegacyRequestContext(request, exchange)
  ),
  reply: (exit) => {
    if (exit._tag === "Failure") return failed(exit.cause)
    if (method === undefined) return { result: exit.value as {} }
    return method.isResult(exit.value)
      ? { result: method.narrowResult(version())(exit.value) as {} }
      : Outcome.died(Cause.die(new Error(`The answer to "${method.name}" is something else than its result`)))
  }
})

const failed = (cause: Cause.Cause<unknown>): Outcome.Outcome => {
  const failures = Cause.isDie(cause) ? [] : [...Cause.failures(cause)]
  const [failure] = failures.filter(McpError.isMcpError)
  return failure === undefined ? Outcome.died(cause) : { error: McpError.toWire(failure, "legacy") }
}

const refuse = (error: McpError.McpError): Work => ({
  effect: Effect.fail(error),
  reply: () => ({ error: McpError.toWire(error, "legacy") })
})
