/**
 * The message of the error with which an API in this process has failed a request. `HttpApiTools` notices the message, because the schema
 * of an error does not encode it, and `ApiAnswer` shows it to the model.
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

/** Provides the place for the message of one call. */
export const keeping = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, ErrorMessage>> =>
  Effect.provideServiceEffect(call, ErrorMessage, Ref.make<string | undefined>(undefined))

/** Keeps the message that the author of the error gave it. */
export const noticing = <A, E, R>(app: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(
    app,
    (error) =>
      Effect.flatMap(Effect.serviceOption(ErrorMessage), (place) =>
        Option.isSome(place) ? Ref.set(place.value, OwnMessage.of(error)) : Effect.void)
  )

/** The message that was kept last. */
export const current: Effect.Effect<string | undefined> = Effect.flatMap(
  Effect.serviceOption(ErrorMessage),
  (place) => Option.isSome(place) ? Ref.get(place.value) : Effect.succeed(undefined)
)
