/**
 * The law of a limit of a server: it is filled, the next one is refused, places are given back in each way, and it is filled again to
 * the same number. What gets no place, or gives it up, costs no place.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { HttpRefusal } from "@effect-mcp/core/HttpRefusal"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Deferred, Effect, Layer, type Scope } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { answered, type EndpointClient, makeClient, type TestExchange } from "./http/TestExchange.js"
import { logbook, until } from "./Serving.js"

export type Step<A = unknown> = Effect.Effect<A, any, Scope.Scope>

/** The ways to give back the place that was taken. */
export type Place = Readonly<Record<string, Step>>

export interface Places {
  /** Takes a place; `undefined` when that is refused. */
  readonly take: Step<Place | undefined>
  /** What asks for a place and gets none, or gives it up between any two of its steps; by name. */
  readonly misses?: Readonly<Record<string, Step>>
}

export interface Limit {
  readonly what: string
  readonly max: number
  /** The ways of one place, and those that give all places back together. */
  readonly ways: ReadonlyArray<string>
  readonly together?: ReadonlyArray<string>
  readonly misses?: ReadonlyArray<string>
  readonly make: Step<Places>
}

/** A place that is given back is free some turns of the scheduler later. */
const eventually = ({ take }: Places, left = 200): Step<Place> =>
  Effect.flatMap(take, (place) =>
    place !== undefined
      ? Effect.succeed(place)
      : left === 0
      ? Effect.dieMessage("There is no place, although one was given back")
      : Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 20), eventually({ take }, left - 1)))

/** Takes all places, and no more. */
const fill = (places: Places, max: number): Step<ReadonlyArray<Place>> =>
  Effect.gen(function*() {
    const taken = yield* Effect.replicateEffect(eventually(places), max)
    assert.isUndefined(yield* places.take, `more than ${max} places`)
    return taken
  })

export const law = ({ make, max, misses = [], together = [], ways, what }: Limit) =>
  describe(what, () => {
    for (const way of [...ways, ...together]) {
      it.scoped(`are ${max}, and ${max} again after they ${way}`, () =>
        Effect.gen(function*() {
          const places = yield* make
          const [first, ...others] = yield* fill(places, max)
          let again = first!
          if (ways.includes(way)) {
            yield* again[way]!
            again = yield* eventually(places)
            assert.isUndefined(yield* places.take, "one place was given back, and two were taken")
          }
          for (const place of [again, ...others]) yield* place[way]!
          yield* fill(places, max)
        }))
    }

    for (const miss of misses) {
      it.scoped(`are ${max} after more than ${max} that ${miss}`, () =>
        Effect.gen(function*() {
          const places = yield* make
          for (let n = 0; n <= max; n++) yield* places.misses![miss]!
          yield* fill(places, max)
        }))
    }

    if (misses.includes("disconnect")) {
      it.live(`are ${max} after more than ${max} whose clients have disconnected between any two steps`, () =>
        preempted(
          Effect.scoped(Effect.gen(function*() {
            const places = yield* make
            for (let n = 0; n <= max; n++) yield* places.misses!.disconnect!
            yield* fill(places, max)
          })),
          { runs: 15 }
        ))
    }
  })

/** A handler that waits until the test lets it end. */
export const held = () => {
  const gates: Array<Deferred.Deferred<void, any>> = []
  const handler: Effect.Effect<void, any> = Effect.flatMap(Deferred.make<void, any>(), (gate) => {
    gates.push(gate)
    return Deferred.await(gate)
  })
  /** Sends a request, and gives the ways in which its handler ends once that has begun; `undefined` when it was refused. */
  const begin = (send: () => TestExchange) =>
    Effect.gen(function*() {
      const begun = gates.length
      const exchange = send()
      yield* until(() => exchange.ended || gates.length > begun)
      if (exchange.ended) return undefined
      const gate = gates[begun]!
      const after = (end: Effect.Effect<unknown>) => Effect.zipRight(end, answered(exchange))
      return {
        end: after(Deferred.succeed(gate, undefined)),
        fail: after(Deferred.fail(gate, new HttpRefusal({ status: 403, error: { code: -32600, message: "no" } }))),
        die: after(Deferred.die(gate, new Error("a bug"))),
        disconnect: Effect.sync(() => exchange.hangUp())
      }
    })
  return { handler, begin }
}

/** An endpoint, until the test ends. */
export const endpoint = (server: Layer.Layer<Dispatcher>, options?: HttpOptions): Step<EndpointClient> =>
  Effect.flatMap(
    Layer.build(Layer.provide(server, logbook().layer)),
    (context) => Effect.provide(makeClient(options), context)
  )

/** Sends a request and disconnects after some turns of the scheduler. */
export const abandoned = (send: () => TestExchange) => {
  let turns = 0
  return Effect.gen(function*() {
    const exchange = send()
    yield* Effect.repeatN(Effect.yieldNow(), turns++ % 12)
    exchange.hangUp()
  })
}
