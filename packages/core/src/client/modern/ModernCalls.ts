/**
 * Calls methods in the modern era, for `Connect`. A call goes through `ResponseCache`. A call may need several requests when the server
 * asks for input (`InputRounds`). The members that only this era has are removed from the result of a call. Four functions of a session
 * have no method of their own in this era. `ping` sends `server/discover`. `subscribeResource` and `unsubscribeResource` change the
 * subscription. `setLoggingLevel` sends nothing: later requests carry the level.
 *
 * When the answer to a call was lost, the server may have run the call. Therefore the call is sent again, with a new id, only if the
 * application allows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#streamable-http
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { RequestTimeout, TransportError } from "../../jsonrpc/LocalError.js"
import type { Params, RequestId } from "../../jsonrpc/Message.js"
import type { CallError } from "../../jsonrpc/Outbound.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { ServerCapabilities } from "../../protocol/Capabilities.js"
import type * as Extension from "../../protocol/Extension.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { LoggingLevel } from "../../protocol/Logging.js"
import * as Meta from "../../protocol/Meta.js"
import * as Caching from "../../protocol/modern/Caching.js"
import * as Methods from "../../protocol/modern/Methods.js"
import type * as Tools from "../../protocol/Tools.js"
import type { ModernVersion } from "../../protocol/Version.js"
import { type ClientError, fromCall, NotNegotiated } from "../ClientError.js"
import type { CallOptions } from "../ClientSession.js"
import { reconnect } from "../http/Settings.js"
import * as Decoding from "../session/Decoding.js"
import type * as ExtensionMethods from "../session/ExtensionMethods.js"
import type * as MethodCalls from "../session/MethodCalls.js"
import type * as NegotiatedSession from "../session/NegotiatedSession.js"
import * as TimeLeft from "../session/TimeLeft.js"
import * as InputRounds from "./InputRounds.js"
import type { Listen } from "./Listen.js"
import * as MethodTable from "./MethodTable.js"
import type { ResponseCache } from "./ResponseCache.js"
import type { ResultReaders } from "./ResultReaders.js"
import * as ToolHeaders from "./ToolHeaders.js"

export interface Options extends
  Pick<
    NegotiatedSession.Options,
    "cache" | "enforceCapabilities" | "maxRetries" | "onCacheHints" | "timeout" | "timeouts" | "tools"
  >
{
  readonly serverCapabilities: ServerCapabilities
  readonly version: ModernVersion
  /** Sets the least severe level of the log messages that later requests ask for. */
  readonly setLogLevel: (level: LoggingLevel) => void
  readonly request: MethodCalls.Calls["request"]
  /** Keeps the headers that repeat arguments of tools; `undefined` when the transport has no headers. */
  readonly toolHeaders: ToolHeaders.ToolHeaders | undefined
  readonly listen: Listen
  readonly responses: ResponseCache
  readonly rounds: InputRounds.Options
  readonly readers: ResultReaders
  readonly report: Decoding.Report
}

export class ModernCalls {
  /** Sends any request. */
  readonly request: MethodCalls.Calls["request"]
  private readonly tools: Stream.Stream<Tools.Tool, ClientError>

  constructor(private readonly options: Options) {
    const { report, request, timeout, timeouts, toolHeaders, tools } = options
    this.tools = tools.list(this.call, report, { cache: false, maxRetries: 0 })
    this.request = toolHeaders === undefined
      ? request
      : ToolHeaders.requests(request, toolHeaders, tools, this.tools, timeouts.get(Methods.callTool.name) ?? timeout)
  }

  // The table of methods gives each name the types of its parameters and its result.
  readonly call = ((name: keyof MethodCalls.MethodTable, params?: JsonObject, options?: CallOptions): Reply => {
    if (isReplaced(name)) return this.replaced(name, params, options)
    const { cache, onCacheHints, readers, responses } = this.options
    const narrowed = this.narrow(name, params)
    const calling = Effect.flatMap(this.send(name, narrowed, options), (result) => {
      const resultType = this.extendedBy(name, result)
      if (onCacheHints !== undefined && resultType === undefined && Caching.isCacheable(name)) {
        onCacheHints(name, Caching.ofResult(result))
      }
      return resultType === undefined ? this.decode(name, result) : readers.read(resultType, result)
    })
    // Calls with `meta` are not cached, because the members that the application adds to a request may change its result.
    const isCached = options?.meta === undefined && (options?.cache ?? cache)
    return Effect.map(isCached ? responses.through(name, narrowed, calling) : calling, withoutEnvelope)
  }) as MethodCalls.Call

