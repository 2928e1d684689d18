/**
 * Passes the `message` of an error from an API that runs in this process to the model. The API encodes an error by its schema, and the
 * `message` of an error class is not part of this schema. So `HttpApiTools` stores the message when a request fails, and `ApiAnswer` adds
 * the message to the result for the model.
 */
import * as OwnMessage from "@effect-mcp/core/unstable/definition/OwnMessage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"

class ErrorMessage extends Context.Tag("@effect-mcp/openapi/call/ErrorMessage")<
  ErrorMessage,
  Ref.Ref<string | undefined>
>() {}

/** Provides a call with the service that stores its message. */
export const keeping = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, ErrorMessage>> =>
  Effect.provideServiceEffect(call, ErrorMessage, Ref.make<string | undefined>(undefined))

/** When the app fails, stores the message of the error, if the error class defines a message. */
export const noticing = <A, E, R>(app: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(
    app,
    (error) =>
      Effect.flatMap(Effect.serviceOption(ErrorMessage), (place) =>
        Option.isSome(place) ? Ref.set(place.value, OwnMessage.of(error)) : Effect.void)
  )

/** Returns the last stored message of the call; `undefined` when no message was stored. */
export const current: Effect.Effect<string | undefined> = Effect.flatMap(
  Effect.serviceOption(ErrorMessage),
  (place) => Option.isSome(place) ? Ref.get(place.value) : Effect.succeed(undefined)
)
