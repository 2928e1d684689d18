/**
 * Serves `completion/complete`: gives values for an argument of a prompt or of a resource template. An argument without a completer gets no
 * values. `Prompts` and `Resources` make their completers with this module, and `dispatch/Build` adds the route to the server.
 * `AdvertisedCapabilities` calls `isOffered`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 */
import * as Effect from "effect/Effect"
import type * as Completion from "../../protocol/Completion.js"
import { InvalidParams } from "../../protocol/McpError.js"
import type * as Completer from "../Completer.js"
import type { Completers, Registered, RegistryService, Use } from "../Registry.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerResult from "../runtime/HandlerResult.js"
import * as Route from "../runtime/Route.js"
import * as Surroundings from "./Surroundings.js"
import * as TemplateMatches from "./TemplateMatches.js"

/** Whether the server can currently complete at least one argument. */
export const isOffered = (registry: RegistryService): boolean =>
  [...registry.prompts.values(), ...registry.templates.values()].some(({ completers }) => completers.size > 0)

export const routes = (registry: RegistryService): ReadonlyArray<Route.Route> => [{
  method: "completion/complete",
  isTrusted: false,
  isStable: false,
  serve: (params: Completion.CompleteParams) => {
    const { argument, context, ref } = params
    const used = (found: Completable) =>
      Surroundings.use(
        found.entry,
        () => ({ kind: "completion", entry: found.described(), arguments: params }),
        complete(found, argument, context?.arguments ?? {})
      )
    const [found, ...more] = find(registry, ref)
    const unknown = Effect.fail(unknownRef(ref))
    if (found === undefined) return Route.served(unknown)
    return more.length === 0
      ? Surroundings.serve(found.entry, used(found), unknown)
      : Route.served(
        [found, ...more].reduceRight<Effect.Effect<unknown, unknown>>(
          (next, one) => Surroundings.runUse<unknown>(one.entry, used(one), next),
          unknown
        )
      )
  }
}]

/**
 * Makes the completers of a registry entry. For an argument without a given completer, this function makes a completer from the values that
 * the schema allows.
 */
export const completers = (
  given: Completer.Completers<string>,
  values: ReadonlyMap<string, ReadonlyArray<string>>,
  /** The name of the prompt or template that has the arguments, for error messages. */
  subject: string
): Completers =>
  new Map([
    ...[...values].map(([name, values]) => [name, amongValues(values)] as const),
    ...Object.entries(given).flatMap(([name, complete]) =>
      complete === undefined ? [] : [[name, suggestions(complete, HandlerName.completer(name, subject))] as const]
    )
  ])

export const unknownPrompt = (name: string): InvalidParams =>
  new InvalidParams({ message: `Unknown prompt: ${HandlerName.quotable(name)}` })

const none: Completion.CompleteResult = { completion: { values: [], total: 0, hasMore: false } }

/** A prompt, resource template or resource that a completion request may name. */
interface Completable {
  readonly entry: Registered & { readonly completers: Completers }
  /** Makes the description of the entry that middleware gets. */
  readonly described: () => Extract<Use, { kind: "completion" }>["entry"]
  /** The names of the arguments; `undefined` for a resource with a fixed URI, which has no arguments. */
  readonly names: ReadonlySet<string> | undefined
  readonly subject: string
}

const complete = (
  { entry: { completers }, names, subject }: Completable,
  { name, value }: Completion.CompleteParams["argument"],
  others: Readonly<Record<string, string>>
): Effect.Effect<Completion.CompleteResult, unknown, any> => {
  if (names?.has(name) === false) return Effect.fail(unknownArgument(name, subject))
  const completer = completers.get(name)
  return completer === undefined
    ? Effect.succeed(none)
    : Effect.map(
      Effect.suspend(() => completer(value, others)),
      (completion) => ({ completion })
    )
}

/** Finds the entries that a reference names. When a URI matches several templates, the most specific template comes first. */
const find = (registry: RegistryService, ref: Completion.CompleteParams["ref"]): ReadonlyArray<Completable> => {
  if (ref.type === "ref/prompt") {
    const entry = registry.prompts.get(ref.name)
    return entry === undefined
      ? []
      : [{
        entry,
        described: () => Surroundings.prompt(entry),
        names: namesOf(entry.advertised.arguments),
        subject: HandlerName.prompt(ref.name)
      }]
  }
  const { uri } = ref
  // The reference contains the template itself, or a URI that the template matches.
  const exact = registry.templates.get(uri)
  const templates = exact === undefined ? TemplateMatches.find(registry, uri).map(({ template }) => template) : [exact]
  if (templates.length > 0) {
    return templates.map((entry) => {
      const { template, variables } = entry.template
      return {
        entry,
        described: () => Surroundings.template(entry),
        names: namesOf(variables),
        subject: HandlerName.template(template)
      }
    })
  }
  const resource = registry.resources.get(uri)
  return resource === undefined
    ? []
    : [{
      entry: { ...resource, completers: new Map() },
      described: () => Surroundings.resource(resource),
      names: undefined,
      subject: HandlerName.resource(uri)
    }]
}

const unknownRef = (ref: Completion.CompleteParams["ref"]): InvalidParams =>
  ref.type === "ref/prompt"
    ? unknownPrompt(ref.name)
    : new InvalidParams({ message: `Unknown resource template: ${HandlerName.quotable(ref.uri)}` })

const namesOf = (named: ReadonlyArray<{ readonly name: string }> = []): ReadonlySet<string> =>
  new Set(named.map(({ name }) => name))

const unknownArgument = (name: string, subject: string): InvalidParams =>
  new InvalidParams({ message: `Unknown argument "${HandlerName.quotable(name)}" of ${subject}` })

/** Gives the values that begin with the given text. Ignores upper and lower case. */
const amongValues = (values: ReadonlyArray<string>) => (value: string): Effect.Effect<Completion.Suggestions> =>
  Effect.sync(() => {
    const start = value.toLowerCase()
    const found = values.filter((one) => one.toLowerCase().startsWith(start))
    return { values: found, total: found.length, hasMore: false }
  })

const suggestions = (complete: Completer.Completer<any>, subject: string) => {
  const actor = `The handler of ${subject}`
  return (
    value: string,
    others: Readonly<Record<string, string>>
  ): Effect.Effect<Completion.Suggestions, unknown, any> =>
    Effect.map(
      HandlerResult.value(HandlerResult.run(() => complete(value, others), actor), actor),
      (given) => isList(given) ? { values: given, total: given.length, hasMore: false } : given
    )
}

const isList = (
  given: ReadonlyArray<string> | Completion.Suggestions
): given is ReadonlyArray<string> => Array.isArray(given)
