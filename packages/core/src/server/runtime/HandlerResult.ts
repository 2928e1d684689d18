/**
 * Checks at run time that a handler of the application returns an Effect, and checks the value of this Effect. Handlers are the handlers of
 * tools, middleware, the handlers of `MethodHandler` and others. A mistake becomes a defect. The message of the defect names the handler
 * (`The handler of tool "search"`) and says what to change. When a handler returns a Promise by mistake, a rejection of this Promise does
 * not end the process.
 */
import * as Effect from "effect/Effect"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"

/** Gives the returned value, if it is an Effect. Otherwise gives an Effect that dies with the reason. */
export const effect = <A, E, R>(returned: Effect.Effect<A, E, R>, actor: string): Effect.Effect<A, E, R> =>
  Effect.isEffect(returned) ? returned : Effect.suspend(() => Effect.dieMessage(noEffect(returned, actor)))

/** Makes an Effect that calls a handler, and then runs the returned Effect. */
export const run = <A, E, R>(handler: () => Effect.Effect<A, E, R>, actor: string): Effect.Effect<A, E, R> =>
  Effect.suspend(() => effect(handler(), actor))

/** Dies when the Effect of a handler gives a Promise, or gives `undefined` although a value is needed. */
export const value = <A, E, R>(self: Effect.Effect<A, E, R>, actor: string): Effect.Effect<A, E, R> =>
  Effect.flatMap(self, (given) =>
    given === undefined || given === null
      ? Effect.dieMessage(`${actor} succeeded with ${String(given)}, and a value is needed`)
      : isPromise(given)
      ? promise(actor)
      : Effect.succeed(given))

/** Dies because the Effect of a handler gave a Promise. */
export const promise = (actor: string): Effect.Effect<never> =>
  Effect.dieMessage(
    `${actor} succeeded with a Promise, which its Effect must wait for: ` +
      `use Effect.tryPromise or Effect.promise where it makes the Promise`
  )

const noEffect = (returned: unknown, actor: string): string => {
  const start = `${actor} returned `
  if (isPromise(returned)) {
    return `${start}a Promise, and it must return an Effect: use Effect.tryPromise(() => …)`
  }
  return isGenerator(returned)
    ? `${start}a generator, and it must return an Effect: use Effect.gen(function*() { … })`
    : `${start}${kindOf(returned)}, and it must return an Effect: use Effect.succeed(…)`
}

/** Whether the value is a Promise. After this check, a rejection of the Promise does not end the process. */
export const isPromise = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null || typeof (value as PromiseLike<unknown>).then !== "function") {
    return false
  }
  // Without a listener, a rejection would end the process.
  void Promise.resolve(value).catch(() => {})
  return true
}

const isGenerator = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Symbol.iterator in value && "next" in value

const kindOf = (value: unknown): string =>
  value === undefined || value === null
    ? String(value)
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object"
    ? "an object"
    : `a ${typeof value}`

/** Dies when the Effect of a handler gave a Promise, or a value that JSON cannot express. */
export const json = <A>(given: A, actor: string): Effect.Effect<A> => {
  if (isPromise(given)) return promise(actor)
  const fault = JsonText.fault(given)
  return fault === undefined
    ? Effect.succeed(given)
    : Effect.dieMessage(`${actor} succeeded with a value that is not JSON: ${fault}`)
}
