/**
 * Registers handlers of JSON-RPC methods. A method may belong to the application, to an extension or to the specification. A handler for a
 * method of the specification replaces the server's own behaviour. `TasksServer` registers the methods of tasks with this module, and a
 * proxy registers the methods of extensions. `runtime/Routes` finds the handler of a method.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "../definition/schema/SchemaParser.js"
import * as Extension from "../protocol/Extension.js"
import * as ExtensionTable from "../protocol/extension/ExtensionTable.js"
import * as Issue from "../protocol/Issue.js"
import * as Json from "../protocol/Json.js"
import * as McpError from "../protocol/McpError.js"
import * as Method from "../protocol/Method.js"
import * as Feature from "./Feature.js"
import type { RequestContext } from "./RequestContext.js"
import * as HandlerName from "./runtime/HandlerName.js"
import * as HandlerOutcome from "./runtime/HandlerOutcome.js"
import * as HandlerResult from "./runtime/HandlerResult.js"
import { ANY } from "./runtime/Route.js"

type HandlerFeature<R> = Feature.Feature<Exclude<R, Feature.RequestServices>>

/** A request or a notification: of an extension, or of the specification. */
interface AnyMethod {
  readonly kind: string
  readonly name: string
  readonly params: Schema.Schema<any, any>
}

type ParamsOf<M extends AnyMethod> = Schema.Schema.Type<M["params"]>

type ResultOf<M> = M extends { readonly result: Schema.Schema<infer Result, any> } ? Result : never

// A handler that only throws requires nothing.
type ContextOf<Handled extends Effect.Effect<any, any, any>> = [Handled] extends [never] ? never
  : Effect.Effect.Context<Handled>

/** Accepts a method that clients send. For any other method this type is a sentence, which the compiler shows as an error. */
type FromClient<M, Kind> = M extends { readonly kind: Kind }
  ? M extends { readonly revisions: unknown; readonly extension?: never }
    ? "This belongs to no extension yet: use the value that Extension.make returns"
  : M extends { readonly extension: string; readonly from: "server" }
    ? Kind extends "request" ?
      "The server sends this request, and clients answer it: use ClientFeatures.request of the client"
    : "The server sends this notification: use McpServer.notifySubscribers, or notify of a RequestContext"
  : unknown
  : Kind extends "request" ? "A notification has no response: use MethodHandler.notification"
  : "A request needs a response: use MethodHandler.request"

/**
 * Makes a feature that handles the requests of one method of an extension or of the specification. For a method of the specification, the
 * handler replaces the server's own behaviour, and the server advertises the capability of the method. The server decodes the parameters
 * and checks the result. Each client receives only the members that its revision defines.
 *
 * The server serves a method of an extension only when the option `extensions` of the server contains the extension. A client that has not
 * declared the extension gets the error `MissingClientCapability`.
 *
 * The layer dies in two cases: when the method already has a handler, and when the method is `initialize`, which only the server can
 * handle.
 *
 * @category utils
 */
export const request = <M extends AnyMethod, Handled extends Effect.Effect<ResultOf<NoInfer<M>>, any, any>>(
  method: M & FromClient<NoInfer<M>, "request">,
  handler: (params: ParamsOf<NoInfer<M>>) => Handled & Feature.Allowed<Effect.Effect.Error<NoInfer<Handled>>>
): HandlerFeature<ContextOf<Handled>> => {
  const given: AnyMethod = method
  // `FromClient` and `Allowed` accept these only.
  const one = given as Extension.Request<"client"> | Method.Request
  const handle = handler as (params: any) => Effect.Effect<any, Feature.Fails, ContextOf<Handled>>
  return "extension" in one
    ? withSchemas(own(one.name, revisionsOf(one)), one, handle, one)
    // Some clients send an empty cursor for the first page.
    : register(
      one,
      (params, _, name) =>
        answered(name, () => handle(params.cursor === "" ? { ...params, cursor: undefined } : params))
    )
}

/**
 * Makes a feature as `request` does, for a method that several features of a server handle. Each of these features registers a handler. The
 * server uses the handler that was registered first. When this handler is removed, the server uses the next handler. The middleware and the
 * checks around a feature do not apply to the handler. The server sends the handler's results without a check.
 *
 * @category utils
 */
