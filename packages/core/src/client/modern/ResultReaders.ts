/**
 * Reads results that extensions add to methods of the specification, for `ModernCalls`. The module decodes each result by its schema. Then
 * a feature of the client turns the decoded result into an ordinary result of the method. `Connect` makes the readers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as SchemaParser from "../../definition/schema/SchemaParser.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import type { Params } from "../../jsonrpc/Message.js"
import type * as Extension from "../../protocol/Extension.js"
import { type ClientError, invalidResult } from "../ClientError.js"
import type { FeaturesService } from "../ClientFeatures.js"
import type { ExtensionCalls } from "../ClientSession.js"

export interface ResultReaders {
  readonly decode: (resultType: Extension.ResultType, result: Params) => Effect.Effect<any, ClientError>
  /** Returns the ordinary result of the method. Fails when no feature reads this type of results. */
  readonly read: (resultType: Extension.ResultType, result: Params) => Effect.Effect<any, ClientError>
}

/** Makes the readers. `calls` returns the functions of the session, which exists only when the first result arrives. */
export const make = ({ results }: FeaturesService, calls: () => ExtensionCalls): ResultReaders => {
  const decode: ResultReaders["decode"] = ({ method, value }, result) =>
    Effect.mapError(SchemaParser.decodeUnknown(value)(result), (issue) => invalidResult(`"${method}"`, issue))
  return {
    decode,
    read: (resultType, result) => {
      const feature = results.get(resultType)
      return feature === undefined ? Effect.fail(unread(resultType)) : Effect.mapInputContext(
        Effect.scoped(
          Effect.flatMap(decode(resultType, result), (value) => feature.handler(value, calls()))
        ) as Effect.Effect<any, ClientError>,
        (caller: Context.Context<never>) => Context.merge(caller, feature.context)
      )
    }
  }
}

const unread = ({ method, type }: Extension.ResultType): TransportError =>
  new TransportError({
    reason: "Decode",
    message: `The server answered "${method}" with a result of the type "${type}", which this client cannot read: ` +
      "call the method with callEither, or add the feature ClientFeatures.result"
  })
