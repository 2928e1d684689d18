/**
 * Handlers of whole methods: of methods that the application or an extension defines, or of a method of the specification
 * in place of what the server would do. A proxy consists of such handlers.
 *
 * @since 0.1.0
 */
import * as SchemaParser from "@effect-mcp/definition/unstable/SchemaParser"
import * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as JsonObjects from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as Feature from "./Feature.js"
import * as Returned from "./runtime/Returned.js"
import { ANY } from "./runtime/Router.js"
import * as Subject from "./runtime/Subject.js"

type HandlerFeature<R> = Feature.Feature<Exclude<R, Feature.RequestServices>>

/**
 * Handles the requests of one method: of an extension, or of the specification in place of the server. The parameters are
 * decoded, the result is checked, and each client receives only what its revision knows. The server advertises the
 * capability that a method of the specification needs.
 *
 * A method of an extension is served when the server has the extension among its `extensions`; a client that has not
 * declared it is refused with `MissingClientCapability`.
 *
 * The layer dies when the method has a handler already, and for `initialize`, which the server itself handles.
 */
export const request: {
  <Params, Result, R = never>(
    method: Extension.Request<"client", Params, Result>,
    handler: (params: NoInfer<Params>) => Effect.Effect<NoInfer<Result>, Feature.Fails, R>
  ): HandlerFeature<R>
  <Params, Result, R = never>(
    method: Method.Request<string, Params, Result>,
    handler: (params: Params) => Effect.Effect<Result, Feature.Fails, R>
  ): HandlerFeature<R>
} = <R>(
  method: Extension.Request<"client"> | Method.Request,
  handler: (params: any) => Effect.Effect<any, Feature.Fails, R>
): HandlerFeature<R> =>
  "extension" in method
    ? withSchemas(own(method.name, revisionsOf(method)), method, handler, method)
    : register(method, (params, _, name) => answered(name, () => handler(params)))

/**
 * Handles the notifications of one method, of an extension or of the specification. A notification whose parameters do not
 * decode is dropped.
 */
export const notification: {
  <Params, R = never>(
    method: Extension.Notification<"client", Params>,
    handler: (params: NoInfer<Params>) => Effect.Effect<void, never, R>
  ): HandlerFeature<R>
  <Params, R = never>(
    method: Method.Notification<string, Params>,
    handler: (params: Params) => Effect.Effect<void, never, R>
  ): HandlerFeature<R>
} = <R>(
  method: Extension.Notification<"client"> | Method.Notification,
  handler: (params: any) => Effect.Effect<void, never, R>
): HandlerFeature<R> =>
  "extension" in method
    ? withSchema(method.name, method.params, handler, method)
    : register(method, (params, _, name) => Returned.run(() => handler(params), actor(name)))

/**
 * Chooses among the keys that a client wants to subscribe to with the filter of this notification, for example those of the
 * principal. The client learns which keys were accepted. Without such a handler the server accepts all of them.
 */
export const subscription = <R = never>(
  { filter, name }: Extension.Notification<"server", any, "keys">,
  accept: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, Feature.Fails, R>
): HandlerFeature<R> =>
  Feature.make(({ filters }, context) =>
    filters.register({ name: filter!, context, accept: (keys) => Returned.run(() => accept(keys), actor(name)) })
  )

/**
 * Ends a handler: its request is answered with this result of an extension. It fails, so what the handler does after it does
 * not run. A client that has not declared the extension gets `MissingClientCapability`; see `RequestContext.extension`.
 */
export const answer = <Value>(
  resultType: Extension.ResultType<any, Value>,
  value: NoInfer<Value>
): Effect.Effect<never, Extension.ExtendedResult> => Effect.fail(new Extension.ExtendedResult({ resultType, value }))

/**
 * Handles the notification that the roots of the client have changed. The handler may request the new roots.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
 */
export const rootsListChanged = <R = never>(handler: Effect.Effect<void, never, R>): HandlerFeature<R> =>
  register(rootsChanged, (_, __, name) => Returned.effect(handler, actor(name)))

const rootsChanged = Method.notification({
  name: "notifications/roots/list_changed",
  from: "client",
  params: Method.Empty
})

/**
 * Handles the requests of a method that the application defines. The schemas decode its parameters and encode its result.
 */
export const customRequest = <Params, ParamsEncoded, Result, ResultEncoded, R = never>(
  name: string,
  schemas: {
    readonly params: Schema.Schema<Params, ParamsEncoded>
    readonly result: Schema.Schema<Result, ResultEncoded>
  },
  handler: (params: Params) => Effect.Effect<Result, Feature.Fails, R>
): HandlerFeature<R> => withSchemas(own(name), schemas, handler)

const withSchemas = <R>(
  method: Method.Request,
  schemas: { readonly params: Schema.Schema<any, any>; readonly result: Schema.Schema<any, any> },
  handler: (params: any) => Effect.Effect<any, Feature.Fails, R>,
  extension?: Extension.Request
): HandlerFeature<R> => {
  const { name } = method
  const decode = SchemaParser.decodeUnknown(schemas.params)
  const encode = ParseResult.encodeUnknown(schemas.result)
  return register(
    method,
    (_, raw) =>
      Effect.flatMap(
        Effect.mapError(decode(raw ?? {}), (issue) => McpError.ofIssue(issue)),
        (params) =>
          answered(name, () =>
            Effect.flatMap(
              Returned.run(() => handler(params), actor(name)),
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
 * Handles the notifications of a method that the application defines. A notification whose parameters do not decode is
 * dropped.
 */
export const customNotification = <Params, ParamsEncoded, R = never>(
  name: string,
  params: Schema.Schema<Params, ParamsEncoded>,
  handler: (params: Params) => Effect.Effect<void, never, R>
): HandlerFeature<R> => withSchema(name, params, handler)

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
    params: JsonObjects.JsonObject,
    ...(extension === undefined ? undefined : revisionsOf(extension))
  })
  const run = (_: unknown, raw: JsonObject | undefined) =>
    Effect.matchEffect(decode(raw ?? {}), {
      onFailure: () => Effect.void,
      onSuccess: (params) => Returned.run(() => handler(params), actor(name))
    })
  return register(method, run, extension)
}

/**
 * Handles every request that nothing else handles. It gets the method and the parameters as the client sent them; the
 * server sends the result without a check.
 */
export const fallback = <R = never>(
  handler: (
    request: { readonly method: string; readonly params: JsonObject | undefined }
  ) => Effect.Effect<JsonObject, Feature.Fails, R>
): HandlerFeature<R> =>
  register(
    own(ANY, undefined, JsonObjects.JsonObject),
    (_, params, method) => answered(method, () => handler({ method, params }))
  )

const own = (
  name: string,
  revisions?: ReturnType<typeof revisionsOf>,
  params: Schema.Schema<any> = Method.NoParams
): Method.Request => Method.request({ name, from: "client", params, result: JsonObjects.JsonObject, ...revisions })

const revisionsOf = ({ since, until }: Extension.Revisions) => until === undefined ? { since } : { since, until }

const actor = (method: string): string => `The handler of ${Subject.method(method)}`

/** Runs a handler of requests, and dies when it gives what JSON cannot express. */
const answered = <A, E, R>(method: string, handler: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Returned.run(handler, actor(method)), (result) => Returned.json(result, actor(method)))

const register = <R>(
  method: Method.Method,
  run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, R>,
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
