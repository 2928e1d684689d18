/**
 * An extension of the protocol as a value. An extension has an identifier, the settings that each side declares, and the parts that it adds
 * to the core protocol. The parts are requests, notifications, types of results, headers, and filters of subscriptions. A client and a
 * server use an extension only when both were given the extension with the option `extensions`.
 *
 * This module has no handlers. A server handles the requests and notifications of an extension with `MethodHandler`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.js"
import type { GetPromptParams, GetPromptResult } from "./Prompts.js"
import type { ReadResourceParams, ReadResourceResult } from "./Resources.js"
import * as MetaKey from "./rules/MetaKey.js"
import type { CallToolParams, CallToolResult } from "./Tools.js"
import type { Version } from "./Version.js"

/** @category symbols */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/core/protocol/Extension")

/** @category models */
export type TypeId = typeof TypeId

/** @category models */
export type Side = "client" | "server"

/**
 * The revisions that have one part of an extension, such as a request.
 *
 * @category models
 */
export interface Revisions {
  readonly since: Version
  /** The last revision that has the part. `undefined`: every revision since `since` has it. */
  readonly until: Version | undefined
}

/** @category models */
export interface RevisionOptions {
  readonly since?: Version | undefined
  readonly until?: Version | undefined
}

/**
 * A part of an extension, such as a request, with its revisions and the identifier of its extension. `Extension.make` adds these members.
 *
 * @category models
 */
export type Bound<Part> = Part & Revisions & { readonly extension: string }

/** @category models */
export type BoundAll<Parts> = { readonly [Name in keyof Parts]: Bound<Parts[Name]> }

/** @category models */
export interface RequestDefinition<out From extends Side = any, in out Params = any, in out Result = any> {
  readonly kind: "request"
  readonly name: string
  readonly from: From
  readonly params: Schema.Schema<Params, any>
  readonly result: Schema.Schema<Result, any>
  readonly nameParameter: string | undefined
  readonly declaredBy: "both" | "server"
  readonly isCacheable: boolean
  readonly revisions: RevisionOptions
}

/**
 * A request that an extension adds.
 *
 * @category models
 */
export type Request<From extends Side = any, Params = any, Result = any> = Bound<
  RequestDefinition<From, Params, Result>
>

/**
 * How clients subscribe to a notification. `flag`: with a flag. `keys`: with a list of keys, and each key names one subject of the
 * notification, such as a resource. `none`: clients do not subscribe to the notification.
 *
 * @category models
 */
export type Subscription = "flag" | "keys" | "none"

/** @category models */
export interface NotificationDefinition<
  out From extends Side = any,
  in out Params = any,
  out Subscribed extends Subscription = any
> {
  readonly kind: "notification"
  readonly name: string
  readonly from: From
  readonly params: Schema.Schema<Params, any>
  readonly subscribed: Subscribed
  /**
   * The member that a client sets in the filter of `subscriptions/listen` to get the notification. `undefined` when clients do not
   * subscribe to the notification.
   */
  readonly filter: string | undefined
  /** Returns the key of what a notification is about, such as the URI of a resource. `undefined` when the notification has no keys. */
  readonly key: ((params: Params) => string) | undefined
  readonly revisions: RevisionOptions
}

/**
 * A notification that an extension adds.
 *
 * @category models
 */
export type Notification<From extends Side = any, Params = any, Subscribed extends Subscription = any> = Bound<
  NotificationDefinition<From, Params, Subscribed>
>

/**
 * The methods of the core protocol for which an extension may add a type of result. Each method has its parameters and its core result.
 *
 * @category models
 */
export interface Answerable {
  readonly "tools/call": { readonly params: CallToolParams; readonly result: CallToolResult }
  readonly "prompts/get": { readonly params: GetPromptParams; readonly result: GetPromptResult }
  readonly "resources/read": { readonly params: ReadResourceParams; readonly result: ReadResourceResult }
}

/** @category models */
export interface ResultTypeDefinition<out Method extends keyof Answerable = any, in out Value = any> {
  readonly kind: "result"
  /** The value of `resultType` in the result. */
  readonly type: string
  readonly method: Method
  readonly value: Schema.Schema<Value, any>
  readonly revisions: RevisionOptions
}

