/**
 * Checks (laws) that every implementation of `EventStore` must pass, and further laws for a store that reads the claims of a
 * `SessionDirectory`. A claim says which node serves a session.
 *
 * The tests of the stores in core, `sql` and `redis` run these laws. An application with its own store can also run these laws. A law gets
 * two services over one empty store, like the services of two nodes.
 *
 * @since 0.1.0
 */
import type { EventStoreService, StoredEvent, StreamKey } from "@effect-mcp/core/EventStore"
import type { SessionDirectoryService } from "@effect-mcp/core/SessionDirectory"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Law from "./Law.js"

/**
 * Two services over one store: the same service twice, or the services of two nodes.
 *
 * @category models
 */
export type Stores = readonly [EventStoreService, EventStoreService]

/**
 * An event store and a session directory over one engine, such as one database. The event store reads the claims of the directory.
 *
 * @category models
 */
export interface Node {
  readonly events: EventStoreService
  readonly sessions: SessionDirectoryService
}

/**
 * Two nodes over one engine that has no events and no sessions yet.
 *
 * @category models
 */
export type Nodes = readonly [Node, Node]

const key = (stream: string, session = "s", epoch?: number): StreamKey =>
  epoch === undefined ? { session, stream } : { session, stream, epoch }

const event = (position: number, data = `{"n":${position}}`): StoredEvent => ({ position, data })

const toText = (events: Option.Option<ReadonlyArray<StoredEvent>>) =>
  Option.match(events, {
    onNone: () => "none",
    onSome: (events) => events.map(({ data, position }) => `${position} ${data}`).join("\n")
  })

const text = (...events: ReadonlyArray<StoredEvent>) => toText(Option.some(events))

const ordered = Law.make<Stores>(
  "returns the events after a position, in order and unchanged",
  (stores, expect) =>
    Effect.gen(function*() {
      const events = [event(1), event(2, "\"ü \u{1f600} \\u2028\""), event(10_000_000_001), event(10_000_000_002)]
      for (const one of events) {
        yield* expect(yield* stores[0].append(key("a"), one), "an event was refused without an epoch")
      }
      for (
        const [position, expected] of [[-1, 0], [0, 0], [1, 1], [2, 2], [5, 2], [10_000_000_001, 3], [
          10_000_000_002,
          4
        ]]
      ) {
        const found = toText(yield* stores[1].after(key("a"), position!))
        yield* expect(found === text(...events.slice(expected)), `after ${position} there is ${found}`)
      }
    })
)

const apart = Law.make<Stores>("keeps streams and sessions apart", (stores, expect) =>
  Effect.gen(function*() {
    const keys = [key("a"), key("b"), key("a", "t"), key("", "s"), key("s", "a"), key("a:b"), key("b", "s:a")]
    for (const [n, one] of keys.entries()) yield* stores[0].append(one, event(n + 1))
    for (const [n, one] of keys.entries()) {
      const found = toText(yield* stores[1].after(one, -1))
      yield* expect(found === text(event(n + 1)), `the stream ${JSON.stringify(one)} has ${found}`)
    }
    yield* stores[1].forget("s")
    yield* expect(
      Option.isNone(yield* stores[0].after(key("a"), -1)),
      "a stream of a removed session still exists"
    )
    yield* expect(Option.isSome(yield* stores[0].after(key("a", "t"), -1)), "the stream of another session is gone")
    yield* expect(Option.isNone(yield* stores[0].after(key("never"), -1)), "there are events of an unknown stream")
  }))

const unfinished = Law.make<Stores>(
  "returns the requests of a stream until the stream has finished",
  (stores, expect) =>
    Effect.gen(function*() {
      const ids = [1, "1", "ü", -2]
      yield* stores[0].open(key("a"), ids)
      yield* stores[0].open(key("b"), [7])
      const found = yield* stores[1].unfinished(key("a"))
      yield* expect(JSON.stringify(found) === JSON.stringify(ids), `the requests are ${JSON.stringify(found)}`)
      yield* stores[0].append(key("a"), event(1))
      yield* stores[0].finish(key("a"))
      yield* expect((yield* stores[1].unfinished(key("a"))).length === 0, "a stream has requests after it has finished")
      yield* expect((yield* stores[1].unfinished(key("never"))).length === 0, "an unknown stream has requests")
      yield* expect((yield* stores[1].unfinished(key("b"))).join() === "7", "the requests of another stream are gone")
      yield* expect(toText(yield* stores[1].after(key("a"), -1)) === text(event(1)), "its events are gone at once")
    })
)

