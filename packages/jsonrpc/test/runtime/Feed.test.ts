import { assert, describe, it } from "@effect/vitest"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { Delivery, Transport } from "@effect-mcp/jsonrpc/Transport"
import { Chunk, Effect, Exit, Fiber, Stream } from "effect"
import * as Feed from "../../src/runtime/Feed.js"

const numbered = (i: number) => Message.notification("n", { i })

const channel = (): Channel => ({ send: () => Effect.void, unsafeSend: () => true })

const failure = new TransportError({ reason: "Read", message: "lost" })

/** The ways to read a feed that are effects: they pass each delivery with its channel, and end as the feed does. */
const readers: Record<string, (feed: Feed.Feed, receive: Feed.Receiver) => Effect.Effect<void, TransportError>> = {
  run: (feed, receive) => feed.run(receive),
  incoming: (feed, receive) =>
    Stream.runForEach(feed.incoming, (delivery) => Effect.sync(() => receive(delivery, Feed.channelOf(delivery))))
}

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow(), { discard: true })

describe("receiveWith", () => {
  it("passes the deliveries that wait, then each delivery at once, with its channel", () => {
    const feed = new Feed.Feed()
    const received: Array<readonly [Delivery, Channel | undefined]> = []
    const one = channel()
    assert.isTrue(feed.offer(numbered(1), one))
    assert.isTrue(feed.receiveWith((delivery, channel) => received.push([delivery, channel])))
    assert.isTrue(feed.offer(numbered(2)))
    assert.deepStrictEqual(received.map(([delivery]) => delivery), [numbered(1), numbered(2)])
    assert.strictEqual(received[0]![1], one)
    assert.isUndefined(received[1]![1])
  })

  it("keeps the order when a receiver causes a delivery", () => {
    const feed = new Feed.Feed()
    const received: Array<unknown> = []
    feed.offer(numbered(1))
    feed.offer(numbered(2))
    feed.receiveWith((delivery) => {
      received.push(delivery)
      if (received.length === 1) feed.offer(numbered(3))
    })
    assert.deepStrictEqual(received, [numbered(1), numbered(2), numbered(3)])
  })

  it("still receives after the end, so that late messages are answered", () => {
    const feed = new Feed.Feed()
    const received: Array<unknown> = []
    feed.receiveWith((delivery) => received.push(delivery))
    feed.end()
    assert.isTrue(feed.offer(numbered(1)))
    assert.lengthOf(received, 1)
  })
})

for (const [name, read] of Object.entries(readers)) {
  describe(name, () => {
    it.effect("returns the deliveries that waited and later ones, in order, with their channels", () =>
      Effect.gen(function*() {
        const feed = new Feed.Feed()
        const received: Array<readonly [Delivery, Channel | undefined]> = []
        const one = channel()
        feed.offer(numbered(1), one)
        const fiber = yield* Effect.fork(read(feed, (delivery, channel) => received.push([delivery, channel])))
        yield* settle
        feed.offer(numbered(2))
        yield* settle
        assert.deepStrictEqual(received.map(([delivery]) => delivery), [numbered(1), numbered(2)])
        assert.strictEqual(received[0]![1], one)
        feed.end()
        assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.void)
        assert.isFalse(feed.offer(numbered(3)))
      }))

    it.effect("fails with the exit of the feed", () =>
      Effect.gen(function*() {
        const feed = new Feed.Feed()
        feed.end(Exit.fail(failure))
        assert.deepStrictEqual(yield* Effect.exit(read(feed, () => {})), Exit.fail(failure))
      }))

    it.effect("calls back when its reader stops, and accepts nothing more", () =>
      Effect.gen(function*() {
        let stopped = 0
        const feed = new Feed.Feed(() => stopped++)
        const fiber = yield* Effect.fork(read(feed, () => {}))
        yield* settle
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(stopped, 1)
        assert.isFalse(feed.offer(numbered(1)))
      }))

    it.effect("refuses a second reader, and the first one continues", () =>
      Effect.gen(function*() {
        const feed = new Feed.Feed()
        const received: Array<unknown> = []
        yield* Effect.fork(read(feed, (delivery) => received.push(delivery)))
        yield* settle
        for (const second of Object.values(readers)) {
          const error = yield* Effect.flip(second(feed, () => {}))
          assert.strictEqual(error.reason, "Read")
        }
        assert.isFalse(feed.receiveWith(() => {}))
        feed.offer(numbered(1))
        yield* settle
        assert.lengthOf(received, 1)
      }))
  })
}

describe("Feed", () => {
  it.effect("limits the deliveries that wait for a reader", () =>
    Effect.gen(function*() {
      const feed = new Feed.Feed()
      for (let i = 0; i < Feed.MAX_WAITING; i++) assert.isTrue(feed.offer(numbered(i)))
      assert.isFalse(feed.offer(numbered(-1)))
      feed.end()
      assert.strictEqual(Chunk.size(yield* Stream.runCollect(feed.incoming)), Feed.MAX_WAITING)
    }))

  it("fits a transport", () => {
    const feed = new Feed.Feed()
    const transport: Feed.FedTransport = {
      feed,
      incoming: feed.incoming,
      run: (receive: Parameters<NonNullable<Transport["run"]>>[0]) => feed.run(receive),
      send: () => Effect.void,
      unsafeSend: () => true
    }
    assert.strictEqual(transport.feed, feed)
  })
})
