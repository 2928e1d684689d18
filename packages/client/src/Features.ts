/**
 * What a client can do for its server: have a model go on, ask the person, say where to work, hear what is logged. Each is a
 * layer; together they are an argument of the client, built before it connects. What is not there is not advertised, and
 * refused.
 *
 * @since 0.1.0
 */
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { ElicitAction, ElicitContent, ElicitFormParams } from "@effect-mcp/protocol/Elicitation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { ElicitUrlParams } from "@effect-mcp/protocol/legacy/Elicitation"
import type { LoggingMessage } from "@effect-mcp/protocol/Logging"
import type { McpError } from "@effect-mcp/protocol/McpError"
import type { Root } from "@effect-mcp/protocol/Roots"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/protocol/Sampling"
import * as FileUri from "@effect-mcp/protocol/unstable/FileUri"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { RequestContext } from "./RequestContext.js"

/**
 * How a person answers a form: filled in, refused, or closed without either.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer =
  | { readonly action: "accept"; readonly content?: ElicitContent | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

type Handler<P, A> = (params: P) => Effect.Effect<A, McpError, any>

/**
 * A handler, and the context that its layer was built in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Kept<out H> {
  readonly handler: H
  readonly context: Context.Context<never>
}

/**
 * What there is, put there by the features' layers.
 *
 * @since 0.1.0
 * @category models
 */
export interface FeaturesService {
  sampling?: Kept<Handler<CreateMessageParams, CreateMessageResult>> & { readonly tools: boolean }
  form?: Kept<Handler<ElicitFormParams, Answer>>
  url?: Kept<Handler<ElicitUrlParams, ElicitAction>>
  roots?: Kept<Effect.Effect<ReadonlyArray<Root>, McpError, any>> & {
    readonly changes: Stream.Stream<unknown> | undefined
  }
  logging?: Kept<(message: LoggingMessage) => Effect.Effect<void, never, any>>
  readonly custom: Map<string, Kept<(params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, any>>>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Features extends Context.Tag("@effect-mcp/client/Features")<Features, FeaturesService>() {}

/**
 * A layer that does something for the server, and needs `R` for it.
 *
 * @since 0.1.0
 * @category models
 */
export type Feature<R = never> = Layer.Layer<never, never, Features | Exclude<R, RequestContext | Scope.Scope>>

/**
 * Nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<FeaturesService> = Effect.sync(() => ({ custom: new Map() }))

/**
 * Has a model go on from the server's messages. The application decides which, and whether at all: it should ask the
 * person. A refusal is an `McpError`; see `ErrorCodes.USER_REJECTED`.
 *
 * A server may offer tools only when `tools` says so.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 * @category features
 */
export const sampling = <R = never>(
  handler: (params: CreateMessageParams) => Effect.Effect<CreateMessageResult, McpError, R>,
  options: { readonly tools?: boolean | undefined } = {}
): Feature<R> =>
  keeping<R>("sampling", (features, context) => {
    features.sampling = { handler, context, tools: options.tools === true }
  })

/**
 * Has a person fill in forms. What they leave out gets its default; an answer that does not fit the form is a bug of the
 * handler, and not sent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
 * @since 0.1.0
 * @category features
 */
export const elicitation = <R = never>(
  handler: (params: ElicitFormParams) => Effect.Effect<Answer, McpError, R>
): Feature<R> =>
  keeping<R>("form", (features, context) => {
    features.form = { handler, context }
  })

/**
 * Has a person open pages. The address must be shown in full, and opened only when they agree; that they are done there is
 * heard on the client's `elicitationsCompleted`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @since 0.1.0
 * @category features
 */
export const urlElicitation = <R = never>(
  handler: (params: ElicitUrlParams) => Effect.Effect<ElicitAction, McpError, R>
): Feature<R> =>
  keeping<R>("url", (features, context) => {
    features.url = { handler, context }
  })

/**
 * Says which folders the server may work in, anew each time that it asks. For each of `changes` it is told that they are
 * others. Each root MUST be a `file://` URI without `..`: with another one, the server gets an internal error.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @since 0.1.0
 * @category features
 */
export const roots = <R = never, R2 = never>(
  list: Effect.Effect<ReadonlyArray<Root>, McpError, R>,
  options: { readonly changes?: Stream.Stream<unknown, never, R2> | undefined } = {}
): Layer.Layer<never, never, Features | Exclude<R, RequestContext | Scope.Scope> | Exclude<R2, Scope.Scope>> =>
  keeping<R | R2>("roots", (features, context) => {
    features.roots = {
      handler: Effect.tap(list, safe),
      context,
      changes: options.changes === undefined
        ? undefined
        : Stream.provideContext(options.changes, context as Context.Context<any>)
    }
    // The captured context has what both need; only a question brings `RequestContext` along.
  }) as Layer.Layer<never, never, Features | Exclude<R, RequestContext | Scope.Scope> | Exclude<R2, Scope.Scope>>

/** Dies when a root is not a file URI that leads nowhere else: the server must not get it. */
const safe = (roots: ReadonlyArray<Root>): Effect.Effect<void> => {
  for (const { uri } of roots) {
    const problem = FileUri.rootProblem(uri)
    if (problem !== undefined) return Effect.dieMessage(`The root "${uri}" is not valid: ${problem}`)
  }
  return Effect.void
}

/**
 * Hears what the server logs, as long as the client is connected. Which levels the server tells of is asked for with
 * `setLoggingLevel`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @since 0.1.0
 * @category features
 */
export const logging = <R = never>(
  handler: (message: LoggingMessage) => Effect.Effect<void, never, R>
): Layer.Layer<never, never, Features | Exclude<R, Scope.Scope>> =>
  keeping<R>("logging", (features, context) => {
    features.logging = { handler, context }
    // No question belongs to a message that is logged.
  }) as Layer.Layer<never, never, Features | Exclude<R, Scope.Scope>>

/**
 * Answers requests of a method that is none of the above, unchecked.
 *
 * @since 0.1.0
 * @category features
 */
export const request = <R = never>(
  method: string,
  handler: (params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, R>
): Feature<R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const features = yield* Features
    const context = yield* captured<R>()
    if (features.custom.has(method)) return yield* Effect.dieMessage(`Two features of this client answer "${method}"`)
    features.custom.set(method, { handler, context })
  }))

