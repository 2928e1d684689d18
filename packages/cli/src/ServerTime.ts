/**
 * Limits how long a command waits for its server, for `CommandClient`. The limit is the number of seconds in `--timeout`. The time begins
 * with the connection and ends with the result. The time in which a person logs in or answers a question does not count; `Target`,
 * `Answers` and `Call` stop the time with `stop`.
 */
import * as Race from "@effect-mcp/core/unstable/kit/Race"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { Failure } from "./CommandFailure.js"

export interface ServerTime {
  /**
   * Runs the effect. When the time is over before the effect has ended, interrupts the effect and fails with a failure of kind `timeout`.
   */
  readonly limit: (server: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Failure, R>
  /** Runs an effect. The time that this effect takes does not count. */
  readonly stop: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (seconds: number): Effect.Effect<ServerTime> =>
  Effect.map(SubscriptionRef.make(0), (people) => {
    const until = (isBusy: boolean) =>
      Effect.asVoid(Stream.runHead(Stream.filter(people.changes, (count) => (count > 0) === isBusy)))
    const passed = (millis: number): Effect.Effect<void> =>
      Effect.gen(function*() {
        yield* until(false)
        const began = yield* Clock.currentTimeMillis
        yield* Race.raceFirst(Effect.sleep(millis), until(true))
        const left = millis - ((yield* Clock.currentTimeMillis) - began)
        if (left > 0) yield* passed(left)
      })
    const late = (server: string) =>
      new Failure({
        kind: "timeout",
        message: `${server} did not answer in time, within ${seconds === 1 ? "1 second" : `${seconds} seconds`}. ` +
          "--timeout SECONDS waits longer"
      })
    return {
      limit: (server) => (effect) =>
        Race.raceFirst(effect, Effect.zipRight(passed(seconds * 1000), Effect.fail(late(server)))),
      stop: (effect) =>
        Effect.acquireUseRelease(
          SubscriptionRef.update(people, (count) => count + 1),
          () => effect,
          () => SubscriptionRef.update(people, (count) => count - 1)
        )
    }
  })