/**
 * A type of result that an extension adds to a method of the core. It exists with revision 2026-07-28 and later.
 *
 * @category models
 */
export type ResultType<Method extends keyof Answerable = any, Value = any> = Bound<ResultTypeDefinition<Method, Value>>

/**
 * One part that an extension adds: a request, a notification, or a type of result.
 *
 * @category models
 */
export type Part = Request | Notification | ResultType

/**
 * The settings that the client and the server have declared.
 *
 * @category models
 */
export interface Settings<Client, Server> {
  readonly client: Client
  readonly server: Server
}

/** @category models */
export interface Extension<
  out Requests = any,
  out Notifications = any,
  out Results = any,
  in out Client = any,
  in out Server = any
> extends Revisions {
  readonly [TypeId]: TypeId
  readonly id: string
  readonly requests: BoundAll<Requests>
  readonly notifications: BoundAll<Notifications>
  readonly results: BoundAll<Results>
  readonly settings: Settings<Schema.Schema<Client, any>, Schema.Schema<Server, any>>
  /** The JSON settings that each side declares in its capabilities when the application gives the extension to that side. */
  readonly declared: Settings<JsonObject, JsonObject>
}

/** @category constants */
export declare namespace Extension {
  export type Any = Extension

  /** The type of the settings that both sides of an extension declare. */
  export type SettingsOf<E> = E extends Extension<any, any, any, infer Client, infer Server> ? Settings<Client, Server>
    : never
}

/** Accepts a schema whose encoded form is an object. For any other schema, the type is a sentence that the compiler shows as the error. */
type AnObject<Encoded, What extends string> = 0 extends 1 & Encoded ? unknown
  : [Encoded] extends [ReadonlyArray<any>] ? NoObject<What>
  : [Encoded] extends [object] ? unknown
  : NoObject<What>

type NoObject<What extends string> = `${What} must be encoded as an object: use a schema such as Schema.Struct`

/** @category models */
export interface RequestOptions<in out Params, in out ParamsEncoded, in out Result, in out ResultEncoded>
  extends RevisionOptions
{
  readonly params: Schema.Schema<Params, ParamsEncoded> & AnObject<NoInfer<ParamsEncoded>, "The params of a request">
  readonly result: Schema.Schema<Result, ResultEncoded> & AnObject<NoInfer<ResultEncoded>, "The result of a request">
  /**
   * The name of the parameter whose value a client repeats in the HTTP header `Mcp-Name`, with revision 2026-07-28 and later. Default:
   * clients do not send the header.
   */
  readonly nameParameter?: (keyof ParamsEncoded & string) | undefined
  /** The sides that must have declared the extension before a request is served: `both`, or only the `server`. Default: `both`. */
  readonly declaredBy?: "both" | "server" | undefined
  /** Whether results of the request contain cache hints. Servers add the hints with revision 2026-07-28 and later. Default: `false`. */
  readonly isCacheable?: boolean | undefined
}

/** @category models */
export interface NotificationOptions<in out Params, in out Encoded> extends RevisionOptions {
  readonly params: Schema.Schema<Params, Encoded> & AnObject<NoInfer<Encoded>, "The params of a notification">
}

/**
 * Makes a request of an extension. By default a client sends the request, and only when both sides have declared the extension.
 *
 * When `declaredBy` is `server`, the server also serves clients that have not declared the extension. When `from` is `server`, a server
 * sends the request, and only with revision 2025-11-25 or earlier.
 *
 * @category utils
 */
export const request = <Params, ParamsEncoded, Result, ResultEncoded, const From extends Side = "client">(
  name: string,
  options: RequestOptions<Params, ParamsEncoded, Result, ResultEncoded> & {
    readonly from?: From | undefined
  }
): RequestDefinition<NoInfer<From>, Params, Result> => ({
  kind: "request",
  name,
  from: options.from ?? "client" as From,
  params: options.params,
  result: options.result,
  nameParameter: options.nameParameter,
  declaredBy: options.declaredBy ?? "both",
  isCacheable: options.isCacheable === true,
  revisions: options.from === "server" ? { ...options, until: options.until ?? "2025-11-25" } : options
})

