/**
 * The features that a client can offer to its server: sample from a model, ask the user for input, list roots, read log messages of the
 * server. Each feature is a layer. The merged layers are the option `features` of the client, which builds them before it connects. A
 * client declares only the features that it has, and refuses requests for other features. `session/FeatureAnswers` runs the features that
 * answer requests, and `session/FeatureFibers` runs the other features.
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
 * What the user did with a form: submitted it (`accept`), refused it (`decline`), or dismissed it (`cancel`).
 *
 * @category models
 */
export type Answer =
  | { readonly action: "accept"; readonly content?: ElicitContent | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * A request of the server that asks the user to open a URL.
 *
 * @category models
 */
export interface UrlElicitation extends ElicitUrlParams {
  /**
   * The id of the elicitation. The stream `elicitationsCompleted` gives this id when the user is done. Absent with revisions that do not
   * report this.
   */
  readonly elicitationId?: string | undefined
}

/**
 * The errors with which a handler may fail. The server gets an `McpError` as it is. A `LocalError` means that a call that the handler
 * itself made has failed, for example a call with `ServerSession` to another side. Then the server gets an `InternalError`.
 *
 * @category models
 */
export type Fails = McpError | LocalError

// The type of a handler that only throws is `never`. Such a handler requires no services.
type ContextOf<Answer extends Effect.Effect<any, any, any>> = [Answer] extends [never] ? never
  : Effect.Effect.Context<Answer>

/**
 * Accepts the effect of a handler whose errors are `Fails`. For any other effect, the type is a sentence that the compiler shows.
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
 * The handler of a feature, and the context in which its layer was built.
 *
 * @category models
 */
export interface FeatureHandler<out H> {
  readonly handler: H
  readonly context: Context.Context<never>
}

/**
 * The features of one client. The layer of each feature sets fields while it is built. Afterwards no field changes.
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
  /** The handlers of requests of other methods, by the names of the methods. */
  readonly custom: Map<
    string,
    FeatureHandler<(params: JsonObject | undefined) => Effect.Effect<JsonObject, McpError, any>> & {
      /** The request, if it belongs to an extension. */
      readonly request?: Extension.Request | undefined
    }
  >
  /** The functions that read results of extensions, by the types of the results. */
  readonly results: Map<
    Extension.ResultType,
    FeatureHandler<(value: any, calls: ExtensionCalls) => Effect.Effect<any, ClientError, any>>
  >
  /** Capabilities outside of the specification, and extensions, each with the settings that the client declares. */
  readonly declared: Readonly<Record<"experimental" | "extensions", Map<string, JsonObject>>>
}

/** @category tags */
export class ClientFeatures extends Context.Tag("@effect-mcp/core/ClientFeatures")<ClientFeatures, FeaturesService>() {}

/**
 * A layer that adds a feature whose handler needs the services `R`.
 *
 * @category models
 */
export type Feature<R = never> = Layer.Layer<never, never, ClientFeatures | Exclude<R, FeatureContext | Scope.Scope>>

/**
 * Makes an empty set of features. The layers of the features fill it.
 *
 * @category constructors
 */
export const make: Effect.Effect<FeaturesService> = Effect.sync(() => ({
  custom: new Map(),
  results: new Map(),
  declared: { experimental: new Map(), extensions: new Map() }
}))

/**
 * Samples from a model. The handler chooses the model, and should ask the user first. To refuse, the handler fails with an `McpError`; see
 * `ErrorCodes.USER_REJECTED`.
 *
 * With the option `tools`, the server may give tools to the model. With the option `context`, the server may ask for context from the
 * servers of the client. Each option is `true` or an object of settings. Default: `false`. An answer that breaks the rules of tool use is a
 * defect of the handler: the client does not send the answer.
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
 * Shows forms to the user. The client adds the default of the form to a field that the answer lacks. An answer that does not fit the form
 * is a defect of the handler: the client does not send the answer.
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
  /** The settings that the client declares for this kind of elicitation. Default: an empty object. */
  readonly settings?: JsonObject | undefined
}

/**
 * Lets the user open web pages. The handler must show the whole URL, and may open it only when the user agrees. `elicitationsCompleted` of
 * the client reports when the user has completed a page. The client refuses URLs with other schemes, such as `javascript:`, `data:` and
 * `file:`, so the handler gets only URLs of web pages.
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
 * Lists the folders in which the server may work. `list` runs for each request of the server. For each value of `changes`, the client
 * notifies the server that the list has changed. Default: the client sends no notifications of changes. With revision 2026-07-28 the client
 * never sends them, because the server requests the roots again with each call that needs them. Each root MUST be a `file://` URI without
 * `..`; otherwise the server gets an internal error.
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
    // The captured context has the services of `list` and of `changes`. Only requests provide `FeatureContext`.
  }) as Layer.Layer<never, never, ClientFeatures | Exclude<R, FeatureContext | Scope.Scope> | Exclude<R2, Scope.Scope>>

/** Dies when the server must not get one of the roots, because the root is not a `file://` URI, or leads to another folder. */
const checkRoots = (roots: ReadonlyArray<Root>): Effect.Effect<void> => {
  for (const { uri } of roots) {
    const problem = FileUri.rootProblem(uri)
    if (problem !== undefined) return Effect.dieMessage(`The root "${uri}" is not valid: ${problem}`)
  }
  return Effect.void
}

