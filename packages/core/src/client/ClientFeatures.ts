/**
 * What a client can do for its server: sample from a model, elicit input from the user, list roots, read the server's log messages. Each
 * feature is a layer; together they are an option of the client, which builds them before it connects. A client advertises only the
 * features that it has, and refuses requests for others. `session/FeatureAnswers` runs the features that answer requests,
 * `session/FeatureFibers` the other features.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SchemaParser from "../definition/schema/SchemaParser.js"
import { isLocalError, type LocalError } from "../jsonrpc/LocalError.js"
import type { ElicitAction, ElicitContent, ElicitFormParams, ElicitUrlParams } from "../protocol/Elicitation.js"
import type * as Extension from "../protocol/Extension.js"
import * as Issue from "../protocol/Issue.js"
import type { JsonObject } from "../protocol/Json.js"
import type { LoggingMessage } from "../protocol/Logging.js"
import { InternalError, InvalidParams, isMcpError, type McpError, type NameOf, ofIssue } from "../protocol/McpError.js"
import type { Root } from "../protocol/Roots.js"
import * as FileUri from "../protocol/rules/FileUri.js"
import * as MetaKey from "../protocol/rules/MetaKey.js"
import * as PageUrl from "../protocol/rules/PageUrl.js"
import type { CreateMessageParams, CreateMessageResult } from "../protocol/Sampling.js"
import type { ClientError } from "./ClientError.js"
import type { ExtensionCalls } from "./ClientSession.js"
import type { FeatureContext } from "./FeatureContext.js"

/**
 * What the user did with a form: submitted it, declined it, or dismissed it.
 *
 * @category models
 */
