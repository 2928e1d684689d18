/**
 * The methods that a client calls, by name, and how `legacy/Connect` and `modern/ModernCalls` call a method. A call that the session does
 * not allow is refused. Members that the revision of the session does not have are removed from the parameters. The result is checked, and
 * repairs of the result are reported. An error becomes a `ClientError`. The table of an era (`legacy/MethodTable`, `modern/MethodTable`)
 * says how each method does this; this module imports no module of an era.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { quoted } from "../../definition/text/Quoted.js"
import type { Params } from "../../jsonrpc/Message.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import type * as Completion from "../../protocol/Completion.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import { LoggingLevel, type SetLevelParams } from "../../protocol/Logging.js"
import { InvalidParams } from "../../protocol/McpError.js"
import * as Method from "../../protocol/Method.js"
import type { PaginatedParams } from "../../protocol/Pagination.js"
import type * as Prompts from "../../protocol/Prompts.js"
import type * as Resources from "../../protocol/Resources.js"
import * as MetaKey from "../../protocol/rules/MetaKey.js"
import type * as Tools from "../../protocol/Tools.js"
import type { Version } from "../../protocol/Version.js"
import { type ClientError, fromCall, NotNegotiated } from "../ClientError.js"
import type { CallOptions } from "../ClientSession.js"
import * as Decoding from "./Decoding.js"

/** How one method of an era converts the parameters and the result of a call. */
export interface MethodRow<in P, out R> {
  readonly narrowParams: (version: Version) => (params: P) => unknown
  readonly decodeResult: Method.Decode<R>
}

/** The methods that the functions of a session call. Each era has a table of them. */
export interface MethodTable {
  readonly "ping": MethodRow<{}, {}>
  readonly "tools/list": MethodRow<PaginatedParams, Tools.ListToolsResult>
  readonly "tools/call": MethodRow<Tools.CallToolParams, Tools.CallToolResult>
  readonly "resources/list": MethodRow<PaginatedParams, Resources.ListResourcesResult>
  readonly "resources/templates/list": MethodRow<PaginatedParams, Resources.ListResourceTemplatesResult>
  readonly "resources/read": MethodRow<Resources.ReadResourceParams, Resources.ReadResourceResult>
  readonly "resources/subscribe": MethodRow<{ readonly uri: string }, {}>
  readonly "resources/unsubscribe": MethodRow<{ readonly uri: string }, {}>
  readonly "prompts/list": MethodRow<PaginatedParams, Prompts.ListPromptsResult>
  readonly "prompts/get": MethodRow<Prompts.GetPromptParams, Prompts.GetPromptResult>
  readonly "completion/complete": MethodRow<Completion.CompleteParams, Completion.CompleteResult>
  readonly "logging/setLevel": MethodRow<SetLevelParams, {}>
}

type ParamsOf<M> = M extends MethodRow<infer P, any> ? P : never

type ResultOf<M> = M extends MethodRow<any, infer R> ? R : never

/** Calls a method by its name. */
export type Call = <Name extends keyof MethodTable>(
  name: Name,
  params: ParamsOf<MethodTable[Name]> | undefined,
  options: CallOptions | undefined
) => Effect.Effect<ResultOf<MethodTable[Name]>, ClientError>

/** The functions with which the methods of one session are called. */
export interface Calls {
  /** Calls a method that the era has, and checks parameters and result. */
  readonly call: Call
  /** Calls any method that the session allows. Neither parameters nor result are checked. */
  readonly request: (
    method: string,
    params: Params | undefined,
    options: CallOptions | undefined
  ) => Effect.Effect<Params, ClientError>
  /** Why the session does not allow a message of the client; `undefined` when it does. */
  readonly refusal: (method: string) => NotNegotiated | undefined
}

export interface Options {
  readonly outbound: Outbound
  readonly version: Version
  readonly table: MethodTable
  readonly timeouts: ReadonlyMap<string, Duration.DurationInput>
  readonly refusal: Calls["refusal"]
  readonly report: Decoding.Report
}

