/**
 * Answers the requests of a legacy server: `ping`, those that the client's features handle, and all others with "Method
 * not found". Each runs on a fiber of its own, which the server may cancel. Answers are narrowed to the agreed revision.
 */
import type { Request } from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { IncomingRequest, Work } from "@effect-mcp/jsonrpc/Side"
import type { ElicitParams } from "@effect-mcp/protocol/legacy/Elicitation"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import type { CreateMessageParams } from "@effect-mcp/protocol/Sampling"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { FeatureHandler, FeaturesService } from "../Features.js"
import { RequestContext } from "../RequestContext.js"
import * as Decoding from "../session/Decoding.js"
import * as FeatureAnswers from "../session/FeatureAnswers.js"
import { LegacyRequestContext } from "./RequestContext.js"

/** How a request of the server is answered. `version` gives the agreed revision. */
export const make = (
  features: FeaturesService,
  version: () => LegacyVersion,
  report: Decoding.Report
): (request: Request, incoming: IncomingRequest) => Work => {
  const routes = new Map<string, Route>(routesOf(features).map((route) => [route.method.name, route]))
  return (request, incoming) => {
    const work = (
      feature: FeatureHandler<unknown>,
      answer: Effect.Effect<unknown, McpError.McpError, any>,
      reply: (value: unknown) => Outcome.Outcome
    ): Work => ({
      effect: Effect.scoped(answer) as Effect.Effect<unknown, unknown>,
      context: Context.add(
        Context.omit(Scope.Scope)(feature.context as Context.Context<any>),
        RequestContext,
        new LegacyRequestContext(request, incoming)
      ),
      reply: Exit.match({ onFailure: failed, onSuccess: reply })
    })
    const custom = features.custom.get(request.method)
    if (custom !== undefined) {
      return work(custom, custom.handler(request.params), (value) => ({ result: value as {} }))
    }
    const route = routes.get(request.method)
    if (route === undefined) return refuse(new McpError.MethodNotFound({ method: request.method.slice(0, MAX_NAME) }))
    const { answer, feature, method } = route
    const { mended, value: params } = Decoding.decode(method.name, method.decodeParams, request.params)
    if (Either.isLeft(params)) return refuse(McpError.ofIssue(params.left.issue))
    const handling = Effect.suspend(() => answer(params.right))
    return work(
      feature,
      mended === undefined ? handling : Effect.zipRight(report(mended), handling),
      (value) => encode(method, value, version())
    )
  }
}

/** How much of the name of an unknown method is repeated to the server. */
const MAX_NAME = 128

interface Route {
  readonly method: Method.Request
  readonly feature: FeatureHandler<unknown>
  readonly answer: (params: any) => Effect.Effect<unknown, McpError.McpError, any>
}

const routesOf = (features: FeaturesService): ReadonlyArray<Route> => {
  const { form, roots, sampling, url } = features
  return [
    { method: Methods.ping, feature: noFeature, answer: () => Effect.succeed({}) },
    ...(sampling === undefined ? [] : [{
      method: Methods.createMessage,
      feature: sampling,
      answer: (params: CreateMessageParams) => FeatureAnswers.sample(sampling, params)
    }]),
    ...(form === undefined && url === undefined ? [] : [{
      method: Methods.elicit,
      // One method with two handlers: each brings the context of its own layer.
      feature: noFeature,
      answer: (params: ElicitParams) => FeatureAnswers.elicit(features, params)
    }]),
    ...(roots === undefined ? [] : [{
      method: Methods.listRoots,
      feature: roots,
      answer: () => FeatureAnswers.listRoots(roots)
    }])
  ]
}

const noFeature: FeatureHandler<unknown> = { handler: undefined, context: Context.empty() }

const encode = (method: Method.Request, value: unknown, version: LegacyVersion): Outcome.Outcome =>
  method.isResult(value)
    ? { result: method.narrowResult(version)(value) as {} }
    : Outcome.died(Cause.die(new Error(`The handler of "${method.name}" returned an invalid result`)))

const failed = (cause: Cause.Cause<unknown>): Outcome.Outcome => {
  const failures = Cause.isDie(cause) ? [] : [...Cause.failures(cause)]
  const [failure] = failures.filter(McpError.isMcpError)
  return failure === undefined ? Outcome.died(cause) : { error: McpError.toWire(failure, "legacy") }
}

const refuse = (error: McpError.McpError): Work => ({
  effect: Effect.fail(error),
  reply: () => ({ error: McpError.toWire(error, "legacy") })
})
