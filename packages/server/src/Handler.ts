/**
 * Methods that the application serves itself: its own, those of an extension, or one of the specification's in place of
 * what this library would do. What a proxy is made of.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as JsonObjects from "@effect-mcp/protocol/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as Method from "@effect-mcp/protocol/Method"
import * as Issue from "@effect-mcp/protocol/unstable/Issue"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as Feature from "./Feature.js"
import { ANY } from "./runtime/Router.js"

type Kept<R> = Feature.Feature<Exclude<R, Feature.RequestServices>>

/**
 * Serves the requests of one method of the specification, in place of the server: parameters checked, the result checked
 * and told to each peer in the words of its revision. The capability that gates the method is advertised.
 *
 * Building the layer dies when the method has a handler already. `initialize` is the server's own.
 *
 * @since 0.1.0
 * @category features
 */
export const request = <Params, Result, R = never>(
  method: Method.Request<string, Params, Result>,
  handler: (params: Params) => Effect.Effect<Result, Feature.Fails, R>
): Kept<R> => register(method, handler)

/**
 * Hears the notifications of one method of the specification.
 *
 * @since 0.1.0
 * @category features
 */
export const notification = <Params, R = never>(
  method: Method.Notification<string, Params>,
  handler: (params: Params) => Effect.Effect<void, never, R>
): Kept<R> => register(method, handler)

/**
 * Hears that the client's roots have changed; it may ask for them, on the channel beside all requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes
 * @since 0.1.0
 * @category features
 */
export const rootsListChanged = <R = never>(handler: Effect.Effect<void, never, R>): Kept<R> =>
  register(Methods.rootsListChanged, () => handler)

/**
 * Serves requests of a method of the application's own: parameters are decoded and results encoded by these schemas.
 *
 * @since 0.1.0
 * @category features
 */
export const customRequest = <Params, ParamsEncoded, Result, ResultEncoded, R = never>(
  name: string,
  schemas: {
    readonly params: Schema.Schema<Params, ParamsEncoded>
    readonly result: Schema.Schema<Result, ResultEncoded>
  },
  handler: (params: Params) => Effect.Effect<Result, Feature.Fails, R>
): Kept<R> => {
  const decode = ParseResult.decodeUnknown(schemas.params)
  const encode = ParseResult.encodeUnknown(schemas.result)
  return register(own(name), (_, raw) =>
    Effect.flatMap(
      Effect.mapError(decode(raw ?? {}), (issue) => McpError.ofIssue(issue)),
      (params) =>
        Effect.flatMap(handler(params), (result) =>
          Effect.catchAll(encode(result), (issue) =>
            Effect.die(
              new Error(`The handler of "${name}" returned a value that is not a result of the method`, {
                cause: issue
              })
            )))
    ))
}

/**
 * Hears notifications of a method of the application's own. One whose parameters do not fit is dropped.
 *
 * @since 0.1.0
 * @category features
 */
export const customNotification = <Params, ParamsEncoded, R = never>(
  name: string,
  params: Schema.Schema<Params, ParamsEncoded>,
  handler: (params: Params) => Effect.Effect<void, never, R>
): Kept<R> => {
  const decode = ParseResult.decodeUnknown(params)
  const method = Method.notification({ name, from: "client", params: JsonObjects.JsonObject })
  return register(method, (_, raw) =>
    Effect.matchEffect(decode(raw ?? {}), {
      onFailure: () => Effect.void,
      onSuccess: handler
    }))
}

/**
 * Serves every request that nothing else serves, unchecked: its method and its parameters as they came; the result goes
 * out as it is.
 *
 * @since 0.1.0
 * @category features
 */
export const fallback = <R = never>(
  handler: (
    request: { readonly method: string; readonly params: JsonObject | undefined }
  ) => Effect.Effect<JsonObject, Feature.Fails, R>
): Kept<R> => register(own(ANY, JsonObjects.JsonObject), (_, params, method) => handler({ method, params }))

const own = (name: string, params: Schema.Schema<any> = Method.NoParams): Method.Request =>
  Method.request({ name, from: "client", params, result: JsonObjects.JsonObject })

const register = <R>(
  method: Method.Method,
  run: (params: any, raw: JsonObject | undefined, method: string) => Effect.Effect<unknown, unknown, R>
): Kept<R> =>
  Feature.make(({ handlers }, context) =>
    method.name === Methods.initialize.name
      ? Effect.dieMessage(`"${method.name}" is served by the server itself`)
      : handlers.register({ method, context, run })
  )
