/**
 * Calls the methods that a client's verbs name, in the modern era: through the cache, in as many rounds as the server
 * needs, and with results that hold no member of the era. Four verbs have no method of their own any more: `ping` sends
 * `server/discover`, subscribing changes the subscription, and the log level travels with later requests.
 */
import { RequestTimeout } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Meta from "@effect-mcp/protocol/Meta"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CallOptions } from "../CallOptions.js"
import type { ClientError } from "../ClientError.js"
import { fromCall, invalidResult } from "../ClientError.js"
import type * as Calls from "../session/Calls.js"
import * as Decoding from "../session/Decoding.js"
import * as InputRounds from "./InputRounds.js"
import type { Listen } from "./Listen.js"
import * as MethodTable from "./MethodTable.js"
import type { ResponseCache } from "./ResponseCache.js"
import type { Stamped } from "./Stamped.js"

export interface Options {
  readonly version: ModernVersion
  readonly outbound: Pick<Stamped, "setLogLevel">
  readonly request: Calls.Calls["request"]
  readonly listen: Listen
  /** How long the server may take to acknowledge a subscription, by default and by method. */
  readonly timeout: Duration.DurationInput
  readonly timeouts: ReadonlyMap<string, Duration.DurationInput>
  readonly cache: ResponseCache
  readonly rounds: InputRounds.Options
  readonly report: Decoding.Report
}

export const make = (
  { cache, listen, outbound, report, request, rounds, timeout, timeouts, version }: Options
): Calls.Call => {
  const subscribed = (
    method: string,
    change: Effect.Effect<void, CallError>,
    options: CallOptions | undefined
  ): Reply => {
    const duration = Duration.decode(options?.timeout ?? timeouts.get(method) ?? timeout)
    const onTimeout = () => new RequestTimeout({ method, millis: Duration.toMillis(duration) })
    return Effect.mapError(Effect.timeoutFail(change, { duration, onTimeout }), fromCall)
  }
  const replaced: Record<MethodTable.Replaced, (params: any, options: CallOptions | undefined) => Reply> = {
    "ping": (_, options) => request(Methods.discover.name, undefined, options),
    "resources/subscribe": ({ uri }, options) => subscribed("resources/subscribe", listen.subscribe(uri), options),
    "resources/unsubscribe": ({ uri }, options) =>
      subscribed("resources/unsubscribe", listen.unsubscribe(uri), options),
    "logging/setLevel": ({ level }) => Effect.sync(() => outbound.setLogLevel(level))
  }

  const call = (name: MethodTable.Name, params: JsonObject | undefined, options: CallOptions | undefined): Reply => {
    const { decodeResult, narrowParams }: Calls.MethodRow<any, any> = MethodTable.calls[name]
    const narrowed = params === undefined ? undefined : narrowParams(version)(params) as JsonObject
    const calling = Effect.flatMap(
      InputRounds.run(rounds, name, narrowed, (params) => request(name, params, options)),
      (result) =>
        Decoding.decodeOrFail(name, decodeResult, result, {
          report,
          onIssue: (issue) => invalidResult(`"${name}"`, issue)
        })
    )
    return Effect.map(
      // What the application adds to a request may change its result.
      options?.meta === undefined ? cache.through(name, narrowed, calling) : calling,
      withoutStamp
    )
  }

  const any = (name: keyof Calls.MethodTable, params: JsonObject | undefined, options: CallOptions | undefined) =>
    isReplaced(name) ? replaced[name](params, options) : call(name, params, options)
  // The table of methods gives each name the types of its parameters and its result.
  return any as Calls.Call
}

type Reply = Effect.Effect<unknown, ClientError>

const isReplaced = (name: keyof Calls.MethodTable): name is MethodTable.Replaced => !(name in MethodTable.calls)

/** A result as both eras have it: without its type, its caching hints, and the name of the server. */
const withoutStamp = ({ _meta, cacheScope: _, resultType: __, ttlMs: ___, ...result }: JsonObject): JsonObject => {
  if (_meta === undefined) return result
  const { [Meta.keys.serverInfo]: ____, ...rest } = _meta as JsonObject
  return Object.keys(rest).length === 0 ? result : { ...result, _meta: rest }
}
