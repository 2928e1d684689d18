/**
 * `prompts/list` and `prompts/get`: finds the prompt that a request names, decodes the arguments, and gives the messages
 * that its handler returns. `Completion` completes the arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Prompt from "../../definition/Prompt.js"
import { ofIssue } from "../../protocol/McpError.js"
import type { PaginatedParams } from "../../protocol/Pagination.js"
import type * as Prompts from "../../protocol/Prompts.js"
import * as ContentRules from "../../protocol/rules/ContentRules.js"
import type * as Completer from "../Completer.js"
import type { RegisteredPrompt, RegistryService } from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerResult from "../runtime/HandlerResult.js"
import * as Route from "../runtime/Route.js"
import * as Completion from "./Completion.js"
import * as PagedList from "./PagedList.js"
import * as Surroundings from "./Surroundings.js"

export const routes = (
  registry: RegistryService,
  options: { readonly pageSize: number }
): ReadonlyArray<Route.Route> => {
  const list = PagedList.serve({
    list: "prompts",
    entries: registry.prompts,
    pageSize: options.pageSize,
    advertised: ({ advertised }) => advertised,
    result: (prompts): Prompts.ListPromptsResult => ({ prompts })
  })
  return [
    {
      method: "prompts/list",
      isTrusted: true,
      isStable: true,
      serve: ({ cursor }: PaginatedParams) => list(cursor)
    },
    {
      method: "prompts/get",
      problem,
      isTrusted: false,
      isStable: false,
      serve: (params: Prompts.GetPromptParams) => {
        const prompt = registry.prompts.get(params.name)
        if (prompt === undefined) return Route.failed(Completion.unknownPrompt(params.name))
        const get = prompt.get(params.arguments ?? {})
        return prompt.around === undefined
          ? { effect: get, context: prompt.context }
          : Surroundings.serve(prompt, get, Effect.fail(Completion.unknownPrompt(params.name)))
      }
    }
  ]
}

/** The registry entry of a prompt, from its definition, its handler and its completers. */
export const entry = (
  definition: Prompt.Prompt.Any,
  handler: (parameters: any) => Effect.Effect<Prompt.Messages, unknown, any>,
  complete: Completer.Completers<string> | undefined,
  context: Context.Context<never>
): RegisteredPrompt => {
  const { advertised, codec, enumValues, name } = definition
  const subject = HandlerName.prompt(name)
  const actor = `The handler of ${subject}`
  return {
    ...Surroundings.ofDefinition(definition),
    advertised,
    context,
    get: (args) =>
      Effect.matchEffect(codec.decode(args as Readonly<Record<string, string>>), {
        onFailure: (issue) => Effect.fail(ofIssue(issue, `arguments for ${subject}`)),
        onSuccess: (parameters) =>
          Effect.map(
            HandlerResult.value(HandlerResult.run(() => handler(parameters), actor), actor),
            (messages) => Prompt.toResult(messages, advertised.description)
          )
      }),
    completers: Completion.completers(complete ?? {}, enumValues, subject)
  }
}

// MUST be base64 with a valid media type (2025-11-25 server/prompts#image-content)
const problem = ({ messages }: Prompts.GetPromptResult): string | undefined => {
  for (const [index, { content }] of messages.entries()) {
    const found = ContentRules.problem(content)
    if (found !== undefined) return `message ${index}: ${found}`
  }
  return undefined
}