  readonly extended: Omit<ExtensionMethods.EraCalls, "subscribe"> = {
    call: (name, params, options) => Effect.map(this.send(name, params, options), withoutType),
    either: (wanted, params, options) => {
      const { readers } = this.options
      const name: MethodTable.Name = wanted.method
      return Effect.flatMap(
        this.send(name, this.narrow(name, params), options),
        (result): ReturnType<ExtensionMethods.EraCalls["either"]> => {
          const resultType = this.extendedBy(name, result)
          return resultType === undefined
            ? Effect.map(this.decode(name, result), (result) => Either.right(withoutEnvelope(result)))
            : resultType.type === wanted.type
            ? Effect.map(readers.decode(resultType, result), Either.left)
            : Effect.map(readers.read(resultType, result), Either.right)
        }
      )
    }
  }

  private replaced(name: MethodTable.Replaced, params: any, options?: CallOptions): Reply {
    const { listen, setLogLevel } = this.options
    switch (name) {
      case "ping":
        return this.request(Methods.discover.name, undefined, options)
      case "resources/subscribe":
        return this.subscribing(name, listen.subscribe(params.uri), options)
      case "resources/unsubscribe":
        return this.subscribing(name, listen.unsubscribe(params.uri), options)
      case "logging/setLevel":
        return Effect.sync(() => setLogLevel(params.level))
    }
  }

  /** Changes the subscription. Its request stays open, so only the time until the acknowledgement is limited. */
  private subscribing(
    method: MethodTable.Replaced,
    change: Effect.Effect<void, CallError>,
    options?: CallOptions
  ): Reply {
    const { enforceCapabilities, serverCapabilities, timeout, timeouts, version } = this.options
    if (enforceCapabilities && serverCapabilities.resources?.subscribe !== true) {
      return Effect.fail(
        new NotNegotiated({ method, version, capability: "resources.subscribe", declaredBy: "server" })
      )
    }
    const duration = options?.timeout ?? timeouts.get(method) ?? timeout
    return TimeLimit.call(
      Effect.mapError(change, fromCall),
      duration,
      () => Effect.fail(new RequestTimeout({ method, millis: Duration.toMillis(duration) }))
    )
  }

  private send(name: string, params?: JsonObject, options?: CallOptions): Effect.Effect<Params, ClientError> {
    return Effect.suspend(() => {
      const { maxRetries, rounds, timeout, timeouts } = this.options
      // For a method of an extension, it is not known whether it may run twice.
      const isKnown = name in MethodTable.calls
      let isLaterRound = false
      let id: RequestId | undefined
      const onId = (given: RequestId): void => {
        id = given
        options?.onId?.(given)
      }
      const sent = InputRounds.run(rounds, name, params, (now) => {
        isLaterRound = now !== params
        return sendAgain({
          maxRetries: isKnown ? options?.maxRetries ?? maxRetries : 0,
          tool: name === Methods.callTool.name ? String(now?.name) : undefined,
          tools: this.tools,
          timeout: options?.timeout ?? timeouts.get(name) ?? timeout
        }, this.request(name, now, options === undefined ? { onId } : { ...options, onId }))
      }, () => id)
      // The result of a request with input responses MUST NOT be cached (2026-07-28 server/utilities/caching).
      return Effect.map(
        TimeLeft.limited(name, options, sent),
        (result) => isKnown && isLaterRound ? { ...result, ttlMs: 0 } : result
      )
    })
  }

  private decode(name: MethodTable.Name, result: Params): Effect.Effect<JsonObject, ClientError> {
    const { decodeResult }: MethodCalls.MethodRow<any, any> = MethodTable.calls[name]
    return Decoding.decodeOrFail(name, decodeResult, result, this.options.report)
  }

