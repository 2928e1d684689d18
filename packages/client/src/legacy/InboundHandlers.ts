/**
 * Answers the requests of a legacy server: `ping`, those that the client's features handle, and all others with "Method
 * not found", also those that the agreed revision does not have. Each runs on a fiber of its own, which the server may
 * cancel; while it runs, the timeouts of the client's calls stand still. Answers are narrowed to the agreed revision.
 */
import type { Conversation } from "@effect-mcp/jsonrpc/Conversation"
import type { Request } from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { IncomingRequest, Work } from "@effect-mcp/jsonrpc/Side"
import { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { ElicitParams } from "@effect-mcp/protocol/legacy/Elicitation"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import type { CreateMessageParams } from "@effect-mcp/protocol/Sampling"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { FeatureHandler, FeaturesService } from "../Features.js"
import * as Features from "../Features.js"
import { RequestContext } from "../RequestContext.js"
import * as Decoding from "../session/Decoding.js"
import * as FeatureAnswers from "../session/FeatureAnswers.js"
import { LegacyRequestContext } from "./RequestContext.js"

export interface Options {
  readonly features: FeaturesService
  readonly extensions: ExtensionTable.ExtensionTable
  /** The agreed revision; before the handshake, the requested one. */
  readonly version: () => LegacyVersion
  /** Whether questions are refused that come while no call waits for its answer. */
  readonly refuseUnassociated: boolean
  readonly report: Decoding.Report
  readonly conversation: Pick<Conversation, "pauseTimeouts" | "pending">
}

/** How a request of the server is answered. */
export const make = (options: Options): (request: Request, incoming: IncomingRequest) => Work => {
  const { conversation, extensions, features, refuseUnassociated, report } = options
  const routesOf = routes(features)
  return (request, incoming) => {
    const version = options.version()
    const work = (
      feature: FeatureHandler<unknown>,
      answer: Effect.Effect<unknown, McpError.McpError, any>,
      reply: (value: unknown) => Outcome.Outcome
    ): Work => ({
      effect: Effect.scoped(answer) as Effect.Effect<unknown, unknown>,
      context: Context.add(
        Context.omit(Scope.Scope)(feature.context as Context.Context<any>),
        RequestContext,
        new LegacyRequestContext(request, incoming, version)
      ),
      reply: Exit.match({ onFailure: failed, onSuccess: reply })
    })
    const custom = features.custom.get(request.method)
    const isOwn = custom?.request === undefined || ExtensionTable.has(extensions, custom.request, version)
    if (custom !== undefined && isOwn) {
      return work(custom, custom.handler(request.params), (value) => ({ result: value as {} }))
    }
    const route = routesOf(version).get(request.method)
    if (route === undefined) return refuse(new McpError.MethodNotFound({ method: request.method.slice(0, MAX_NAME) }))
    const { answer, feature, method } = route
    const { mended, value: params } = Decoding.decode(method.name, method.decodeParams, request.params)
    if (Either.isLeft(params)) return refuse(McpError.ofIssue(params.left.issue))
    const handling = Effect.suspend(() => answer(params.right))
    const answering = mended === undefined ? handling : Effect.zipRight(report(mended), handling)
    const reply = (value: unknown) => encode(method, value, version)
    if (method === Methods.ping) return work(feature, answering, reply)
    return refuseUnassociated && conversation.pending() === 0
      ? refuse(new McpError.InvalidParams({ message: `"${method.name}" belongs to no request of this client` }))
      // The server cannot answer a call while it waits for the answer to a question of its own.
      : work(feature, conversation.pauseTimeouts(answering), reply)
  }
}

/** How much of the name of an unknown method is repeated to the server. */
const MAX_NAME = 128

interface Route {
  readonly method: Method.Request
  readonly feature: FeatureHandler<unknown>
  readonly answer: (params: any) => Effect.Effect<unknown, McpError.McpError, any>
}

/** The routes of a revision, by method: those that it has, and whose capability the client declares to such a server. */
const routes = (features: FeaturesService): (version: LegacyVersion) => ReadonlyMap<string, Route> => {
  const compiled: Partial<Record<LegacyVersion, ReadonlyMap<string, Route>>> = {}
  return (version) =>
    compiled[version] ??= new Map(
      routesOf(
        features,
        Narrow.compile(ClientCapabilities, version)(Features.capabilities(features)) as ClientCapabilities
      )
        .filter(({ method }) => Method.isIn(method, version))
        .map((route) => [route.method.name, route])
    )
}

const routesOf = (
  features: FeaturesService,
  declared: ClientCapabilities
): ReadonlyArray<Route> => {
  const { roots, sampling } = features
  return [
    { method: Methods.ping, feature: noFeature, answer: () => Effect.succeed({}) },
    ...(sampling === undefined ? [] : [{
      method: Methods.createMessage,
      feature: sampling,
      answer: (params: CreateMessageParams) => FeatureAnswers.sample(sampling, declared, params)
    }]),
    ...(declared.elicitation === undefined ? [] : [{
      method: Methods.elicit,
      // One method with two handlers: each brings the context of its own layer.
      feature: noFeature,
      answer: (params: ElicitParams) => FeatureAnswers.elicit(features, declared, params)
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