/**
 * What a client with these features says that it can do.
 *
 * @since 0.1.0
 * @category getters
 */
export const capabilities = ({ form, roots, sampling, url }: FeaturesService): ClientCapabilities => ({
  ...(sampling === undefined ? undefined : { sampling: sampling.tools ? { tools: {} } : {} }),
  ...(form === undefined && url === undefined ? undefined : {
    elicitation: {
      ...(form === undefined ? undefined : { form: {} }),
      ...(url === undefined ? undefined : { url: {} })
    }
  }),
  ...(roots === undefined ? undefined : { roots: roots.changes === undefined ? {} : { listChanged: true } })
})

type Slot = Exclude<keyof FeaturesService, "custom">

const keeping = <R>(
  slot: Slot,
  keep: (features: FeaturesService, context: Context.Context<never>) => void
): Feature<R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const features = yield* Features
    const context = yield* captured<R>()
    if (features[slot] !== undefined) {
      return yield* Effect.dieMessage(`Two features of this client are for "${names[slot]}"`)
    }
    keep(features, context)
  }))

const names: Record<Slot, string> = {
  sampling: "sampling",
  form: "elicitation by forms",
  url: "elicitation by pages",
  roots: "roots",
  logging: "logging"
}

// The layer's own scope is gone when a question comes.
const captured = <R>(): Effect.Effect<Context.Context<never>, never, Exclude<R, RequestContext | Scope.Scope>> =>
  Effect.map(
    Effect.context<Exclude<R, RequestContext | Scope.Scope>>(),
    (context) => Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>
  )