/**
 * Handles the log messages of the server, one after another, while the client is connected. `setLoggingLevel` of the session chooses which
 * levels the server sends. When the scope of the client closes after a success, closing waits until all messages that have arrived are
 * handled, at most for `closeTimeout`. When the scope closes after a failure or an interruption, the handler is interrupted at once.
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
    // A log message belongs to no request, so the handler has no `FeatureContext`.
  }) as Layer.Layer<never, never, ClientFeatures | Exclude<R, Scope.Scope>>

/**
 * Answers requests of another method. `method` is a request of an extension, or the name of a method. The client checks a request of an
 * extension by its schemas, and answers it only if both sides have the extension. The client does not check a request that is given by
 * name.
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

/** A request in the form of its definition. */
interface Request {
  readonly kind: string
  readonly params: Schema.Schema<any, any>
}

type ParamsOf<M> = M extends Request ? Schema.Schema.Type<M["params"]> : JsonObject | undefined

type ResultOf<M> = M extends { readonly result: Schema.Schema<infer Result, any> } ? Result : JsonObject

/** Accepts a request that servers send. For any other value, the type is a sentence that the compiler shows. */
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
 * Reads results of one type that an extension adds to a method of the specification. `read` turns each such result into an ordinary result
 * of the method, and callers get that ordinary result. `read` may call methods of the extension with `calls`. Without this feature, a call
 * that is answered with such a result fails with reason `Decode`. Only `callEither` accepts such a result without this feature.
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
  /** How many tasks may run at the same time. Further tasks are refused. Default: 16. */
  readonly maxRunning?: number | undefined
  /**
   * How many tasks may be stored, including tasks that have ended. A new task replaces the oldest task whose result the server has fetched.
   * When there is no such task, the new task is refused. Default: 256.
   */
  readonly maxTasks?: number | undefined
  /** How many characters all results may have together, as JSON. A task whose result exceeds the limit fails. Default: 16 Mi. */
  readonly maxSize?: number | undefined
  /** How long a task is stored after its creation, when the server does not choose a time. Default: 1 hour. */
  readonly ttl?: Duration.DurationInput | undefined
  /** The longest time for which a server can have a task stored. A handler that still runs then is interrupted. Default: 1 day. */
  readonly maxTtl?: Duration.DurationInput | undefined
  /** How long servers should wait between two requests about a task. Default: 1 second. */
  readonly pollInterval?: Duration.DurationInput | undefined
}

/**
 * Lets servers of revision 2025-11-25 ask for sampling and elicitation as tasks. The client immediately answers the request with a task.
 * The handler goes on, and the server fetches its answer later. Tasks end with the session. Without this feature, and with other revisions,
 * the client answers a request for a task like a request without a task.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 * @category utils
 */
export const tasks = (options: TaskOptions = {}): Feature =>
  feature("tasks", (features) => {
    features.tasks = options
  })

/**
 * Declares an experimental capability with its settings. Use `request` to answer the methods of the capability.
 *
 * @category utils
 */
export const experimental = (name: string, settings: JsonObject = {}): Feature =>
  declaration("experimental", name, settings)

/**
 * Declares an extension with its settings. The identifier needs a prefix, as in `com.example/trace`. The layer dies when the identifier has
 * no prefix.
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

/** Makes a layer that sets one field of the features. The layer dies when another layer has already set the field. */
const feature = <R>(
  field: Field,
  set: (features: FeaturesService, context: Context.Context<never>) => void
): Feature<R> =>
  adding<R>((features, context) => {
    if (features[field] !== undefined) return `are for "${names[field]}"`
    set(features, context)
    return undefined
  })

/**
 * Makes a layer that adds to the features of a client. `add` returns `undefined` when there is no conflict. When two features conflict,
 * `add` returns the end of the sentence "Two features of this client …", and the layer dies with that sentence.
 */
const adding = <R>(
  add: (features: FeaturesService, context: Context.Context<never>) => string | undefined
): Feature<R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const features = yield* ClientFeatures
    const context = yield* Effect.context<Exclude<R, FeatureContext | Scope.Scope>>()
    // The scope is left out, because the scope of the layer may be closed when a request arrives.
    const problem = add(features, Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>)
    if (problem !== undefined) yield* Effect.dieMessage(`Two features of this client ${problem}`)
  }))

/** Wraps a handler, so that the handler fails only with errors that a server may get. */
const answering =
  <P, A>(handler: (params: P) => Effect.Effect<A, any, any>) => (params: P): Effect.Effect<A, McpError, any> =>
    Effect.catchAll(handler(params) as Effect.Effect<A, Fails>, refusal)

/**
 * Converts the error of a handler to the error that the server gets. An `McpError` stays, and a failed call of the handler becomes an
 * `InternalError`. The text of a transport error goes only to the log, because it may contain secrets. Any other error, which the types do
 * not allow, becomes a defect.
 */
const refusal = (error: Fails): Effect.Effect<never, McpError> => {
  if (!isLocalError(error)) return isMcpError(error) ? Effect.fail(error) : Effect.die(error)
  const isPrivate = error._tag === "TransportError" || error._tag === "ConnectionClosed"
  const message = isPrivate ? "The client could not get the answer: the connection that it needs failed" : error.message
  const failed = Effect.fail(new InternalError({ message }))
  return isPrivate ? Effect.zipRight(Effect.logWarning("A feature of the client failed", error), failed) : failed
}

/**
 * Wraps the handler of a request of an extension: decodes the parameters, and encodes the result. The wrapped handler dies when the answer
 * is not a result of the method.
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
