/**
 * `completion/complete`: what an argument of a prompt, or of a resource template, may become. An argument without a
 * completer may become anything, and nothing is said.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
import * as Completion from "@effect-mcp/protocol/Completion"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Completers, Kept, RegistryService } from "../Registry.js"
import * as Reply from "../runtime/Reply.js"
import type { Route } from "../runtime/Router.js"
import { unknownPrompt } from "./Prompts.js"

/**
 * Whether there is, at the moment, an argument that can be completed.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOffered = (registry: RegistryService): boolean =>
  [...registry.prompts.values(), ...registry.templates.values()].some(({ completers }) => completers.size > 0)

/**
 * @since 0.1.0
 * @category routes
 */
export const routes = (registry: RegistryService): ReadonlyArray<Route> => [{
  method: Methods.complete,
  trusted: false,
  serve: ({ argument, context, ref }: Completion.CompleteParams) => {
    const found = ref.type === "ref/prompt" ? registry.prompts.get(ref.name) : registry.templates.get(ref.uri)
    if (found === undefined) {
      return { effect: missing(registry, ref), context: Context.empty() }
    }
    return { effect: complete(found, argument, context?.arguments ?? {}), context: found.context }
  }
}]

const nothing: Completion.CompleteResult = { completion: { values: [], total: 0, hasMore: false } }

const complete = (
  { completers }: Kept & { readonly completers: Completers },
  { name, value }: Completion.CompleteParams["argument"],
  others: Readonly<Record<string, string>>
): Effect.Effect<Completion.CompleteResult, unknown, any> => {
  const completer = completers.get(name)
  return completer === undefined
    ? Effect.succeed(nothing)
    : Effect.map(
      Effect.suspend(() => completer(value, others)),
      (suggestions) => ({ completion: Completion.truncate(suggestions) })
    )
}

const missing = (
  registry: RegistryService,
  ref: Completion.CompleteParams["ref"]
): Effect.Effect<Completion.CompleteResult, InvalidParams> =>
  ref.type === "ref/prompt"
    ? Effect.fail(unknownPrompt(ref.name))
    // A resource with an address of its own has nothing to complete.
    : registry.resources.has(ref.uri)
    ? Effect.succeed(nothing)
    : Effect.fail(new InvalidParams({ message: `Unknown resource template: ${Reply.quotable(ref.uri)}` }))

/**
 * The values that begin with what is there, whatever its case.
 *
 * @since 0.1.0
 * @category completers
 */
export const among = (values: ReadonlyArray<string>) => (value: string): Effect.Effect<Completion.Suggestions> =>
  Effect.sync(() => {
    const start = value.toLowerCase()
    const fitting = values.filter((one) => one.toLowerCase().startsWith(start))
    return { values: fitting, total: fitting.length, hasMore: false }
  })
