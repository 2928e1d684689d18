/**
 * Calls the methods that extensions add, by their schemas, in either protocol era. `legacy/Connect` and `modern/Connect` make these
 * functions for their sessions. `modern/ModernCalls` sends the calls (`EraCalls`). Before anything is sent, a call is refused in three
 * cases: the client was not given the extension, the server has not declared it, or the revision does not have the method.
 */
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SchemaParser from "../../definition/schema/SchemaParser.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import type { ServerCapabilities } from "../../protocol/Capabilities.js"
import type * as Extension from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import * as Issue from "../../protocol/Issue.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { Version } from "../../protocol/Version.js"
import { type ClientError, invalidResult, NotNegotiated } from "../ClientError.js"
import type { CallOptions, ExtensionCalls, ListenOptions } from "../ClientSession.js"
import * as Decoding from "./Decoding.js"
import type { Calls } from "./MethodCalls.js"
import type { NotificationHub } from "./NotificationHub.js"

/** The functions that the protocol era of a session provides for extensions. */
export interface EraCalls {
  /** Calls a method, and returns its result without the members that only this era has. */
  readonly call: (
    method: string,
    params: JsonObject,
    options: CallOptions | undefined
  ) => Effect.Effect<JsonObject, ClientError>
  readonly either: (
    resultType: Extension.ResultType,
    params: JsonObject,
    options: CallOptions | undefined
  ) => Effect.Effect<Either.Either<any, any>, ClientError>
  /**
   * Subscribes until the scope closes; `undefined` in an era without subscriptions. `onReopened` is called each time that the subscription
   * is open again after it was broken.
   */
  readonly subscribe:
    | ((
      filter: string,
      keys: ReadonlyArray<string> | undefined,
      onReopened: () => void
    ) => Effect.Effect<void, ClientError, Scope.Scope>)
    | undefined
}

export interface ExtensionMethods extends ExtensionCalls {
  readonly notify: (
    notification: Extension.Notification<"client">,
    params: unknown
  ) => Effect.Effect<void, NotNegotiated>
}

/** The facts about the extensions of a client. */
export interface Options {
  readonly enforceCapabilities: boolean
  readonly extensions: ExtensionTable.ExtensionTable
}

interface Self extends Options {
  readonly hub: Pick<NotificationHub, "listen" | "report">
  readonly serverCapabilities: ServerCapabilities
  readonly version: Version
  readonly outbound: Pick<Calls, "request"> & Pick<Outbound, "notify">
  readonly era: EraCalls
}

export const make = (
  { enforceCapabilities, extensions }: Options,
  hub: Self["hub"],
  { serverCapabilities, version }: Pick<Self, "serverCapabilities" | "version">,
  outbound: Self["outbound"],
  era: EraCalls
): ExtensionMethods => {
  const self: Self = { enforceCapabilities, extensions, hub, serverCapabilities, version, outbound, era }
  return {
    extension: (one) => extension(self, one),
    request: (
      method: string | Extension.Request,
      params?: any,
      options?: CallOptions
    ): Effect.Effect<any, ClientError> =>
      typeof method === "string" ? outbound.request(method, params, options) : request(self, method, params, options),
    callEither: (resultType, params, options) => era.either(resultType, params as unknown as JsonObject, options),
    listen: (notification: Extension.Notification, ...rest: ReadonlyArray<any>) =>
      notification.subscribed === "keys"
        ? listen(self, notification, rest[0], rest[1])
        : listen(self, notification, undefined, rest[0]),
    notify: (notification, params) => notify(self, notification, params)
  }
}

/** Returns why a part of an extension cannot be used in this session; `undefined` when it can be used. */
const refusal = (
  { enforceCapabilities, extensions, serverCapabilities, version }: Self,
  method: string,
  part: Extension.Revisions & { readonly extension: string }
): NotNegotiated | undefined => {
  const isIn = ExtensionTable.isIn(part, version)
  const isGiven = extensions.byId.has(part.extension)
  const isDeclared = !enforceCapabilities || serverCapabilities.extensions?.[part.extension] !== undefined
  return isIn && isGiven && isDeclared ? undefined : new NotNegotiated({
    method,
    version,
    capability: isIn ? `extensions.${part.extension}` : undefined,
    declaredBy: isGiven ? "server" : "client"
  })
}

