/**
 * Answers the input requests of a modern server with the client's features. The answers are narrowed as the results of the
 * legacy requests are. A handler gets the same `RequestContext`, whose `id` is the server's key of the input request;
 * progress and notifications have no way to a modern server and are dropped. A handler that dies fails the call, and is
 * reported: what a server asks must not end the program that calls it.
 */
import { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import type { RequestMeta } from "@effect-mcp/protocol/Meta"
import type * as Method from "@effect-mcp/protocol/Method"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { FeatureHandler, FeaturesService } from "../Features.js"
import type { RequestContextService } from "../RequestContext.js"
import { RequestContext } from "../RequestContext.js"
import type { Report } from "../session/Decoding.js"
import * as FeatureAnswers from "../session/FeatureAnswers.js"
import type * as InputRounds from "./InputRounds.js"

/** `declared` are the capabilities that the client has declared to the server. */
export const make = (
  features: FeaturesService,
  declared: ClientCapabilities,
  version: ModernVersion,
  report: Report
): InputRounds.Options["answer"] => {
  const { roots, sampling } = features
  const died = (method: string, cause: Cause.Cause<never>): Effect.Effect<never, McpError.McpError> =>
    Effect.zipRight(
      report(Diagnostic.HandlerDied({ method, cause })),
      Effect.fail(
        new McpError.InternalError({ message: "its handler died, and `diagnostics` or the log has the cause" })
      )
    )
  return (key, request) => {
    const answered = (
      method: Method.Request,
      feature: Pick<FeatureHandler<unknown>, "context"> | undefined,
      answer: Effect.Effect<any, McpError.McpError, any>
    ): Effect.Effect<unknown, McpError.McpError> =>
      Effect.mapInputContext(
        Effect.scoped(answer) as Effect.Effect<unknown, McpError.McpError>,
        (caller: Context.Context<never>) =>
          Context.add(
            Context.merge(
              caller,
              Context.omit(Scope.Scope)((feature?.context ?? Context.empty()) as Context.Context<any>)
            ),
            RequestContext,
            requestContext(key, request)
          )
      ).pipe(
        Effect.flatMap((value) =>
          method.isResult(value)
            ? Effect.succeed(method.narrowResult(version)(value))
            : Effect.dieMessage(`The handler of "${method.name}" returned an invalid result`)
        ),
        Effect.catchAllCause((cause) =>
          Cause.isDie(cause) && !Cause.isInterrupted(cause)
            ? died(method.name, cause as Cause.Cause<never>)
            : Effect.failCause(cause)
        )
      )
    switch (request.method) {
      case "sampling/createMessage":
        return sampling === undefined
          ? unsupported(request.method)
          : answered(InputRequired.createMessage, sampling, FeatureAnswers.sample(sampling, declared, request.params))
      case "elicitation/create":
        return answered(InputRequired.elicit, undefined, FeatureAnswers.elicit(features, declared, request.params))
      case "roots/list":
        return roots === undefined
          ? unsupported(request.method)
          : answered(InputRequired.listRoots, roots, FeatureAnswers.listRoots(roots))
    }
  }
}

const unsupported = (method: string) => Effect.fail(new McpError.MethodNotFound({ method }))

const requestContext = (id: string, { method, params }: InputRequired.InputRequest): RequestContextService => ({
  id,
  method,
  meta: ((params as JsonObject | undefined)?._meta ?? {}) as RequestMeta,
  cancelReason: Effect.succeedNone,
  progress: () => Effect.void,
  notify: () => Effect.void
})
