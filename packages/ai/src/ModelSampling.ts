/**
 * Answers a server's sampling requests with a `LanguageModel` of `@effect/ai`: a feature of the client, in both eras. Messages with
 * text, images, audio, uses of tools and their results; the model chosen by the server's preferences; a person who approves
 * before and after; failures of the provider in plain words.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Features from "@effect-mcp/client/Features"
import type { RequestContext } from "@effect-mcp/client/RequestContext"
import * as Semaphore from "@effect-mcp/jsonrpc/unstable/kit/Semaphore"
import { USER_REJECTED } from "@effect-mcp/protocol/ErrorCodes"
import { InternalError, InvalidParams, type McpError, PeerError } from "@effect-mcp/protocol/McpError"
import type { CreateMessageParams, CreateMessageResult, ModelPreferences } from "@effect-mcp/protocol/Sampling"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Dialect } from "./ModelSchema.js"
import * as SamplingAnswer from "./sampling/SamplingAnswer.js"
import * as SamplingPrompt from "./sampling/SamplingPrompt.js"

/**
 * Configures one generation by the server's parameters, for example with `OpenAiLanguageModel.withConfigOverride`: `maxTokens`,
 * `temperature`, `stopSequences` and `metadata` have no place in the requests of `@effect/ai` itself. Text beyond a stop sequence
 * or beyond `maxTokens` is cut in any case.
 *
 * @category models
 */
export type Configure = (
  params: CreateMessageParams
) => <A, E, R>(generation: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** @category models */
export interface Options<R = never> {
  /**
   * Shows the request to a person: true lets it through, false rejects it, and other parameters replace it. The specification
   * says that there SHOULD always be a person who can deny a request. Default: every request goes through.
   */
  readonly approve?:
    | ((params: CreateMessageParams) => Effect.Effect<boolean | CreateMessageParams, McpError, R>)
    | undefined
  /** Shows the answer to a person before the server gets it, in the same way. Default: every answer goes through. */
  readonly review?:
    | ((
      result: CreateMessageResult,
      params: CreateMessageParams
    ) => Effect.Effect<boolean | CreateMessageResult, McpError, R>)
    | undefined
  /** Whether the server may give the model tools, which the server runs. Default: true. */
  readonly tools?: boolean | undefined
  /**
   * The context of `includeContext`, from this server or from all servers of the client, as text that is added to the system
   * prompt. The specification deprecates it. Default: none, and `sampling.context` is not declared.
   */
  readonly context?: ((from: "thisServer" | "allServers") => Effect.Effect<string, McpError, R>) | undefined
  /** The most tokens of one answer; a server that requests more gets these. Default: 10,000. */
  readonly maxTokens?: number | undefined
  /** How many generations run at the same time for one client; more wait. Default: 4. */
  readonly concurrency?: number | undefined
  /** The subset of JSON Schema that the model accepts for the server's tools. Default: `json-schema`. */
  readonly dialect?: Dialect | undefined
}

/**
 * A model that a server can be served with.
 *
 * @category models
 */
export interface Candidate<E = never, R = never> {
  /** The name that the server gets, unless the provider reports one. The server's hints are looked for in it. */
  readonly name: string
  /** Other names in which hints are looked for: families, or similar models of other providers. */
  readonly aliases?: ReadonlyArray<string> | undefined
  /** It is built once, with the client. */
  readonly model: Layer.Layer<LanguageModel.LanguageModel, E, R>
  readonly configure?: Configure | undefined
  /** How cheap the model is, from 0 to 1. Default: 0.5. */
  readonly cost?: number | undefined
  /** How fast the model is, from 0 to 1. Default: 0.5. */
  readonly speed?: number | undefined
  /** How capable the model is, from 0 to 1. Default: 0.5. */
  readonly intelligence?: number | undefined
}

type Needed<R> = Features.Features | Exclude<R, RequestContext | Scope.Scope>

/**
 * Samples from the `LanguageModel` in the context.
 *
 * @example
 * ```ts
 * import * as ModelSampling from "@effect-mcp/ai/ModelSampling"
 * import * as Client from "@effect-mcp/client/Client"
 * import * as Remote from "@effect-mcp/client/Remote"
 * import { Console, Effect } from "effect"
 *
 * const sampling = ModelSampling.layer({
 *   name: "my-model",
 *   approve: ({ messages }) => Effect.as(Console.log(`A server wants ${messages.length} messages answered`), true)
 * })
 *
 * // It requires the `LanguageModel` of a provider of `@effect/ai`.
 * export const ClientLive = Client.layer(Remote.connector("https://example.com/mcp"), { features: sampling })
 * ```
 * @category layers
 */
export const layer = <R = never>(
  options: Options<R> & {
    /** The name of the model for the server, unless the provider reports one. Default: "unknown". */
    readonly name?: string | undefined
    readonly configure?: Configure | undefined
  } = {}
): Layer.Layer<never, never, Needed<R> | LanguageModel.LanguageModel> =>
  Layer.unwrapEffect(
    Effect.map(LanguageModel.LanguageModel, (service) =>
      serve([{ name: options.name ?? "unknown", configure: options.configure, service }], options))
  )

/**
 * Samples from the model that fits the server's preferences best: one whose name contains the first hint that any name
 * contains; among those, or without such a hint, the one with the best ratings for the server's priorities, else the first.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 * @category utils
 */
export const choosing = <E = never, MR = never, R = never>(
  models: readonly [Candidate<E, MR>, ...Array<Candidate<E, MR>>],
  options: Options<R> = {}
): Layer.Layer<never, E, Needed<R> | MR> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const build = (candidate: Candidate<E, MR>) =>
      Effect.map(Layer.build(candidate.model), (context) => ({
        ...candidate,
        service: Context.get(context, LanguageModel.LanguageModel)
      }))
    const [first, ...rest] = models
    return serve([yield* build(first), ...(yield* Effect.forEach(rest, build))], options)
  }))

