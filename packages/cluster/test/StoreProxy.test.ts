import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect } from "effect"
import { type AddressInfo, connect, createServer } from "node:net"
import * as StoreProxy from "../src/nemesis/StoreProxy.js"

/** A server that sends back all that it gets, behind a proxy. */
const echo = Effect.gen(function*() {
  const server = createServer((socket) => socket.on("error", () => {}).pipe(socket))
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
  )
  return yield* StoreProxy.make((server.address() as AddressInfo).port)
})

/** A connection, with what it has received so far. */
const open = (port: number) =>
  Effect.gen(function*() {
    const closed = yield* Deferred.make<void>()
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => connect(port, "127.0.0.1")),
      (socket) => Effect.sync(() => socket.destroy())
    )
    let text = ""
    let wake = () => {}
    socket.on("error", () => {}).on("close", () => Deferred.unsafeDone(closed, Effect.void))
    socket.on("data", (data) => {
      text += String(data)
      wake()
    })
    const received = (expected: string): Effect.Effect<void> =>
      Effect.async((resume) => {
        wake = () => text === expected ? resume(Effect.void) : undefined
        wake()
      })
    return { send: (data: string) => Effect.sync(() => void socket.write(data)), received, text: () => text, closed }
  })

describe("the proxy between a node and its store", () => {
  it.scopedLive("passes what both sides send", () =>
    Effect.gen(function*() {
      const { port } = yield* echo
      const one = yield* open(port)
      yield* one.send("a")
      yield* one.received("a")
    }))

  it.scopedLive("swallows what is sent on the connections that were open, also when it has healed, and passes new ones", () =>
    Effect.gen(function*() {
      const proxy = yield* echo
      const one = yield* open(proxy.port)
      yield* one.send("a")
      yield* one.received("a")
      yield* proxy.swallow
      yield* one.send("b")
      const next = yield* open(proxy.port)
      yield* next.send("c")
      yield* next.received("c")
      yield* proxy.heal
      yield* next.send("d")
      yield* next.received("cd")
      assert.strictEqual(one.text(), "a")
    }))

  it.scopedLive("closes all connections when it is cut, accepts none, and accepts new ones when it heals", () =>
    Effect.gen(function*() {
      const proxy = yield* echo
      const one = yield* open(proxy.port)
      yield* one.send("a")
      yield* one.received("a")
      yield* proxy.cut
      yield* Deferred.await(one.closed)
      yield* Deferred.await((yield* open(proxy.port)).closed)
      yield* proxy.heal
      const next = yield* open(proxy.port)
      yield* next.send("b")
      yield* next.received("b")
    }))

  it.scopedLive("holds back what is sent while it passes nothing, and passes it in order when it heals", () =>
    Effect.gen(function*() {
      const proxy = yield* echo
      const other = yield* echo
      const [one, two] = [yield* open(proxy.port), yield* open(other.port)]
      yield* one.send("a")
      yield* one.received("a")
      yield* proxy.stall
      for (const part of ["b", "c"]) yield* one.send(part)
      // What another proxy has passed meanwhile shows that this one had time.
      yield* two.send("x")
      yield* two.received("x")
      assert.strictEqual(one.text(), "a")
      yield* proxy.heal
      yield* one.received("abc")
    }))

  it.scopedLive("passes everything late, and nothing is lost", () =>
    Effect.gen(function*() {
      const proxy = yield* echo
      const one = yield* open(proxy.port)
      yield* proxy.delay(20)
      const [time] = yield* Effect.timed(Effect.zipRight(one.send("a"), one.received("a")))
      assert.isAtLeast(Duration.toMillis(time), 35)
    }))
})