/**
 * Makes a notification of an extension. By default a server sends the notification. With the option `filter`, clients of revision
 * 2026-07-28 or later subscribe to the notification: they set the member with that name in the filter of `subscriptions/listen`. If the
 * option `key` is also given, the member is a list of keys, and a client gets only the notifications whose key is in the list.
 *
 * @category guards
 */
export const notification: {
  <Params, Encoded>(
    name: string,
    options: NotificationOptions<Params, Encoded> & {
      readonly filter: string
      readonly key: (params: NoInfer<Params>) => string
    }
  ): NotificationDefinition<"server", Params, "keys">
  <Params, Encoded>(
    name: string,
    options: NotificationOptions<Params, Encoded> & { readonly filter: string }
  ): NotificationDefinition<"server", Params, "flag">
  <Params, Encoded>(
    name: string,
    options: NotificationOptions<Params, Encoded> & { readonly from: "client" }
  ): NotificationDefinition<"client", Params, "none">
  // For a wrong call, the compiler shows the errors of the last overload.
  <Params, Encoded>(
    name: string,
    options: NotificationOptions<Params, Encoded> & {
      readonly filter?:
        "Clients can subscribe only to notifications of servers, and `key` must be a function that returns a string"
      readonly key?: "A `key` needs a `filter`: the member of subscriptions/listen that contains the keys"
    }
  ): NotificationDefinition<"server", Params, "none">
} = (
  name: string,
  options: NotificationOptions<any, any> & {
    readonly from?: "client" | undefined
    readonly filter?: string | undefined
    readonly key?: unknown
  }
): NotificationDefinition<any> => ({
  kind: "notification",
  name,
  from: options.from ?? "server",
  params: options.params,
  subscribed: options.filter === undefined ? "none" : options.key === undefined ? "flag" : "keys",
  filter: options.filter,
  key: options.key as ((params: any) => string) | undefined,
  revisions: options
})

/**
 * Makes a type of result with which a server may answer a request of the core protocol. A server sends this result only to clients that
 * have declared the extension.
 *
 * @category utils
 */
export const resultType = <const Method extends keyof Answerable, Value, Encoded>(
  type: string,
  options: RevisionOptions & {
    readonly method: Method
    readonly value: Schema.Schema<Value, Encoded> & AnObject<NoInfer<Encoded>, "The value of a result">
  }
): ResultTypeDefinition<Method, Value> => ({
  kind: "result",
  type,
  method: options.method,
  value: options.value,
  revisions: options
})

const NoSettings = Schema.Struct({})

/** Accepts an identifier that has a prefix. For any other identifier, the type is a sentence that the compiler shows as the error. */
type Prefixed<Id extends string> = string extends Id ? Id
  : Id extends `${string}/${string}` ? Id
  : `"${Id}" needs a prefix, the reversed domain of its author: com.example/${Id}`

/** Accepts a request, a notification or a type of result that does not belong to an extension yet. */
type Free = {
  readonly extension?:
    "This request, notification or type of result already belongs to an extension: make a new one for this extension"
}

/**
 * Makes an extension. Use the parts of the returned value, because only these parts contain the identifier of the extension. `since` and
 * `until` apply to each part that does not have its own `since` or `until`. By default every revision has every part.
 *
 * Throws when the identifier has no prefix. An example with a prefix is `com.example/orders`.
 *
 * @example
 * ```ts
 * import * as Extension from "@effect-mcp/core/protocol/Extension"
 * import { Schema } from "effect"
 *
 * export const Orders = Extension.make("com.example/orders", {
 *   requests: {
 *     find: Extension.request("orders/find", {
 *       params: Schema.Struct({ id: Schema.String }),
 *       result: Schema.Struct({ total: Schema.Number })
 *     })
 *   }
 * })
 * ```
 * @category constructors
 */
