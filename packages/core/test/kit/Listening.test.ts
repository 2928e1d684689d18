import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Queue, Scope, Stream } from "effect"
import * as Listening from "../../src/kit/Listening.js"
import * as Outbox from "../../src/kit/Outbox.js"

class Prefix extends Context.Tag("Prefix")<Prefix, string>() {}

/** A source whose values only those get who listen already. */
const source = () => {
  const listeners = new Set<Outbox.Outbox<string>>()
  const listening = Effect.acquireRelease(
    Effect.sync(() => {
      const listener = Outbox.make<string>()
      listeners.add(listener)
      return listener
    }),
    (listener) => Effect.sync(() => void listeners.delete(listener))
  )
  return {
    listeners,
    publish: (value: string) => listeners.forEach((listener) => void listener.unsafeOffer(value)),
    stream: Stream.unwrapScoped(Effect.map(listening, ({ stream }) => stream))
  }
}

describe("A listener", () => {
  it.effect("has begun when it was started, handles all values in order, with its services, and ends with the scope", () =>
    Effect.gen(function*() {
      const { listeners, publish, stream } = source()
      const heard = yield* Queue.unbounded<string>()
      const scope = yield* Scope.make()
      const listening = Listening.fork(
        stream,
        (value) => Effect.flatMap(Prefix, (prefix) => Queue.offer(heard, `${prefix} ${value}`))
      )
      yield* Effect.provideService(Scope.extend(listening, scope), Prefix, "heard")
      publish("one")
      publish("two")
      assert.deepStrictEqual([yield* Queue.take(heard), yield* Queue.take(heard)], ["heard one", "heard two"])
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(listeners.size, 0)
    }))

  it.effect("has begun also where it reads a stream that is made of others", () =>
    Effect.gen(function*() {
      const { publish, stream } = source()
      const heard = yield* Queue.unbounded<string>()
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Listening.fork(Stream.filter(Stream.map(stream, (value) => `${value}!`), () => true), (value) =>
          Queue.offer(heard, value))
        publish("one")
        assert.strictEqual(yield* Queue.take(heard), "one!")
      }))
    }))

  it.effect("is interrupted by the end of its scope, also while it handles a value", () =>
    Effect.gen(function*() {
      const { publish, stream } = source()
      const [began, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const scope = yield* Scope.make()
      const handling = Effect.onInterrupt(
        Effect.zipRight(Deferred.succeed(began, undefined), Effect.never),
        () => Deferred.succeed(ended, undefined)
      )
      yield* Effect.uninterruptible(Scope.extend(Listening.fork(stream, () => handling), scope))
      publish("one")
      yield* Deferred.await(began)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(ended)
    }))

  it.effect("ends with its stream", () =>
    Effect.scoped(Effect.gen(function*() {
      const heard: Array<number> = []
      yield* Listening.fork(Stream.make(1, 2, 3), (value) => Effect.sync(() => heard.push(value)))
      yield* Fiber.join(yield* Effect.fork(Effect.yieldNow()))
      assert.deepStrictEqual(heard, [1, 2, 3])
    })))
})