/** Makes the function that calls any method. */
export const requests = (
  { outbound, refusal, timeouts }: Pick<Options, "outbound" | "refusal" | "timeouts">
): Calls["request"] => {
  const checkMeta = metaCheck()
  return (method, params, options) => {
    const refused = refusal(method) ?? (options?.logLevel === undefined ? undefined : unknownLevel(options.logLevel))
    if (refused !== undefined) return Effect.fail(refused)
    const timeout = options?.timeout ?? timeouts.get(method)
    const meta = options?.meta
    const sending = Effect.mapError(
      outbound.request(
        method,
        meta === undefined ? params : { ...params, _meta: { ...meta, ...(params?._meta as JsonObject) } },
        timeout === options?.timeout ? options : { ...options, timeout }
      ),
      fromCall
    )
    return meta === undefined ? sending : Effect.zipRight(checkMeta(meta), sending)
  }
}

export const make = (options: Options): Calls => {
  const { refusal, report, table, version } = options
  const request = requests(options)
  return {
    refusal,
    request,
    call: (name, params, options) => {
      const { decodeResult, narrowParams }: MethodRow<any, any> = table[name]
      return Effect.flatMap(
        request(name, params === undefined ? undefined : narrowParams(version)(params) as Params, options),
        (result) => Decoding.decodeOrFail(name, decodeResult, result, report)
      )
    }
  }
}

/**
 * Makes the function that says why a session does not allow a message of the client. There are two reasons: the revision does not have the
 * method, or a capability of the method was not declared. Any other method, which is not in the era or in a given extension, belongs to the
 * application, and is allowed.
 */
export const refusals = (
  methods: ReadonlyMap<string, Method.Method>,
  version: Version,
  declared: Record<"client" | "server", Capabilities.Capabilities>,
  enforceCapabilities: boolean,
  extensions: ExtensionTable.ExtensionTable
): Calls["refusal"] => {
  const refused = new Map<string, ConstructorParameters<typeof NotNegotiated>[0]>()
  for (const method of methods.values()) {
    const { capability, from, gatedSince, name } = method
    const declaredBy = method.declaredBy === "sender" ? "client" : "server"
    const isIn = Method.isIn(method, version)
    const isMissing = enforceCapabilities && capability !== undefined && version >= gatedSince &&
      !Capabilities.declares(declared[declaredBy], capability)
    if (from !== "server" && (!isIn || isMissing)) {
      refused.set(name, { method: name, version, declaredBy, capability: isIn ? capability : undefined })
    }
  }
  const declaredExtensions = (declared.server.extensions ?? {}) as JsonObject
  for (const method of extensions.methods.values()) {
    const { extension, from, name } = method
    const own = methods.get(name)
    // In this revision, a method of the specification has this name.
    if (own !== undefined && Method.isIn(own, version)) continue
    const isIn = ExtensionTable.isIn(method, version)
    const isMissing = enforceCapabilities && declaredExtensions[extension] === undefined
    if (from === "client" && (!isIn || isMissing)) {
      const capability = isIn ? `extensions.${extension}` : undefined
      refused.set(name, { method: name, version, declaredBy: "server", capability })
    }
  }
  return (method) => {
    const refusal = refused.get(method)
    return refusal === undefined ? undefined : new NotNegotiated(refusal)
  }
}

const isLevel = Schema.is(LoggingLevel)

/**
 * Returns why a value is refused as a log level; `undefined` when it is a level. Without this check, a modern client would send the value
 * with every later request.
 */
export const unknownLevel = (level: unknown): InvalidParams | undefined =>
  isLevel(level) ? undefined : new InvalidParams({
    message: `${quoted(String(level))} is not a level of log messages: use one of ${LoggingLevel.literals.join(", ")}`
  })

const MAX_WARNINGS = 64

/** Logs a warning, once for each key, about keys in `_meta` that the application should not use. */
const metaCheck = (): (meta: JsonObject) => Effect.Effect<void> => {
  const warned = new Set<string>()
  return (meta) =>
    Effect.forEach(Object.keys(meta), (key) => {
      const problem = MetaKey.isDefined(key) || warned.has(key) ? undefined : MetaKey.problem(key)
      if (problem === undefined || warned.size >= MAX_WARNINGS) return Effect.void
      warned.add(key)
      return Effect.logWarning(`The key "${key.slice(0, 128)}" in "_meta" of a call: ${problem}`)
    }, { discard: true })
}
