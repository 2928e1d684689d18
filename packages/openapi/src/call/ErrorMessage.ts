/**
 * Passes the message of an error to the model, for an API that runs in this process. The schema of an error does not encode the `message`
 * of the error. So `HttpApiTools` stores the message when a request fails, and `ApiAnswer` shows this message to the model.
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

/** Provides the service that stores the message of one call. */
export const keeping = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, ErrorMessage>> =>
  Effect.provideServiceEffect(call, ErrorMessage, Ref.make<string | undefined>(undefined))

/** Stores the message of the error when the app fails, if the error class defines a message. */
export const noticing = <A, E, R>(app: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(
    app,
    (error) =>
      Effect.flatMap(Effect.serviceOption(ErrorMessage), (place) =>
        Option.isSome(place) ? Ref.set(place.value, OwnMessage.of(error)) : Effect.void)
  )

/** Gives the message that was stored last; `undefined` when no message was stored. */
export const current: Effect.Effect<string | undefined> = Effect.flatMap(
  Effect.serviceOption(ErrorMessage),
  (place) => Option.isSome(place) ? Ref.get(place.value) : Effect.succeed(undefined)
)
