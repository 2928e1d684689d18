/**
 * Asks the features of a client for the answer, when a server requests sampling, input of the user, or the roots. The answers are the same
 * in both protocol eras. A legacy server sends requests, which `legacy/InboundHandlers` answers. A modern server puts input requests into a
 * result; `modern/Connect` answers them with this module, and `modern/InputRounds` sends the answers with the next request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type ClientCapabilities, declares } from "../../protocol/Capabilities.js"
import * as Elicitation from "../../protocol/Elicitation.js"
import * as McpError from "../../protocol/McpError.js"
import type { ListRootsResult } from "../../protocol/Roots.js"
import * as ElicitationForm from "../../protocol/rules/ElicitationForm.js"
import * as ToolUseRules from "../../protocol/rules/ToolUseRules.js"
import * as Sampling from "../../protocol/Sampling.js"
import * as SchemaCheck from "../../protocol/schema/SchemaCheck.js"
import type { Answer, FeatureHandler, FeaturesService, UrlElicitation } from "../ClientFeatures.js"

/** Samples from a model. `declared` are the capabilities of the client. Dies when the answer breaks a rule of tool use. */
export const sample = (
  { handler }: NonNullable<FeaturesService["sampling"]>,
  declared: ClientCapabilities,
  params: Sampling.CreateMessageParams
): Effect.Effect<Sampling.CreateMessageResult, McpError.McpError, any> => {
  if (!declares(declared, Sampling.capability(params))) {
    return invalidParams("This client does not support tools in sampling")
  }
  const problem = ToolUseRules.problem(params.messages)
  if (problem !== undefined) return invalidParams(`Message ${problem.at}: ${problem.message}`)
  return Effect.tap(handler(params), (answer) => {
    // An answer that is not a message at all is refused later, with other invalid results.
    const broken = isMessage(answer)
      ? ToolUseRules.problemOfAnswer(answer, params.toolChoice)
      : undefined
    return broken === undefined
      ? Effect.void
      : Effect.dieMessage(`The answer to "sampling/createMessage" breaks a rule of tool use: ${broken}`)
  })
}

/** Shows a form to the user or lets the user open a page. The method has two handlers, and each runs in the context of its own layer. */
export const elicit = (
  { form, url }: Pick<FeaturesService, "form" | "url">,
  declared: ClientCapabilities,
  params: Elicitation.ElicitFormParams | UrlElicitation
): Effect.Effect<Elicitation.ElicitResult, McpError.McpError, any> => {
  const capability = Elicitation.capability(params)
  if (!declares(declared, capability)) return invalidParams(`This client does not declare "${capability}"`)
  return isUrl(params)
    ? inContext(url!, Effect.map(url!.handler(params), (action) => ({ action })))
    : inContext(form!, Effect.flatMap(form!.handler(params), (answer) => elicitResult(params, answer)))
}

const isUrl = (params: Elicitation.ElicitFormParams | UrlElicitation): params is UrlElicitation => params.mode === "url"

/** Lists the roots of the client. */
export const listRoots = (
  { handler }: NonNullable<FeaturesService["roots"]>
): Effect.Effect<ListRootsResult, McpError.McpError, any> => Effect.map(handler, (roots) => ({ roots }))

/** Adds the defaults of the form to an answer. Dies when the answer does not fit the form. */
const elicitResult = (
  { requestedSchema }: Elicitation.ElicitFormParams,
  answer: Answer
): Effect.Effect<Elicitation.ElicitResult> => {
  if (answer.action !== "accept") return Effect.succeed({ action: answer.action })
  return Either.match(
    ElicitationForm.check(requestedSchema, ElicitationForm.withDefaults(requestedSchema, answer.content)),
    {
      onLeft: (issues) =>
        Effect.dieMessage(
          `The answer to a form does not fit it: ${issues.map(({ message, path }) => `${path}: ${message}`).join("; ")}`
        ),
      onRight: (content) => Effect.succeed({ action: "accept", content })
    }
  )
}

const inContext = <A>(
  { context }: FeatureHandler<unknown>,
  effect: Effect.Effect<A, McpError.McpError, any>
): Effect.Effect<A, McpError.McpError> =>
  Effect.mapInputContext(
    effect as Effect.Effect<A, McpError.McpError>,
    (request: Context.Context<never>) => Context.merge(context, request)
  )

const invalidParams = (message: string): Effect.Effect<never, McpError.InvalidParams> =>
  Effect.fail(new McpError.InvalidParams({ message }))

const isMessage = SchemaCheck.compile(Sampling.CreateMessageResult)
