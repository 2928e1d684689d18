/**
 * How any method is called: parameters in the words of the server's revision, the result checked, errors named; and how a
 * list that comes in pages is read.
 *
 * @since 0.1.0
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Method from "@effect-mcp/protocol/Method"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ClientError } from "../ClientError.js"
import { fromCall, invalidResult } from "../ClientError.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface CallOptions extends RequestOptions {
  /** `_meta` of the request. */
  readonly meta?: JsonObject | undefined
}

/**
 * Calls a method.
 *
 * @since 0.1.0
 * @category models
 */
export type Call = <P extends object, R>(
  method: Method.Request<string, P, R>,
  params: P | undefined,
  options: CallOptions | undefined
) => Effect.Effect<R, ClientError>

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (outbound: Outbound, version: Version): Call => {
  const check = <R>(method: Method.Request<string, any, R>) => (answer: Params): Either.Either<R, ClientError> =>
    Either.mapLeft(method.decodeResult(answer), ({ issue }) => invalidResult(`"${method.name}"`, issue))
  return (method, params, options) => {
    const said = params === undefined ? undefined : method.narrowParams(version)(params) as Params
    return Effect.matchEffect(send(outbound, method.name, said, options), {
      onFailure: (error) => Effect.fail(fromCall(error)),
      onSuccess: check(method)
    })
  }
}

/**
 * Calls any method, unchecked.
 *
 * @since 0.1.0
 * @category running
 */
export const send = (
  outbound: Outbound,
  method: string,
  params: Params | undefined,
  options: CallOptions | undefined
): ReturnType<Outbound["request"]> =>
  outbound.request(
    method,
    options?.meta === undefined ? params : { ...params, _meta: { ...options.meta, ...(params?._meta as JsonObject) } },
    options
  )

/**
 * How many pages of a list are read before the server is taken to be endless.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_PAGES = 64

/**
 * All entries of a list, page after page, as they are wanted. Fails with reason `Decode` after 64 pages, and when a page
 * would come twice.
 *
 * @since 0.1.0
 * @category constructors
 */
export const pages = <P extends { readonly nextCursor?: string | undefined }, A>(
  { name }: Method.Request,
  list: (cursor: string | undefined) => Effect.Effect<P, ClientError>,
  items: (page: P) => ReadonlyArray<A>
): Stream.Stream<A, ClientError> =>
  Stream.suspend(() => {
    const seen = new Set<string | undefined>()
    return Stream.paginateChunkEffect(undefined as string | undefined, (cursor) => {
      if (seen.has(cursor)) return Effect.fail(endless(name, "a cursor was given out twice"))
      if (seen.size === MAX_PAGES) return Effect.fail(endless(name, `there are more than ${MAX_PAGES} pages`))
      seen.add(cursor)
      return Effect.map(list(cursor), (page) => [
        Chunk.unsafeFromArray(items(page)),
        Option.map(Option.fromNullable(page.nextCursor), (next): string | undefined => next)
      ])
    })
  })

const endless = (method: string, why: string): TransportError =>
  new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: ${why}` })