export const shared = <Params, Result extends object>(
  method: Extension.Request<"client", Params, Result>,
  handler: (params: Params) => Effect.Effect<Result, unknown, RequestContext>
): Feature.Feature => {
  const decode = SchemaParser.decodeUnknown(method.params)
  return Feature.make(({ handlers }) =>
    handlers.register({
      method: own(method.name, revisionsOf(method)),
      context: Context.empty(),
      extension: method.extension,
      isShared: true,
      run: (_, raw) =>
        Effect.flatMap(
          Effect.mapError(decode(raw ?? {}), (issue) => McpError.ofIssue(issue)),
          (params) => Effect.map(handler(params), unchecked)
        )
    }, { yields: true })
  )
}

/**
 * Makes a feature that handles the notifications of one method of an extension or of the specification. The server drops a notification
 * whose parameters do not decode.
 *
 * @category utils
 */
export const notification = <M extends AnyMethod, E = never, R = never>(
  method: M & FromClient<NoInfer<M>, "notification">,
  handler: (params: ParamsOf<NoInfer<M>>) => Effect.Effect<void, E, R> & NoFailure<E>
): HandlerFeature<R> => {
  const given: AnyMethod = method
  // `FromClient` and `NoFailure` accept these only.
  const one = given as Extension.Notification<"client"> | Method.Notification
  const run = handler as (params: any) => Effect.Effect<void, never, R>
  return "extension" in one
    ? withSchema(one.name, one.params, run, one)
    : register(one, (params, _, name) => HandlerResult.run(() => run(params), actor(name)))
}

type NoFailure<E> = [E] extends [never] ? unknown
  : "A notification has no response that could carry the failure: catch it, for example with Effect.catchAll"

/**
 * Makes a feature that decides to which keys of an extension's notification a client may subscribe. The handler gets the keys that the
 * client names, and returns the accepted keys, for example only the keys that the client's principal may see. The server tells the client
 * which keys the handler has accepted. When no feature has a handler for the notification, the server accepts all keys.
 *
 * @category utils
 */
export const subscription = <R = never>(
  { filter, name }: Extension.Notification<"server", any, "keys">,
  accept: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, Feature.Fails, R>
): HandlerFeature<R> =>
  Feature.make(({ filters }, context) =>
    filters.register({ name: filter!, context, accept: (keys) => HandlerResult.run(() => accept(keys), actor(name)) })
  )

/**
 * Ends a handler, and answers the request of the handler with this result of an extension. This effect fails, so the rest of the handler
 * does not run. A client that has not declared the extension gets the error `MissingClientCapability` instead. A handler can check this
 * first with `RequestContext.client.extension`.
 *
 * @category utils
 */
export const answer = <Value>(
  resultType: Extension.ResultType<any, Value>,
  value: NoInfer<Value>
): Effect.Effect<never, Extension.ExtendedResult> => Effect.fail(new Extension.ExtendedResult({ resultType, value }))

/**
 * Makes a feature that handles the notification that the roots of the client have changed. The handler may request the new roots.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
 * @category combinators
 */
export const rootsListChanged = <R = never, E = never>(
  handler: Effect.Effect<void, E, R> & NoFailure<E>
): HandlerFeature<R> => register(rootsChanged, (_, __, name) => HandlerResult.effect(handler, actor(name)))

const rootsChanged = Method.notification({
  name: "notifications/roots/list_changed",
  from: "client",
  params: Method.Empty
})

/**
 * Makes a feature that handles the requests of a method that the application defines. The schemas decode the parameters and encode the
 * result.
 *
 * @category utils
 */
export const customRequest = <
  Params,
  ParamsEncoded,
  Result,
  ResultEncoded,
  Handled extends Effect.Effect<NoInfer<Result>, any, any>
>(
  name: string,
  schemas: {
    readonly params: Schema.Schema<Params, ParamsEncoded>
    readonly result: Schema.Schema<Result, ResultEncoded>
  },
  handler: (params: NoInfer<Params>) => Handled & Feature.Allowed<Effect.Effect.Error<NoInfer<Handled>>>
): HandlerFeature<ContextOf<Handled>> => withSchemas(own(name), schemas, handler)

