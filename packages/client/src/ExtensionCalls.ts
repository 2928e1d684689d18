/**
 * What a client does with the extensions that it was given: it reads the settings of both sides, calls their requests, reads
 * their results, and subscribes to their notifications. `ClientSession` has all of these, and the features that read results
 * of extensions (`Features.result`) get them.
 *
 * @since 0.1.0
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Extension from "@effect-mcp/protocol/Extension"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { CallOptions } from "./CallOptions.js"
import type { ClientError } from "./ClientError.js"

/** @category models */
export interface ListenOptions<out Params> {
  /**
   * Reads the present state, as notifications tell it: when the subscription is open, and again after each interruption,
   * because notifications may have been missed. The stream gives what it reads.
   */
  readonly current?: Effect.Effect<Iterable<Params>, ClientError> | undefined
}

/** @category models */
export interface ExtensionCalls {
  /**
   * The settings that client and server have declared for an extension; `None` when one of them has not declared it, or the
   * revision does not have it. Fails with reason `Decode` when the settings of the server do not conform to their schema.
   */
  readonly extension: <E extends Extension.Extension.Any>(
    extension: E
  ) => Effect.Effect<Option.Option<Extension.Extension.SettingsOf<E>>, TransportError>
  /**
   * Calls a method of an extension, checked by its schemas. Fails with `NotNegotiated` when the client was not given the
   * extension, the server has not declared it, or the revision does not have the method.
   *
   * With a name it calls any method. Neither parameters nor result are checked then; a method of the specification or of a
   * given extension that the session does not allow fails with `NotNegotiated`.
   */
  readonly request: {
    <Params, Result>(
      request: Extension.Request<"client", Params, Result>,
      params: NoInfer<Params>,
      options?: CallOptions
    ): Effect.Effect<Result, ClientError>
    (method: string, params?: JsonObject, options?: CallOptions): Effect.Effect<JsonObject, ClientError>
  }
  /**
   * Calls the method that an extension adds this type of results to, and gives its result as the server chose it: `Right` with
   * the result of the core, `Left` with that of the extension.
   */
  readonly callEither: <Method extends keyof Extension.Answerable, Value>(
    resultType: Extension.ResultType<Method, Value>,
    params: Extension.Answerable[Method]["params"],
    options?: CallOptions
  ) => Effect.Effect<Either.Either<Extension.Answerable[Method]["result"], Value>, ClientError>
  /**
   * The notifications of an extension, for as long as the stream runs. The client subscribes to those that have a filter, by a
   * flag or by keys; the others it receives in both eras. Fails with `NotNegotiated` where the extension is not declared, and
   * up to 2025-11-25 for those that have a filter; with reason `Decode` when the server does not accept every key. A reader that
   * is slower than the server loses the oldest notifications.
   */
  readonly listen: {
    <Params>(
      notification: Extension.Notification<"server", Params, "keys">,
      keys: ReadonlyArray<string>,
      options?: ListenOptions<NoInfer<Params>>
    ): Stream.Stream<Params, ClientError>
    <Params>(
      notification: Extension.Notification<"server", Params, "flag" | "none">,
      options?: ListenOptions<NoInfer<Params>>
    ): Stream.Stream<Params, ClientError>
  }
}