export const make = <
  const Id extends string,
  Requests extends { readonly [name: string]: RequestDefinition & Free } = {},
  Notifications extends { readonly [name: string]: NotificationDefinition & Free } = {},
  Results extends { readonly [name: string]: ResultTypeDefinition & Free } = {},
  Client = {},
  ClientEncoded = {},
  Server = {},
  ServerEncoded = {}
>(
  identifier: Prefixed<Id>,
  options: RevisionOptions & {
    readonly requests?: Requests | undefined
    readonly notifications?: Notifications | undefined
    readonly results?: Results | undefined
    /** The schemas of the settings that each side declares. Default: a side declares an empty object. */
    readonly settings?: {
      readonly client?:
        | (Schema.Schema<Client, ClientEncoded> & AnObject<NoInfer<ClientEncoded>, "The settings of a client">)
        | undefined
      readonly server?:
        | (Schema.Schema<Server, ServerEncoded> & AnObject<NoInfer<ServerEncoded>, "The settings of a server">)
        | undefined
    } | undefined
  } = {}
): Extension<Requests, Notifications, Results, Client, Server> => {
  const id: string = identifier
  if (!MetaKey.isExtension(id)) {
    throw new Error(`"${id}" does not identify an extension: it needs a prefix, as in com.example/name`)
  }
  const { since = "2024-11-05", until } = options
  const bind = <Part extends { readonly revisions: RevisionOptions }>(
    parts: { readonly [name: string]: Part } = {},
    earliest: Version = since
  ) =>
    Record.map(parts, (part) => {
      const begin = part.revisions.since ?? since
      return {
        ...part,
        extension: id,
        since: begin < earliest ? earliest : begin,
        until: part.revisions.until ?? until
      }
    })
  return {
    [TypeId]: TypeId,
    id,
    since,
    until,
    requests: bind(options.requests) as unknown as BoundAll<Requests>,
    notifications: bind(options.notifications) as unknown as BoundAll<Notifications>,
    // Types of results exist since revision 2026-07-28.
    results: bind(options.results, "2026-07-28") as unknown as BoundAll<Results>,
    settings: {
      client: options.settings?.client ?? NoSettings as unknown as Schema.Schema<Client>,
      server: options.settings?.server ?? NoSettings as unknown as Schema.Schema<Server>
    },
    declared: { client: {}, server: {} }
  }
}

/**
 * Accepts the settings of one side. If the extension has no settings for that side, the type is a sentence that the compiler shows as the
 * error.
 */
type Declarable<Settings> = [keyof Settings] extends [never] ? {
    readonly [name: string]:
      "The extension has no settings for this side: add a schema of the settings to Extension.make"
  }
  : NoInfer<Settings>

/**
 * Returns a copy of the extension with these settings. A client or a server that is given the returned extension declares these settings.
 * Throws when a setting does not conform to its schema.
 *
 * @category utils
 */
export const declare = <Requests, Notifications, Results, Client, Server>(
  extension: Extension<Requests, Notifications, Results, Client, Server>,
  settings: { readonly client?: Declarable<Client> | undefined; readonly server?: Declarable<Server> | undefined }
): Extension<Requests, Notifications, Results, Client, Server> => ({
  ...extension,
  declared: {
    client: settings.client === undefined
      ? extension.declared.client
      : Schema.encodeSync(extension.settings.client)(settings.client as Client),
    server: settings.server === undefined
      ? extension.declared.server
      : Schema.encodeSync(extension.settings.server)(settings.server as Server)
  }
})

/**
 * The error that contains a result of an extension. A handler that fails with this error answers its request with that result.
 * `MethodHandler.answer` of the server makes this error.
 *
 * @category errors
 */
export class ExtendedResult extends Data.TaggedError("ExtendedResult")<{
  readonly resultType: ResultType
  readonly value: unknown
}> {
  override get message(): string {
    const { extension, method, type } = this.resultType
    return `A handler answered with a result of the type "${type}", which cannot be sent: it needs a request of ` +
      `"${method}" in a revision that has the type, a server that was given the extension "${extension}", and a value ` +
      "that conforms to the schema of the type"
  }
}