interface Built extends Omit<Candidate, "model"> {
  readonly service: LanguageModel.Service
}

const serve = <R>(models: readonly [Built, ...Array<Built>], options: Options<R>): Features.Feature<R> => {
  const { approve, context, dialect = "json-schema", maxTokens = 10_000, review } = options
  const generations = Semaphore.make(options.concurrency ?? 4)
  return Features.sampling(
    (requested) =>
      Effect.gen(function*() {
        const approved = approve === undefined ? true : yield* approve(requested)
        if (approved === false) return yield* rejected
        const given = approved === true ? requested : approved
        const params = { ...given, maxTokens: Math.min(given.maxTokens, maxTokens) }
        const included = params.includeContext === undefined || params.includeContext === "none" ||
            context === undefined
          ? ""
          : yield* context(params.includeContext)
        const model = choose(models, params.modelPreferences)
        const result = yield* generations.run(generate(model, params, included, dialect))
        const reviewed = review === undefined ? true : yield* review(result, params)
        return reviewed === true ? result : reviewed === false ? yield* rejected : reviewed
      }),
    { tools: options.tools !== false, context: context !== undefined }
  )
}

const rejected = Effect.fail(new PeerError({ code: USER_REJECTED, message: "User rejected sampling request" }))

const generate = (
  { configure, name, service }: Built,
  params: CreateMessageParams,
  context: string,
  dialect: Dialect
): Effect.Effect<CreateMessageResult, McpError> =>
  Effect.gen(function*() {
    const names = SamplingPrompt.names(params.tools, dialect)
    const mode = params.toolChoice?.mode ?? "auto"
    const toolkit = mode === "none" || params.tools === undefined || params.tools.length === 0
      ? undefined
      : yield* Either.mapLeft(
        SamplingPrompt.toolkit(params.tools, names, dialect),
        (message) => new InvalidParams({ message })
      )
    const prompt = SamplingPrompt.make(params, names, context)
    const generation = service.generateText({
      prompt,
      ...(toolkit === undefined ? undefined : { toolkit, toolChoice: mode, disableToolCallResolution: true as const })
    })
    const response = yield* (configure === undefined ? generation : configure(params)(generation)).pipe(
      Effect.tapError((error) => Effect.logWarning("The model did not answer a server's request", error)),
      Effect.mapError(SamplingAnswer.failure)
    )
    const result = SamplingAnswer.make(response, params, names, name)
    if (mode === "required" && result.stopReason !== "toolUse") {
      return yield* new InternalError({ message: "The model of this client used no tool, although it had to" })
    }
    return result
  })

/** The first hint that a name contains decides, then the ratings, then the order of the application. */
const choose = (models: readonly [Built, ...Array<Built>], preferences: ModelPreferences = {}): Built => {
  for (const { name } of preferences.hints ?? []) {
    const [first, ...rest] = name === undefined || name === "" ? [] : models.filter((model) => matches(model, name))
    if (first !== undefined) return best([first, ...rest], preferences)
  }
  return best(models, preferences)
}

const matches = ({ aliases = [], name }: Built, hint: string): boolean =>
  [name, ...aliases].some((one) => one.toLowerCase().includes(hint.toLowerCase()))

/** The first of the highest rating. */
const best = (models: readonly [Built, ...Array<Built>], preferences: ModelPreferences): Built =>
  models.reduce((chosen, model) => rating(model, preferences) > rating(chosen, preferences) ? model : chosen, models[0])

const rating = (
  { cost = 0.5, intelligence = 0.5, speed = 0.5 }: Built,
  { costPriority = 0, intelligencePriority = 0, speedPriority = 0 }: ModelPreferences
): number => cost * costPriority + speed * speedPriority + intelligence * intelligencePriority