  /** The type of a result, if an extension adds this type; otherwise `undefined`. */
  private extendedBy(name: string, { resultType }: Params): Extension.ResultType | undefined {
    return this.options.rounds.resultTypes.get(name)?.get(resultType as string)
  }

  private narrow(name: MethodTable.Name, params: JsonObject | undefined): JsonObject | undefined {
    const { narrowParams }: MethodCalls.MethodRow<any, any> = MethodTable.calls[name]
    return params === undefined ? undefined : narrowParams(this.options.version)(params) as JsonObject
  }
}

interface Repeat {
  /** How many times a call is sent again. */
  readonly maxRetries: number
  /** The name of the tool that the call runs; `undefined` when the call only reads. */
  readonly tool: string | undefined
  readonly tools: Stream.Stream<Tools.Tool, ClientError>
  /** How long reading the list of tools may take. */
  readonly timeout: Duration.DurationInput
}

/**
 * Runs `send` again after each loss of its answer, if the call may run twice: it only reads, or the server lists its tool as read-only or
 * idempotent. The list of tools is read after the loss, so that it is the newest. When no attempt brings an answer, the effect fails with
 * the error of the first loss, because the server may have run that attempt.
 */
const sendAgain = (
  { maxRetries, timeout, tool, tools }: Repeat,
  send: Effect.Effect<Params, ClientError>
): Effect.Effect<Params, ClientError> =>
  maxRetries <= 0 ? send : Effect.suspend(() => {
    let loss: ClientError | undefined
    let mayRunTwice = tool === undefined ? true : undefined
    const listed = Effect.tap(
      Stream.runHead(Stream.filter(tools, ({ name }) => name === tool)),
      (found) =>
        Effect.sync(() => {
          mayRunTwice = Option.exists(found, isRepeatable)
        })
    )
    const attempt = Effect.suspend(() => {
      if (loss === undefined || mayRunTwice === true) return send
      const lost = Effect.fail(loss)
      return Effect.matchEffect(TimeLimit.call(listed, timeout, () => Effect.void), {
        onFailure: () => lost,
        onSuccess: () => mayRunTwice ? send : lost
      })
    })
    return attempt.pipe(
      Effect.mapError((error) => {
        if (!isUnanswered(error)) return error
        if (loss === undefined && error.reason === "Read") loss = error
        return loss ?? error
      }),
      Effect.retry({
        schedule: reconnect,
        times: maxRetries,
        while: (error) => error === loss && mayRunTwice !== false
      })
    )
  })

const isRepeatable = ({ annotations }: Tools.Tool): boolean =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true

/** Whether an attempt brought no answer. With reason `Write`, the server has not run it. */
const isUnanswered = (error: ClientError): error is TransportError =>
  error instanceof TransportError && (error.reason === "Read" || error.reason === "Write")

type Reply = Effect.Effect<unknown, ClientError>

const isReplaced = (name: keyof MethodCalls.MethodTable): name is MethodTable.Replaced => !(name in MethodTable.calls)

/** Returns a result in the form that both eras share: without its type, its cache hints, and the name of the server. */
export const withoutEnvelope = (
  { _meta, cacheScope: _, resultType: __, ttlMs: ___, ...result }: JsonObject
): JsonObject => withMeta(result, _meta as JsonObject | undefined)

/** Returns the result of a method of an extension without its type. It keeps the cache hints, which may belong to the extension. */
const withoutType = ({ _meta, resultType: _, ...result }: JsonObject): JsonObject =>
  withMeta(result, _meta as JsonObject | undefined)

const withMeta = (result: JsonObject, meta: JsonObject | undefined): JsonObject => {
  if (meta === undefined) return result
  const members = Object.keys(meta).length
  // Copying very many members would cost more than reading them.
  if (!Object.hasOwn(meta, Meta.keys.serverInfo) || members > COPIED) {
    return members === 0 ? result : { ...result, _meta: meta }
  }
  const { [Meta.keys.serverInfo]: _, ...rest } = meta
  return members === 1 ? result : { ...result, _meta: rest }
}

/** How many members `_meta` may have so that the name of the server is removed from it. */
const COPIED = 1000
