/**
 * Checks (laws) that every implementation of `ChangeBus` must pass.
 *
 * The tests of each bus run these laws. A law gets the services of two nodes. The bus has no other nodes.
 *
 * @since 0.1.0
 */
import type { Change, ChangeBusService } from "@effect-mcp/core/ChangeBus"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Law from "./Law.js"

/**
 * The services of two nodes: the same service twice, or two services over one store.
 *
 * @category models
 */
export type Nodes = readonly [ChangeBusService, ChangeBusService]

const resource = (uri: string): Change => ({ _tag: "Resource", uri })

const toText = (changes: Iterable<Change>) => [...changes].map((change) => JSON.stringify(change)).join()

const reached = Law.make<Nodes>(
  "delivers every change to the other members, in order and unchanged",
  (nodes, expect) =>
    Effect.gen(function*() {
      const one = yield* nodes[0].join
      const two = yield* nodes[1].join
      const published: ReadonlyArray<Change> = [
        { _tag: "List", kind: "tools" },
        { _tag: "List", kind: "prompts", principal: "ada" },
        resource("file:///ü \u{1f600} \u2028?a=\"1\"\\"),
        {
          _tag: "Extension",
          notification: { method: "notifications/x", filter: "x", key: undefined, params: { n: 1.5, list: [null, {}] } }
        },
        {
          _tag: "Extension",
          notification: { method: "notifications/x", filter: "x", key: "", params: { constructor: "x" } }
        },
        { _tag: "Unknown" },
        ...Array.from({ length: 50 }, (_, n) => resource(`test://${n}`))
      ]
      const reading = yield* Effect.fork(StreamArrays.collect(Stream.take(two.changes, published.length)))
      yield* Effect.forEach(published, one.publish, { discard: true })
      const read = yield* Fiber.join(reading)
      yield* expect(
        toText(read) === toText(published),
        `the other member got ${toText(read)} instead of ${toText(published)}`
      )
    })
)

const others = Law.make<Nodes>(
  "does not deliver a change to the member that has published the change",
  (nodes, expect) =>
    Effect.gen(function*() {
      const one = yield* nodes[0].join
      const two = yield* nodes[1].join
      const read = yield* Queue.unbounded<Change>()
      yield* Effect.forkScoped(Stream.runForEach(one.changes, (change) => Queue.offer(read, change)))
      // The law publishes many changes, so that it also finds a change that comes back late.
      for (let n = 0; n < 20; n++) {
        yield* one.publish(resource(`test://one/${n}`))
        yield* two.publish(resource(`test://two/${n}`))
        const theirs = toText([resource(`test://two/${n}`)])
        const came = yield* StreamArrays.collect(
          Stream.takeUntil(Stream.fromQueue(read), (one) => toText([one]) === theirs)
        )
        yield* expect(!toText(came).includes("test://one/"), `it got ${toText(came)}`)
      }
    })
)

const joined = Law.make<Nodes>(
  "misses no change after it has joined, even if it reads later",
  (nodes, expect) =>
    Effect.gen(function*() {
      const one = yield* nodes[0].join
      const two = yield* nodes[1].join
      yield* one.publish(resource("test://before"))
      const read = yield* StreamArrays.collect(Stream.take(two.changes, 1))
      yield* expect(toText(read) === toText([resource("test://before")]), `it got ${toText(read)}`)
    })
)

const slow = Law.make<Nodes>(
  "gives Unknown to a slow reader instead of the missed changes",
  (nodes, expect) =>
    Effect.gen(function*() {
      const one = yield* nodes[0].join
      const two = yield* nodes[1].join
      // These are more changes than the bus in memory keeps for a member.
      const last = 1200
      const uris = Array.from({ length: last + 1 }, (_, n) => `test://${n}`)
      yield* Effect.forEach(uris, (uri) => one.publish(resource(uri)), { discard: true })
      const read = yield* two.changes.pipe(
        Stream.takeUntil((change) => change._tag === "Resource" && change.uri === uris[last]),
        StreamArrays.collect
      )
      let expected = 0
      for (const change of read) {
        if (change._tag === "Unknown") {
          expected = -1
        } else {
          const at = change._tag === "Resource" ? uris.indexOf(change.uri) : -1
          yield* expect(expected === -1 || at === expected, `it got test://${at} instead of test://${expected}`)
          expected = at + 1
        }
      }
    })
)

const left = Law.make<Nodes>("does without a member that has left", (nodes, expect) =>
  Effect.gen(function*() {
    const one = yield* nodes[0].join
    const scope = yield* Scope.make()
    yield* Scope.extend(nodes[1].join, scope)
    yield* Scope.close(scope, Exit.void)
    yield* one.publish(resource("test://gone"))
    const two = yield* nodes[1].join
    yield* one.publish(resource("test://there"))
    const read = yield* StreamArrays.collect(Stream.take(two.changes, 1))
    yield* expect(toText(read) === toText([resource("test://there")]), `a new member got ${toText(read)}`)
  }))

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Nodes>> = [reached, others, joined, slow, left]
