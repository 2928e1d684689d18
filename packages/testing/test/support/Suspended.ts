/** Waits for fibers. This is the one module of the tests that reads the status of a fiber, which versions of Effect keep in different places. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** Lets other fibers run until this one waits for something. It never ends for a fiber that has ended. */
export const untilSuspended = (fiber: Fiber.RuntimeFiber<any, any>): Effect.Effect<void> =>
  until(fiber, (tag) => tag === "Suspended")

/** Lets other fibers run until this one waits for something, or has ended. */
export const untilIdle = (fiber: Fiber.RuntimeFiber<any, any>): Effect.Effect<void> =>
  until(fiber, (tag) => tag !== "Running")

const until = (
  fiber: Fiber.RuntimeFiber<any, any>,
  isReached: (tag: "Done" | "Running" | "Suspended") => boolean
): Effect.Effect<void> =>
  Effect.flatMap(
    Fiber.status(fiber),
    ({ _tag }) => isReached(_tag) ? Effect.void : Effect.zipRight(Effect.yieldNow(), until(fiber, isReached))
  )
