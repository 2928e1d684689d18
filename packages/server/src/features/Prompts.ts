/**
 * `prompts/list` and `prompts/get`: from a name and arguments to the messages of a prompt.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import type { Route } from "../runtime/Router.js"
import * as PagedList from "./PagedList.js"

/**
 * @since 0.1.0
 * @category routes
 */
export const routes = (registry: RegistryService, options: { readonly pageSize: number }): ReadonlyArray<Route> => {
  const list = PagedList.make({
    list: "prompts",
    shelf: registry.prompts,
    pageSize: options.pageSize,
    advertised: ({ advertised }) => advertised,
    result: (prompts): Prompts.ListPromptsResult => ({ prompts })
  })
  return [
    {
      method: Methods.listPrompts,
      trusted: true,
      kept: true,
      serve: ({ cursor }: PaginatedParams) => ({ effect: list(cursor), context: Context.empty() })
    },
    {
      method: Methods.getPrompt,
      trusted: false,
      serve: (params: Prompts.GetPromptParams) => {
        const prompt = registry.prompts.get(params.name)
        return prompt === undefined
          ? { effect: Effect.fail(unknownPrompt(params.name)), context: Context.empty() }
          : { effect: prompt.get(params.arguments ?? {}), context: prompt.context }
      }
    }
  ]
}

/**
 * @since 0.1.0
 * @category errors
 */
export const unknownPrompt = (name: string): InvalidParams =>
  new InvalidParams({ message: `Unknown prompt: ${Reply.quotable(name)}` })
