/**
 * What a handler does with an extension: reads the settings of both sides, sends its notifications and requests to the client.
 * The same for both eras; an extension that the server was not given, that the client has not declared or that the revision
 * does not have, is as absent.
 */
import * as SchemaParser from "@effect-mcp/definition/unstable/SchemaParser"
import { JsonRpcError } from "@effect-mcp/jsonrpc/JsonRpcError"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { CallError, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import * as Capabilities from "@effect-mcp/protocol/Capabilities"
import type * as Extension from "@effect-mcp/protocol/Extension"
import * as Issue from "@effect-mcp/protocol/Issue"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as McpError from "@effect-mcp/protocol/McpError"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AskError } from "../ServerSession.js"

/** What is known of a client. */
interface Facts {
  readonly clientCapabilities: ClientCapabilities
  readonly version: Version
}

/** The settings of both sides; `None` where the extension is absent. Fails when those of the client do not decode. */
export const settings = (
  { clientCapabilities, version }: Facts,
  extensions: ExtensionTable.ExtensionTable,
  { id, settings, since, until }: Extension.Extension.Any
): Effect.Effect<Option.Option<any>, McpError.InvalidParams> => {
  const declared = clientCapabilities.extensions?.[id]
  return declared === undefined || !ExtensionTable.has(extensions, { extension: id, since, until }, version)
    ? Effect.succeedNone
    : Effect.mapBoth(SchemaParser.decodeUnknown(settings.client)(declared), {
      onFailure: (issue) => McpError.ofIssue(issue, `settings of the extension "${id}"`),
      onSuccess: (client) => Option.some({ client, server: extensions.own.get(id) })
    })
}

/** Whether the client of a request has declared these capabilities, or this part of an extension can be used with it. */
export const supports = (
  facts: Facts,
  extensions: ExtensionTable.ExtensionTable,
  required: ClientCapabilities | Extension.Part
): boolean =>
  isPart(required)
    ? isPresent(facts, extensions, required)
    : Capabilities.missing(facts.clientCapabilities, required) === undefined

// Capabilities are objects.
const isPart = (required: ClientCapabilities | Extension.Part): required is Extension.Part =>
  typeof (required as Extension.Part).extension === "string"

/** Sends a notification; it is dropped where the extension is absent. */
export const notify = (
  facts: Facts,
  extensions: ExtensionTable.ExtensionTable,
  send: (method: string, params: JsonObject) => Effect.Effect<void>,
  notification: Extension.Notification,
  params: unknown
): Effect.Effect<void> =>
  isPresent(facts, extensions, notification)
    ? Effect.flatMap(encode(notification, params), (params) => send(notification.name, params))
    : Effect.void

/** Sends a request, and decodes its result. */
export const request = (
  facts: Facts,
  extensions: ExtensionTable.ExtensionTable,
  send: (method: string, params: JsonObject, options?: RequestOptions) => Effect.Effect<JsonObject, CallError>,
  request: Extension.Request,
  params: unknown,
  options: RequestOptions | undefined
): Effect.Effect<any, AskError> => {
  const { extension, name, result } = request
  if (!ExtensionTable.has(extensions, request, facts.version)) {
    return Effect.fail(new McpError.MethodNotFound({ method: name }))
  }
  if (!isPresent(facts, extensions, request)) {
    return Effect.fail(new McpError.MissingClientCapability({ required: ExtensionTable.capability(extension) }))
  }
  return encode(request, params).pipe(
    Effect.flatMap((params) => send(name, params, options)),
    Effect.mapError((error) => error instanceof JsonRpcError ? McpError.fromWire(error) : error),
    Effect.flatMap((answer) =>
      Effect.mapError(SchemaParser.decodeUnknown(result)(answer), (issue) =>
        new TransportError({
          reason: "Decode",
          message: `The client's answer to "${name}" is not valid: ${Issue.sentence(issue)}`
        }))
    )
  )
}

/** Whether both sides have declared the extension of a part, and the revision has the part. */
const isPresent = (
  { clientCapabilities, version }: Facts,
  extensions: ExtensionTable.ExtensionTable,
  part: Extension.Part
): boolean =>
  ExtensionTable.has(extensions, part, version) && clientCapabilities.extensions?.[part.extension] !== undefined

/** Dies when the handler gave parameters that do not conform to their schema. */
const encode = (
  { name, params: schema }: Extension.Request | Extension.Notification,
  params: unknown
): Effect.Effect<JsonObject> =>
  Effect.catchAll(
    SchemaParser.encodeUnknown(schema)(params),
    (issue) => Effect.dieMessage(`The parameters of "${name}" do not conform to their schema: ${Issue.sentence(issue)}`)
  )