const withSchemas = <R>(
  method: Method.Request,
  schemas: { readonly params: Schema.Schema<any, any>; readonly result: Schema.Schema<any, any> },
  handler: (params: any) => Effect.Effect<any, Feature.Fails, R>,
  extension?: Extension.Request
): HandlerFeature<R> => {
  const { name } = method
  const decode = SchemaParser.decodeUnknown(schemas.params)
  const encode = SchemaParser.encodeUnknown(schemas.result)
  return register(
    method,
    (_, raw) =>
      Effect.flatMap(
        Effect.mapError(decode(raw ?? {}), (issue) => McpError.ofIssue(issue)),
        (params) =>
          answered(name, () =>
            Effect.flatMap(
              HandlerResult.run(() => handler(params), actor(name)),
              (result) =>
                Effect.catchAll(encode(result), (issue) =>
                  Effect.dieMessage(
                    `${actor(name)} returned a value that is not a result of the method: ${Issue.sentence(issue)}`
                  ))
            ))
      ),
    extension
  )
}

/**
 * Makes a feature that handles the notifications of a method that the application defines. The server drops a notification whose parameters
 * do not decode.
 *
 * @category utils
 */
export const customNotification = <Params, ParamsEncoded, R = never, E = never>(
  name: string,
  params: Schema.Schema<Params, ParamsEncoded>,
  handler: (params: Params) => Effect.Effect<void, E, R> & NoFailure<E>
): HandlerFeature<R> => withSchema(name, params, handler as (params: any) => Effect.Effect<void, never, R>)

const withSchema = <R>(
  name: string,
  params: Schema.Schema<any, any>,
  handler: (params: any) => Effect.Effect<void, never, R>,
  extension?: Extension.Notification
): HandlerFeature<R> => {
  const decode = SchemaParser.decodeUnknown(params)
  const method = Method.notification({
    name,
    from: "client",
    params: Json.JsonObject,
    ...(extension === undefined ? undefined : revisionsOf(extension))
  })
  const run = (_: unknown, raw: Json.JsonObject | undefined) =>
    Effect.matchEffect(decode(raw ?? {}), {
      onFailure: () => Effect.void,
      onSuccess: (params) => HandlerResult.run(() => handler(params), actor(name))
    })
  return register(method, run, extension)
}

/**
 * Makes a feature that handles the requests of all methods that have no other handler. The handler gets the method and the parameters as
 * the client sent them. The server checks only that the result is JSON.
 *
 * @category utils
 */
export const fallback = <Handled extends Effect.Effect<Json.JsonObject, any, any>>(
  handler: (
    request: { readonly method: string; readonly params: Json.JsonObject | undefined }
  ) => Handled & Feature.Allowed<Effect.Effect.Error<NoInfer<Handled>>>
): HandlerFeature<ContextOf<Handled>> =>
  register(
    own(ANY, undefined, Json.JsonObject),
    (_, params, method) => answered(method, () => handler({ method, params }))
  )

/**
 * Marks a result that comes from another server. This server sends a marked result without a check, also when the handler of a tool, prompt
 * or resource returns it.
 *
 * @category utils
 */
export const unchecked = <A extends object>(result: A): A => {
  HandlerOutcome.unchecked.add(result)
  return result
}

const own = (
  name: string,
  revisions?: ReturnType<typeof revisionsOf>,
  params: Schema.Schema<any> = Method.NoParams
): Method.Request => Method.request({ name, from: "client", params, result: Json.JsonObject, ...revisions })

const revisionsOf = ({ since, until }: Extension.Revisions) => until === undefined ? { since } : { since, until }

const actor = (method: string): string => `The handler of ${HandlerName.method(method)}`

/** Runs a handler of requests. Dies when JSON cannot express the handler's result. */
const answered = <A, E, R>(method: string, handler: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(HandlerResult.run(handler, actor(method)), (result) => HandlerResult.json(result, actor(method)))

const register = <R>(
  method: Method.Method,
  run: (params: any, raw: Json.JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, R>,
  extension?: Extension.Request | Extension.Notification
): HandlerFeature<R> =>
  Feature.make(({ handlers }, context) =>
    method.name === "initialize"
      ? Effect.dieMessage(`"${method.name}" is handled by the server itself`)
      : handlers.register({
        method,
        context,
        run,
        extension: extension?.extension,
        requires: extension === undefined || (extension.kind === "request" && extension.declaredBy === "server")
          ? undefined
          : ExtensionTable.capability(extension.extension)
      })
  )
