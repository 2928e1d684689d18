/**
 * Handlers of whole methods: of methods that the application or an extension defines, or of a method of the specification
 * in place of what the server would do. A proxy consists of such handlers.
 *
 * @since 0.1.0
 */
import * as SchemaParser from "@effect-mcp/definition/unstable/SchemaParser"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as JsonObjects from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
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
 * Handles the requests of one method of the specification, in place of the server. The parameters are decoded, the result
 * is checked, and each client receives only what its revision knows. The server advertises the capability that the method
 * needs.
 *
 * The layer dies when the method has a handler already, and for `initialize`, which the server itself handles.
 */
export const request = <Params, Result, R = never>(
  method: Method.Request<string, Params, Result>,
  handler: (params: Params) => Effect.Effect<Result, Feature.Fails, R>
): HandlerFeature<R> => register(method, (params, _, name) => answered(name, () => handler(params)))

/**
 * Handles the notifications of one method of the specification. A notification whose parameters do not decode is dropped.
 */
export const notification = <Params, R = never>(
  method: Method.Notification<string, Params>,
  handler: (params: Params) => Effect.Effect<void, never, R>
): HandlerFeature<R> => register(method, (params, _, name) => Returned.run(() => handler(params), actor(name)))

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
): HandlerFeature<R> => {
  const decode = SchemaParser.decodeUnknown(schemas.params)
  const encode = ParseResult.encodeUnknown(schemas.result)
  return register(
    own(name),
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
      )
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
): HandlerFeature<R> => {
  const decode = SchemaParser.decodeUnknown(params)
  const method = Method.notification({ name, from: "client", params: JsonObjects.JsonObject })
  return register(method, (_, raw) =>
    Effect.matchEffect(decode(raw ?? {}), {
      onFailure: () => Effect.void,
      onSuccess: (params) => Returned.run(() => handler(params), actor(name))
    }))
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
  register(own(ANY, JsonObjects.JsonObject), (_, params, method) => answered(method, () => handler({ method, params })))

const own = (name: string, params: Schema.Schema<any> = Method.NoParams): Method.Request =>
  Method.request({ name, from: "client", params, result: JsonObjects.JsonObject })

const actor = (method: string): string => `The handler of ${Subject.method(method)}`

/** Runs a handler of requests, and dies when it gives what JSON cannot express. */
const answered = <A, E, R>(method: string, handler: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Returned.run(handler, actor(method)), (result) => Returned.json(result, actor(method)))

const register = <R>(
  method: Method.Method,
  run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, R>
): HandlerFeature<R> =>
  Feature.make(({ handlers }, context) =>
    method.name === "initialize"
      ? Effect.dieMessage(`"${method.name}" is handled by the server itself`)
      : handlers.register({ method, context, run })
  )
