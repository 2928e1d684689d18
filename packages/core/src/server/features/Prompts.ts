/**
 * Serves `prompts/list` and `prompts/get`: finds the prompt that a request names, decodes the arguments, and gives the messages that the
 * prompt's handler returns. `Completion` completes the arguments. `McpServer.prompt` makes an entry of the `Registry` with this module, and
 * `dispatch/Build` adds its routes to the server.
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
import type { ServerCacheOptions } from "../CacheHints.js"
import type * as Completer from "../Completer.js"
import type { RegisteredPrompt, RegistryService } from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerResult from "../runtime/HandlerResult.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as Route from "../runtime/Route.js"
import * as Completion from "./Completion.js"
import * as PagedList from "./PagedList.js"
import * as Surroundings from "./Surroundings.js"

export const routes = (
  registry: RegistryService,
  options: { readonly pageSize: number; readonly cache?: ServerCacheOptions | undefined }
): ReadonlyArray<Route.Route> => {
  const list = PagedList.serve({
    list: "prompts",
    entries: registry.prompts,
    pageSize: options.pageSize,
    hints: MethodHints.ofMethod(options.cache, "prompts/list"),
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
        return Surroundings.serve(
          prompt,
          decodeAndGet(prompt, params.arguments ?? {}),
          Effect.fail(Completion.unknownPrompt(params.name))
        )
      }
    }
  ]
}

const decodeAndGet = (prompt: RegisteredPrompt, args: unknown): Effect.Effect<unknown, unknown, any> => {
  const get = (args: unknown) =>
    Surroundings.use(
      prompt,
      () => ({ kind: "prompt", entry: Surroundings.prompt(prompt), arguments: args }),
      prompt.get(args)
    )
  return prompt.decode === undefined
    ? get(args)
    : Effect.matchEffect(prompt.decode(args), {
      onFailure: (issue) => Effect.fail(ofIssue(issue, `arguments for ${HandlerName.prompt(prompt.advertised.name)}`)),
      onSuccess: get
    })
}

/** Makes the registry entry of a prompt from its definition, its handler and its completers. */
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
    decode: codec.decode,
    get: (parameters) =>
      Effect.map(
        HandlerResult.value(HandlerResult.run(() => handler(parameters), actor), actor),
        (messages) => Prompt.toResult(messages, advertised.description)
      ),
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
