/**
 * The methods that a client calls, by name, and how one is called: its parameters are narrowed to the revision of the
 * session, its result is checked, and its error is translated. What had to be mended in a result is reported. How a method narrows and checks stands in the table of
 * each era; this module imports no era.
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import type * as Completion from "@effect-mcp/protocol/Completion"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { SetLevelParams } from "@effect-mcp/protocol/Logging"
import type * as Method from "@effect-mcp/protocol/Method"
import type { PaginatedParams } from "@effect-mcp/protocol/Pagination"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { CallOptions } from "../CallOptions.js"
import type { ClientError } from "../ClientError.js"
import { fromCall, invalidResult } from "../ClientError.js"
import * as Decoding from "./Decoding.js"

/** What one method of an era does with the parameters and the result of a call. */
export interface MethodRow<in P, out R> {
  readonly narrowParams: (version: Version) => (params: P) => unknown
  readonly decodeResult: Method.Decode<R>
}

/** The methods that the verbs of a client name. Each era has a table of them. */
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

export const make = (
  outbound: Outbound,
  version: Version,
  table: MethodTable,
  report: Decoding.Report
): Call =>
(name, params, options) => {
  const { decodeResult, narrowParams }: MethodRow<any, any> = table[name]
  return Effect.matchEffect(
    send(outbound, name, params === undefined ? undefined : narrowParams(version)(params) as Params, options),
    {
      onFailure: (error) => Effect.fail(fromCall(error)),
      onSuccess: (result) =>
        Decoding.decodeOrFail(name, decodeResult, result, {
          report,
          onIssue: (issue) => invalidResult(`"${name}"`, issue)
        })
    }
  )
}

/** Calls any method, without checks. */
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