export type Answer =
  | { readonly action: "accept"; readonly content?: ElicitContent | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * An elicitation by URL.
 *
 * @category models
 */
export interface UrlElicitation extends ElicitUrlParams {
  /** The id under which `elicitationsCompleted` has its end. Absent in revisions that do not report the end. */
  readonly elicitationId?: string | undefined
}

/**
 * How a handler fails: with the error that the server gets, or because a call of its own failed. So a handler may pass a request on to
 * another side, for example to the client of a server (`ServerSession`): the server gets an `InternalError` where there was no answer.
 *
 * @category models
 */
export type Fails = McpError | LocalError

// A handler that only throws requires nothing.
type ContextOf<Answer extends Effect.Effect<any, any, any>> = [Answer] extends [never] ? never
  : Effect.Effect.Context<Answer>

/**
 * Accepts the effect of a handler that fails so. Otherwise it is a sentence for the compiler to show.
 *
 * @category models
 */
export type Refuses<Answer extends Effect.Effect<any, any, any>> = 0 extends 1 & Effect.Effect.Error<Answer> ? unknown // `any`
  : [Exclude<Effect.Effect.Error<Answer>, Fails>] extends [never] ? unknown
  : `The handler fails with ${NameOf<
    Exclude<Effect.Effect.Error<Answer>, Fails>
  >}: catch it, or refuse with an McpError`

type Handler<P, A> = (params: P) => Effect.Effect<A, McpError, any>

/**
 * The handler of a feature, and the context that its layer was built in.
 *
 * @category models
 */
export interface FeatureHandler<out H> {
  readonly handler: H
  readonly context: Context.Context<never>
}

/**
 * The features of one client. The layers of the features set the fields while they are built. Then no field changes any more.
 *
 * @category models
 */
export interface FeaturesService {
  sampling?: FeatureHandler<Handler<CreateMessageParams, CreateMessageResult>> & {
    readonly settings: { readonly tools?: JsonObject; readonly context?: JsonObject }
  }
  form?: FeatureHandler<Handler<ElicitFormParams, Answer>> & { readonly settings: JsonObject }
  url?: FeatureHandler<Handler<UrlElicitation, ElicitAction>> & { readonly settings: JsonObject }
  roots?: FeatureHandler<Effect.Effect<ReadonlyArray<Root>, McpError, any>> & {
    readonly changes: Stream.Stream<unknown> | undefined
  }
  logging?: FeatureHandler<(message: LoggingMessage) => Effect.Effect<void, never, any>>
  tasks?: TaskOptions
  /** By method. */
  readonly custom: Map<
    string,
    FeatureHandler<(params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, any>> & {
      /** The request of an extension. */
      readonly request?: Extension.Request | undefined
    }
  >
  /** What reads the results of extensions, by their types. */
  readonly results: Map<
    Extension.ResultType,
    FeatureHandler<(value: any, calls: ExtensionCalls) => Effect.Effect<any, ClientError, any>>
  >
  /** Capabilities outside of the specification, and extensions of it, with their settings. */
  readonly declared: Readonly<Record<"experimental" | "extensions", Map<string, JsonObject>>>
}

/** @category tags */
export class ClientFeatures extends Context.Tag("@effect-mcp/core/ClientFeatures")<ClientFeatures, FeaturesService>() {}

/**
 * A layer that adds a feature whose handler needs `R`.
 *
 * @category models
 */
export type Feature<R = never> = Layer.Layer<never, never, ClientFeatures | Exclude<R, FeatureContext | Scope.Scope>>

/**
 * No features.
 *
 * @category constructors
 */
export const make: Effect.Effect<FeaturesService> = Effect.sync(() => ({
  custom: new Map(),
  results: new Map(),
  declared: { experimental: new Map(), extensions: new Map() }
}))

/**
 * Samples from a model. The handler chooses the model, and should ask the user first. It refuses with an `McpError`; see
 * `ErrorCodes.USER_REJECTED`.
 *
 * With `tools`, the server may offer tools to the model. With `context`, the server may have context from the client's servers included.
 * Each may be an object of settings. An answer that breaks the rules for uses of tools is a defect of the handler and is not sent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
 * @category utils
 */
export const sampling = <Answer extends Effect.Effect<CreateMessageResult, any, any>>(
  handler: (params: CreateMessageParams) => Answer & Refuses<NoInfer<Answer>>,
  options: {
    readonly tools?: boolean | JsonObject | undefined
    readonly context?: boolean | JsonObject | undefined
  } = {}
): Feature<ContextOf<Answer>> =>
  feature("sampling", (features, context) => {
    const settings = { ...setting("context", options.context), ...setting("tools", options.tools) }
    features.sampling = { handler: answering(handler), context, settings }
  })

const setting = <Name extends string>(
  name: Name,
  value: boolean | JsonObject | undefined
): { readonly [N in Name]?: JsonObject } =>
  value === undefined || value === false ? {} : { [name]: value === true ? {} : value } as Record<Name, JsonObject>

/**
 * Shows forms to the user. Fields that the user leaves out get their default. An answer that does not fit the form is a
 * defect of the handler and is not sent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
 * @category utils
 */
export const elicitation = <Answered extends Effect.Effect<Answer, any, any>>(
  handler: (params: ElicitFormParams) => Answered & Refuses<NoInfer<Answered>>,
  options: ElicitationOptions = {}
): Feature<ContextOf<Answered>> =>
  feature("form", (features, context) => {
    features.form = { handler: answering(handler), context, settings: options.settings ?? {} }
  })

/** @category models */
export interface ElicitationOptions {
  /** What the client declares for this mode of elicitation. Default: an empty object. */
  readonly settings?: JsonObject | undefined
}

/**
 * Has the user open web pages. The handler must show the whole URL, and open it only when the user agrees. The client's
 * `elicitationsCompleted` tells when the user has completed the page. The client refuses URLs that are not URLs of web pages, such as
 * `javascript:`, `data:` and `file:`: the handler does not get them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @category utils
 */
export const urlElicitation = <Answered extends Effect.Effect<ElicitAction, any, any>>(
  handler: (params: UrlElicitation) => Answered & Refuses<NoInfer<Answered>>,
  options: ElicitationOptions = {}
): Feature<ContextOf<Answered>> =>
  feature("url", (features, context) => {
    const answer = answering(handler)
    features.url = {
      handler: (params) => {
        const problem = PageUrl.problem(params.url)
        return problem === undefined
          ? answer(params)
          : Effect.fail(new InvalidParams({ message: `Invalid params: the url ${problem}` }))
      },
      context,
      settings: options.settings ?? {}
    }
  })

/**
 * Lists the folders that the server may work in; `list` runs for each request. For each value of `changes`, the client notifies the server
 * that the list has changed. Each root MUST be a `file://` URI without `..`: otherwise the server gets an internal error.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
 * @category utils
 */
export const roots = <R = never, R2 = never, E = never>(
  list: Effect.Effect<ReadonlyArray<Root>, E, R> & Refuses<Effect.Effect<unknown, E>>,
  options: { readonly changes?: Stream.Stream<unknown, never, R2> | undefined } = {}
): Layer.Layer<never, never, ClientFeatures | Exclude<R, FeatureContext | Scope.Scope> | Exclude<R2, Scope.Scope>> =>
  feature<R | R2>("roots", (features, context) => {
    features.roots = {
      handler: Effect.tap(
        Effect.catchAll(list as Effect.Effect<ReadonlyArray<Root>, Fails, R>, refusal),
        checkRoots
      ),
      context,
      changes: options.changes === undefined
        ? undefined
        : Stream.provideContext(options.changes, context as Context.Context<any>)
    }
    // The captured context has what both need. Only requests provide `FeatureContext`.
  }) as Layer.Layer<never, never, ClientFeatures | Exclude<R, FeatureContext | Scope.Scope> | Exclude<R2, Scope.Scope>>

/** Dies when the server must not get a root: it is not a `file://` URI, or leads elsewhere. */
const checkRoots = (roots: ReadonlyArray<Root>): Effect.Effect<void> => {
  for (const { uri } of roots) {
    const problem = FileUri.rootProblem(uri)
    if (problem !== undefined) return Effect.dieMessage(`The root "${uri}" is not valid: ${problem}`)
  }
  return Effect.void
}

/**
 * Handles the server's log messages, one after another, as long as the client is connected. `setLoggingLevel` sets which levels the
 * server sends. When the scope of the client closes after a success, closing waits until the messages that have arrived are handled, but
 * not longer than `closeTimeout`. After a failure or an interruption, it interrupts the handler at once.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
 * @category utils
 */
export const logging = <R = never>(
  handler: (message: LoggingMessage) => Effect.Effect<void, never, R>
): Layer.Layer<never, never, ClientFeatures | Exclude<R, Scope.Scope>> =>
  feature<R>("logging", (features, context) => {
    features.logging = { handler, context }
    // A log message belongs to no request, so there is no `FeatureContext`.
  }) as Layer.Layer<never, never, ClientFeatures | Exclude<R, Scope.Scope>>

/**
 * Answers requests of another method: a method of an extension, which is checked by its schemas and needs the extension on both sides, or a
 * method of any other name, without checks.
 *
 * @category utils
 */
export const request = <M extends string | Request, Answer extends Effect.Effect<ResultOf<NoInfer<M>>, any, any>>(
  method: M & FromServer<NoInfer<M>>,
  handler: (params: ParamsOf<NoInfer<M>>) => Answer & Refuses<NoInfer<Answer>>
): Feature<ContextOf<Answer>> =>
  addRequest(
    method as string | Extension.Request<"server">,
    handler as (params: any) => Effect.Effect<any, Fails, ContextOf<Answer>>
  )

/** A request as its definition has it. */
interface Request {
  readonly kind: string
  readonly params: Schema.Schema<any, any>
}

type ParamsOf<M> = M extends Request ? Schema.Schema.Type<M["params"]> : JsonObject | undefined

type ResultOf<M> = M extends { readonly result: Schema.Schema<infer Result, any> } ? Result : JsonObject

/** Accepts requests of servers. Otherwise it is a sentence for the compiler to show. */
type FromServer<M> = M extends string ? unknown
  : M extends { readonly kind: "request" }
    ? M extends { readonly from: "client" } ?
      "The client sends this request, and servers answer it: use MethodHandler.request of the server"
    : M extends { readonly extension: string } ? unknown
    : "This belongs to no extension yet: use the value that Extension.make returns"
  : "A notification has no response: pass a request"

const addRequest = <R>(
  method: string | Extension.Request<"server">,
  handler: (params: any) => Effect.Effect<any, Fails, R>
): Feature<R> =>
  adding<R>(({ custom }, context) => {
    const name = typeof method === "string" ? method : method.name
    if (custom.has(name)) return `answer "${name}"`
    custom.set(
      name,
      typeof method === "string"
        ? { handler: answering(handler), context }
        : { handler: bySchemas(method, answering(handler)), context, request: method }
    )
    return undefined
  })

/**
 * Reads the results of one type that an extension adds to a method of the core, and makes a result of the core from each. Callers that
 * expect a result of the core get the result that was made. `read` may call the extension with `calls`. Without this feature, a call that
 * is answered with such a result fails with reason `Decode`; `callEither` does not.
 *
 * @category utils
 */
export const result = <Method extends keyof Extension.Answerable, Value, R = never>(
  resultType: Extension.ResultType<Method, Value>,
  read: (
    value: NoInfer<Value>,
    calls: ExtensionCalls
  ) => Effect.Effect<Extension.Answerable[NoInfer<Method>]["result"], ClientError, R>
): Layer.Layer<never, never, ClientFeatures | Exclude<R, Scope.Scope>> =>
  adding<R>(({ results }, context) => {
    if (results.has(resultType)) return `read results of the type "${resultType.type}"`
    results.set(resultType, { handler: read, context })
    return undefined
  }) as Layer.Layer<never, never, ClientFeatures | Exclude<R, Scope.Scope>>

/** @category models */
export interface TaskOptions {
  /** How many tasks run at the same time at most; further tasks are refused. Default: 16. */
  readonly maxRunning?: number | undefined
  /**
   * How many tasks are stored at most, ended tasks included. A new task replaces the oldest task whose result the server has fetched; when
   * there is no such task, the new task is refused. Default: 256.
   */
  readonly maxTasks?: number | undefined
  /** The limit of the characters of all results together, as JSON; a task whose result does not fit fails. Default: 16 Mi. */
  readonly maxSize?: number | undefined
  /** How long a task is stored after its creation, where the server does not say. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
  /** The longest that a server can have a task stored. A handler that still runs then is interrupted. Default: 1 day. */
  readonly maxTtl?: Duration.DurationInput | undefined
  /** How long servers should wait between two requests about a task. Default: 1 second. */
  readonly pollInterval?: Duration.DurationInput | undefined
}

/**
 * Lets servers of 2025-11-25 ask for samples and input as tasks: the request is answered at once, the handler runs on, and the
 * server fetches the answer later. Tasks end with the session. Without it, and in other revisions, such a request is answered
 * as any other.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @category utils
 */
export const tasks = (options: TaskOptions = {}): Feature =>
  feature("tasks", (features) => {
    features.tasks = options
  })

/**
 * Declares an experimental capability with its settings. Add `request` for the methods that it brings.
 *
 * @category utils
 */
export const experimental = (name: string, settings: JsonObject = {}): Feature =>
  declaration("experimental", name, settings)

/**
 * Declares an extension with its settings. Its identifier has a prefix: `com.example/trace`. Dies when the identifier has none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
 * @category utils
 */
export const extension = (identifier: string, settings: JsonObject = {}): Feature =>
  MetaKey.isExtension(identifier)
    ? declaration("extensions", identifier, settings)
    : Layer.die(new Error(`"${identifier}" does not identify an extension: it needs a prefix, as in com.example/name`))

const declaration = (kind: "experimental" | "extensions", name: string, settings: JsonObject): Feature =>
  adding<never>(({ declared }) => {
    if (declared[kind].has(name)) return `declare "${name}" in "${kind}"`
    declared[kind].set(name, settings)
    return undefined
  })

type Field = Exclude<keyof FeaturesService, "custom" | "declared" | "results">

const names: Record<Field, string> = {
  sampling: "sampling",
  form: "elicitation by forms",
  url: "elicitation by pages",
  roots: "roots",
  logging: "logging",
  tasks: "tasks"
}

/** A layer that sets one field. Dies when another layer has set it. */
const feature = <R>(
  field: Field,
  set: (features: FeaturesService, context: Context.Context<never>) => void
): Feature<R> =>
  adding<R>((features, context) => {
    if (features[field] !== undefined) return `are for "${names[field]}"`
    set(features, context)
    return undefined
  })

/** A layer that adds to the features of a client. Dies when `add` says what two features do that only one may do. */
const adding = <R>(
  add: (features: FeaturesService, context: Context.Context<never>) => string | undefined
): Feature<R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const features = yield* ClientFeatures
    const context = yield* Effect.context<Exclude<R, FeatureContext | Scope.Scope>>()
    // The scope of the layer is closed when a request comes.
    const problem = add(features, Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>)
    if (problem !== undefined) yield* Effect.dieMessage(`Two features of this client ${problem}`)
  }))