/** Returns the settings of both sides if both have declared the extension; otherwise `None`. */
const extension = (
  { extensions, serverCapabilities, version }: Self,
  { id, settings, since, until }: Extension.Extension.Any
): Effect.Effect<Option.Option<any>, TransportError> =>
  Effect.suspend(() => {
    const declared = serverCapabilities.extensions?.[id]
    return declared === undefined || !ExtensionTable.has(extensions, { extension: id, since, until }, version)
      ? Effect.succeedNone
      : Effect.mapBoth(SchemaParser.decodeUnknown(settings.server)(declared), {
        onFailure: (issue) =>
          new TransportError({
            reason: "Decode",
            message: `The server's settings of the extension "${id}" are not valid: ${Issue.sentence(issue)}`
          }),
        onSuccess: (server) => Option.some<any>({ client: extensions.own.get(id), server })
      })
  })

const request = (
  self: Self,
  method: Extension.Request,
  params: unknown,
  options: CallOptions | undefined
): Effect.Effect<any, ClientError> => {
  const { name, result } = method
  const refused = refusal(self, name, method)
  return refused !== undefined ? Effect.fail(refused) : ExtensionTable.encodeParams(method, params).pipe(
    Effect.flatMap((params) => self.era.call(name, params, options)),
    Effect.flatMap((answer) =>
      Effect.mapError(SchemaParser.decodeUnknown(result)(answer), (issue) => invalidResult(`"${name}"`, issue))
    )
  )
}

const notify = (
  self: Self,
  notification: Extension.Notification<"client">,
  params: unknown
): Effect.Effect<void, NotNegotiated> =>
  Effect.suspend(() =>
    refusal(self, notification.name, notification) ??
      Effect.flatMap(
        ExtensionTable.encodeParams(notification, params),
        (params) => self.outbound.notify(notification.name, params)
      )
  )

const listen = (
  self: Self,
  notification: Extension.Notification,
  keys: ReadonlyArray<string> | undefined,
  { current = Effect.succeed([]) }: ListenOptions<unknown> = {}
): Stream.Stream<any, ClientError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { era, hub, version } = self
    const { filter, name } = notification
    // A notification without a filter arrives without a subscription.
    const subscribe = filter === undefined ? () => Effect.void : era.subscribe
    if (subscribe === undefined) {
      return yield* new NotNegotiated({ method: LISTEN, version, capability: undefined, declaredBy: "server" })
    }
    const refused = refusal(self, filter === undefined ? name : LISTEN, notification)
    if (refused !== undefined) return yield* refused
    // Listens before the server has the subscription, so that no notification is lost.
    const received = yield* hub.listen(name)
    // Set in addition to the marker in the outbox, because a slow reader may lose the marker.
    let hasOpened = false
    const opened = () => {
      hasOpened = true
      received.unsafeOffer(OPENED)
    }
    yield* subscribe(filter!, keys, opened)
    opened()
    const values = valuesOf(self, notification, keys)
    return Stream.mapConcatEffect(received.stream, (one) => {
      if (!hasOpened) return values(one)
      hasOpened = false
      return Effect.zipWith(current, values(one), (first, rest) => [...first, ...rest])
    })
  }))

/**
 * Makes a function that decodes notifications. The function returns no value for a notification with another key, or for a notification
 * that is not valid.
 */
const valuesOf = (
  { hub: { report } }: Self,
  { key, name, params }: Extension.Notification,
  keys: ReadonlyArray<string> | undefined
) => {
  const decode = SchemaParser.decodeUnknown(params)
  const wanted = keys === undefined ? undefined : new Set(keys)
  return (one: Message.Notification): Effect.Effect<ReadonlyArray<unknown>> =>
    one === OPENED ? Effect.succeed([]) : Effect.matchEffect(decode(one.params ?? {}), {
      onFailure: (issue) => Effect.as(report(Decoding.invalidParams(name, issue)), []),
      onSuccess: (value) => Effect.succeed(wanted === undefined || wanted.has(key!(value)) ? [value] : [])
    })
}

const LISTEN = "subscriptions/listen"

/** A marker in the outbox which says that the subscription is open. */
const OPENED: Message.Notification = Message.notification("")