const fenced = Law.make<Stores>(
  "changes nothing for an old epoch",
  (stores, expect) =>
    Effect.gen(function*() {
      const [one, two] = stores
      yield* expect(yield* one.append(key("a", "s", 1), event(1)), "the first epoch was refused")
      yield* expect(yield* two.append(key("b", "s", 2), event(10)), "the second epoch was refused")
      yield* expect(!(yield* one.append(key("a", "s", 1), event(2))), "an event of the first epoch was stored")
      yield* expect(!(yield* one.append(key("c", "s", 1), event(1))), "the first epoch has begun a stream")
      yield* expect(toText(yield* one.after(key("a"), -1)) === text(event(1)), "the stream has more events")
      yield* expect(yield* one.append(key("a", "other", 1), event(1)), "the first epoch of another session was refused")
      yield* expect(yield* two.append(key("a", "s", 2), event(11)), "the second epoch was refused later")
      yield* expect(yield* two.open(key("b", "s", 2), [2]), "the second epoch could not begin a stream")
      yield* expect(!(yield* one.open(key("b", "s", 1), [1])), "the first epoch could begin a stream")
      yield* one.finish(key("b", "s", 1))
      yield* expect(
        (yield* two.unfinished(key("b"))).join() === "2",
        "the first epoch has begun or finished a stream again"
      )
      yield* one.forget("s", 1)
      yield* expect(Option.isSome(yield* two.after(key("b"), -1)), "the first epoch has dropped a stream")
      yield* two.forget("s", 2)
      yield* expect(Option.isNone(yield* two.after(key("b"), -1)), "the second epoch could not drop a stream")
    })
)

const together = Law.make<Stores>(
  "stores several events of one call like single events, if it supports this",
  (stores, expect) =>
    Effect.gen(function*() {
      const { appendAll } = stores[0]
      if (appendAll === undefined) return
      const events = [event(1), event(2), event(3)]
      yield* stores[0].open(key("a", "s", 2), [7])
      yield* expect(yield* appendAll(key("a", "s", 2), events.slice(0, 2), false), "the second epoch was refused")
      yield* expect((yield* stores[1].unfinished(key("a"))).join() === "7", "the stream has finished before its end")
      yield* expect(yield* appendAll(key("a", "s", 2), events.slice(2), true), "the last event was refused")
      yield* expect((yield* stores[1].unfinished(key("a"))).length === 0, "the stream has not finished")
      const found = toText(yield* stores[1].after(key("a"), 1))
      yield* expect(found === text(...events.slice(1)), `after 1 there is ${found}`)
      yield* expect(yield* appendAll(key("c", "s", 2), events, true), "a stream that was not opened was refused")
      const whole = toText(yield* stores[1].after(key("c"), -1))
      yield* expect(whole === text(...events), `a stream that was not opened has ${whole}`)
      yield* stores[0].open(key("b", "s", 2), [8])
      yield* expect(!(yield* appendAll(key("b", "s", 1), events, true)), "the first epoch was not refused")
      yield* expect((yield* stores[1].unfinished(key("b"))).join() === "8", "the first epoch has finished a stream")
    })
)

const claimed = Law.make<Nodes>(
  "changes nothing for an old epoch, as soon as another node has claimed the session",
  ([one, two], expect) =>
    Effect.gen(function*() {
      const [first, second] = [yield* one.sessions.join("first"), yield* two.sessions.join("second")]
      const [before, after] = [key("a", "s", 1), key("a", "s", 2)]
      yield* first.create("s", {})
      yield* one.events.open(before, [7])
      yield* expect(yield* one.events.append(before, event(1)), "the first epoch was refused while it lasted")
      yield* first.release("s", 1)
      yield* expect(Option.isSome(yield* second.claim("s", 1)), "the second node could not claim the session")
      yield* expect(!(yield* one.events.append(before, event(2))), "an event was stored after the claim")
      const together = one.events.appendAll?.(before, [event(2)], true) ?? Effect.succeed(false)
      yield* expect(!(yield* together), "the last event of a stream was stored after the claim")
      yield* expect(!(yield* one.events.open(key("b", "s", 1), [8])), "a stream has begun after the claim")
      yield* one.events.finish(before)
      yield* one.events.forget("s", 1)
      const requests = (yield* two.events.unfinished(after)).join()
      yield* expect(requests === "7", `the stream has the requests "${requests}" after the claim`)
      yield* expect(yield* two.events.append(after, event(3)), "the second epoch was refused")
      const found = toText(yield* two.events.after(after, -1))
      yield* expect(found === text(event(1), event(3)), `the stream has ${found}`)
    })
)

/**
 * All laws of a store.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Stores>> = [ordered, apart, unfinished, fenced, together]

/**
 * The laws of a store and a directory over the same engine. The store in memory does not read the directory in memory, so these two do not
 * pass these laws.
 *
 * @category constants
 */
export const claims: ReadonlyArray<Law.Law<Nodes>> = [claimed]