/** The handler with the errors that a server gets. */
const answering =
  <P, A>(handler: (params: P) => Effect.Effect<A, any, any>) => (params: P): Effect.Effect<A, McpError, any> =>
    Effect.catchAll(handler(params) as Effect.Effect<A, Fails>, refusal)

/**
 * The error of a handler as the server gets it: an `McpError` as it is, and an `InternalError` where a call of the handler had no
 * answer. The log alone has the text of the transport, which may hold secrets. Any other error, which the types do not allow, is a defect.
 */
const refusal = (error: Fails): Effect.Effect<never, McpError> => {
  if (!isLocalError(error)) return isMcpError(error) ? Effect.fail(error) : Effect.die(error)
  const isPrivate = error._tag === "TransportError" || error._tag === "ConnectionClosed"
  const message = isPrivate ? "The client could not get the answer: the connection that it needs failed" : error.message
  const failed = Effect.fail(new InternalError({ message }))
  return isPrivate ? Effect.zipRight(Effect.logWarning("A feature of the client failed", error), failed) : failed
}

/**
 * The handler of an extension's request, with parameters and a result as they are on the wire. It dies when the answer is not a result of
 * the method.
 */
const bySchemas = <R>(
  { name, params, result }: Extension.Request,
  handler: (params: any) => Effect.Effect<any, McpError, R>
): (params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, R> => {
  const decode = SchemaParser.decodeUnknown(params)
  const encode = SchemaParser.encodeUnknown(result)
  return (params) =>
    Effect.mapError(decode(params ?? {}), (issue) => ofIssue(issue)).pipe(
      Effect.flatMap(handler),
      Effect.flatMap((answer) =>
        Effect.catchAll(encode(answer), (issue) =>
          Effect.dieMessage(`The answer to "${name}" is not a result of the method: ${Issue.sentence(issue)}`))
      )
    )
}
