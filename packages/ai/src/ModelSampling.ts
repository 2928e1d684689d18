/**
 * Makes a feature of a client that answers the sampling requests of servers with a `LanguageModel` of `@effect/ai`. `layer` uses one model.
 * `choosing` has several models, and the preferences in a server's request decide which model answers. Messages may have text, images,
 * audio, uses of tools and results of tools. A person may approve each request and review each answer.
 *
 * `SamplingPrompt` converts requests. `SamplingAnswer` converts answers, and makes the error for the server when the model fails.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { FeatureContext } from "@effect-mcp/core/FeatureContext"
import { USER_REJECTED } from "@effect-mcp/core/protocol/ErrorCodes"
import { InternalError, InvalidParams, type McpError, PeerError } from "@effect-mcp/core/protocol/McpError"
import type { CreateMessageParams, CreateMessageResult, ModelPreferences } from "@effect-mcp/core/protocol/Sampling"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Dialect } from "./ModelSchema.js"
import * as SamplingAnswer from "./sampling/SamplingAnswer.js"
import * as SamplingPrompt from "./sampling/SamplingPrompt.js"

/**
 * A function that passes parameters of the server's request to the model, for example with `OpenAiLanguageModel.withConfigOverride`.
 * Requests of `@effect/ai` have no members for `maxTokens`, `temperature`, `stopSequences` and `metadata`. So the model gets these
 * parameters only through this function. With or without this function, the client cuts the answer before a stop sequence and after
 * `maxTokens` tokens.
 *
 * @category models
 */
export type Configure = (
  params: CreateMessageParams
) => <A, E, R>(generation: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * The options of `layer` and `choosing`.
 *
 * @category models
 */
export interface Options<R = never> {
  /**
   * Asks a person about a server's request, and returns the decision. With `true` the client sends the request to the model. With `false`
   * the client rejects the request. When the function returns parameters, the client sends these parameters to the model instead. The
   * specification says that there SHOULD always be a person who can deny a request. Default: the client sends every request to the model.
   */
  readonly approve?:
    | ((params: CreateMessageParams) => Effect.Effect<boolean | CreateMessageParams, McpError, R>)
    | undefined
  /**
   * Asks a person about the model's answer, before the server gets the answer, and returns the decision. With `true` the server gets the
   * answer. With `false` the client rejects the request. When the function returns an answer, the server gets this answer instead. Default:
   * the server gets every answer of the model.
   */
  readonly review?:
    | ((
      result: CreateMessageResult,
      params: CreateMessageParams
    ) => Effect.Effect<boolean | CreateMessageResult, McpError, R>)
    | undefined
  /** Whether a server's request may contain tools for the model. The server itself runs these tools. Default: true. */
  readonly tools?: boolean | undefined
  /**
   * Returns the context that a request asks for with `includeContext`: the context of this server, or of all servers of the client. The
   * client adds the text to the system prompt. The specification deprecates `includeContext`. Default: the client adds no text, and does
   * not declare `sampling.context`.
   */
  readonly context?: ((from: "thisServer" | "allServers") => Effect.Effect<string, McpError, R>) | undefined
  /** The most tokens of one answer, even if the server's request has a larger `maxTokens`. Default: 10,000. */
  readonly maxTokens?: number | undefined
  /** The most requests of one client that run on models at the same time. Further requests wait. Default: 4. */
  readonly concurrency?: number | undefined
  /** The subset of JSON Schema that the model accepts for the server's tools. Default: `json-schema`. */
  readonly dialect?: Dialect | undefined
}

/**
 * A model that may answer a request.
 *
 * @category models
 */
export interface Candidate<E = never, R = never> {
  /**
   * The name of the model. The client compares the hints of a request with this name. The server gets this name with the answer, unless the
   * provider reports another name.
   */
  readonly name: string
  /**
   * Other names with which the client compares the hints, such as the family of the model, or similar models of other providers. Default:
   * none.
   */
  readonly aliases?: ReadonlyArray<string> | undefined
  /** The layer of the model. It is built once, together with the client. */
  readonly model: Layer.Layer<LanguageModel.LanguageModel, E, R>
  readonly configure?: Configure | undefined
  /** How cheap the model is, from 0 to 1. Default: 0.5. */
  readonly cost?: number | undefined
  /** How fast the model is, from 0 to 1. Default: 0.5. */
  readonly speed?: number | undefined
  /** How capable the model is, from 0 to 1. Default: 0.5. */
  readonly intelligence?: number | undefined
}

type Needed<R> = ClientFeatures.ClientFeatures | Exclude<R, FeatureContext | Scope.Scope>

/**
 * Answers the sampling requests of servers with the `LanguageModel` in the context.
 *
 * @example
 * ```ts
 * import * as ModelSampling from "@effect-mcp/ai/ModelSampling"
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Remote from "@effect-mcp/core/Remote"
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
    /** The name of the model that the server gets with the answer, unless the provider reports a name. Default: "unknown". */
    readonly name?: string | undefined
    readonly configure?: Configure | undefined
  } = {}
): Layer.Layer<never, never, Needed<R> | LanguageModel.LanguageModel> =>
  Layer.unwrapEffect(
    Effect.map(LanguageModel.LanguageModel, (service) =>
      serve([{ name: options.name ?? "unknown", configure: options.configure, service }], options))
  )

/**
 * Answers each request with the model that fits the server's preferences best. The client tries the hints of the request in order. A hint
 * matches a model when it is a part of the name or of an alias of the model. The models that the first successful hint matches are the
 * candidates. When no hint matches, all models are candidates. Among the candidates, the model with the highest rating for the server's
 * priorities answers. When ratings are equal, the first of these models answers.
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

const serve = <R>(models: readonly [Built, ...Array<Built>], options: Options<R>): ClientFeatures.Feature<R> => {
  const { approve, context, dialect = "json-schema", maxTokens = 10_000, review } = options
  const generations = Semaphore.make(options.concurrency ?? 4)
  return ClientFeatures.sampling(
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
      : yield* EffectInternals.fromEither(Either.mapLeft(
        SamplingPrompt.toolkit(params.tools, names, dialect),
        (message) => new InvalidParams({ message })
      ))
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

/** Chooses by the first hint that is part of a name or an alias, then by the ratings, then by the order in `models`. */
const choose = (models: readonly [Built, ...Array<Built>], preferences: ModelPreferences = {}): Built => {
  for (const { name } of preferences.hints ?? []) {
    const [first, ...rest] = name === undefined || name === "" ? [] : models.filter((model) => matches(model, name))
    if (first !== undefined) return best([first, ...rest], preferences)
  }
  return best(models, preferences)
}

const matches = ({ aliases = [], name }: Built, hint: string): boolean =>
  [name, ...aliases].some((one) => one.toLowerCase().includes(hint.toLowerCase()))

/** Returns the first model with the highest rating. */
const best = (models: readonly [Built, ...Array<Built>], preferences: ModelPreferences): Built =>
  models.reduce((chosen, model) => rating(model, preferences) > rating(chosen, preferences) ? model : chosen, models[0])

const rating = (
  { cost = 0.5, intelligence = 0.5, speed = 0.5 }: Built,
  { costPriority = 0, intelligencePriority = 0, speedPriority = 0 }: ModelPreferences
): number => cost * costPriority + speed * speedPriority + intelligence * intelligencePriority
