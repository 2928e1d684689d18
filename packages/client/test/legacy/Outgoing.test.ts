import { assert, describe, it } from "@effect/vitest"
import * as RemoteOptions from "@effect-mcp/client/RemoteOptions"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import { closed } from "@effect-mcp/jsonrpc/Transport"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as HttpConnection from "../../src/http/HttpConnection.js"
import type { Road } from "../../src/legacy/Outgoing.js"
import { Outgoing } from "../../src/legacy/Outgoing.js"
import * as Played from "../http/Played.js"

const refused = new TransportError({ reason: "Write", message: "no" })

/** A road that does what the test says; the log says what came onto it. */
const make = (road: Partial<Road> = {}, given: RemoteOptions.Options = {}) =>
  Effect.gen(function*() {
    const options = RemoteOptions.resolve(given)
    const runtime = yield* HttpConnection.runtimeOf(options)
    const clock = yield* Effect.clock
    const http = yield* Played.make()
    const alarm = (ring: (now: number) => number) => new DeadlineTimer.DeadlineTimer(runtime, clock, ring)
    const site = new HttpConnection.HttpConnection(new URL(Played.URL), options, runtime, alarm, http.client)
    yield* Effect.addFinalizer(() => site.close(Effect.void))
    const log: Array<string> = []
    const heard: Array<Transport.Delivery> = []
    yield* Effect.forkScoped(site.inbox.run((one) => heard.push(one)))
    yield* Effect.yieldNow()
    const outgoing = new Outgoing(site, {
      ask: (request, text, slot) =>
        Effect.suspend(() => {
          log.push(`ask ${request.method}`)
          return Effect.onInterrupt(
            road.ask?.(request, text, slot) ?? Effect.never,
            () => Effect.sync(() => log.push(`stop ${request.method}`))
          )
        }),
      tell: (message, text) =>
        Effect.suspend(() => {
          log.push(Message.isResponse(message) ? "answer" : `tell ${message.method}`)
          return road.tell?.(message, text) ?? Effect.void
        })
    })
    return { heard, log, outgoing, site }
  })

const cancel = (requestId: unknown) => Message.notification("notifications/cancelled", { requestId })
const settle = Effect.repeatN(Effect.yieldNow(), 10)

describe("Outgoing", () => {
  it.scoped("takes what has a wire form, as long as somebody is there to hear it", () =>
    Effect.gen(function*() {
      const { log, outgoing, site } = yield* make()
      assert.isFalse(outgoing.unsafeSend(Message.notification("n", { big: 1n })))
      assert.isTrue(outgoing.unsafeSend(Message.notification("n")))
      assert.isTrue(outgoing.unsafeSend(Message.request(1, "r")))
      assert.isTrue(outgoing.unsafeSend(Message.success(1, {})))
      assert.deepStrictEqual(log, ["tell n", "ask r", "answer"])
      site.end(Exit.void)
      assert.isFalse(outgoing.unsafeSend(Message.notification("n")))
      assert.strictEqual(yield* Effect.flip(outgoing.send(Message.notification("n"))), closed)
      assert.strictEqual(yield* Effect.flip(outgoing.send(Message.request(2, "r"))), closed)
    }))

  it.scoped("waits, when it is waited for, until the server has taken a message, or has not", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void, TransportError>()
      const { outgoing } = yield* make({ tell: () => Deferred.await(gate) })
      const first = yield* Effect.fork(Effect.exit(outgoing.send(Message.notification("n"))))
      yield* settle
      assert.strictEqual((yield* Fiber.poll(first))._tag, "None")
      yield* Deferred.fail(gate, refused)
      assert.deepStrictEqual(yield* Fiber.join(first), Exit.fail(refused))
      const dying = yield* make({ tell: () => Effect.die("oops") })
      assert.deepInclude(yield* Effect.flip(dying.outgoing.send(Message.notification("n"))), {
        message: "Sending died"
      })
    }))

  it.scoped("does not wait for the answer to a request", () =>
    Effect.gen(function*() {
      const { outgoing } = yield* make()
      yield* outgoing.send(Message.request(1, "r"))
    }))

  it.scoped("tells the server of a cancel before it stops listening for the answer", () =>
    Effect.gen(function*() {
      const { log, outgoing } = yield* make()
      outgoing.unsafeSend(Message.request(1, "r"))
      outgoing.unsafeSend(cancel(1))
      yield* settle
      assert.deepStrictEqual(log, ["ask r", "tell notifications/cancelled", "stop r"])
      // Of those that are over, or never were, it is told, too.
      for (const id of [1, 7, "1", undefined, {}]) outgoing.unsafeSend(cancel(id))
      assert.lengthOf(log, 8)
    }))

  it.scoped("says nothing of a request that is cancelled before it has left", () =>
    Effect.gen(function*() {
      const { heard, log, outgoing } = yield* make({}, { maxInFlight: 1 })
      outgoing.unsafeSend(Message.request(1, "r"))
      outgoing.unsafeSend(Message.request(2, "s"))
      outgoing.unsafeSend(cancel(2))
      outgoing.unsafeSend(cancel(1))
      yield* settle
      assert.deepStrictEqual(log, ["ask r", "tell notifications/cancelled", "stop r"])
      assert.deepStrictEqual(heard, [])
    }))

  it.scoped("ends the one request that dies on its way", () =>
    Effect.gen(function*() {
      const { heard, outgoing } = yield* make({ ask: () => Effect.die("oops") })
      outgoing.unsafeSend(Message.request(1, "r"))
      yield* settle
      assert.isTrue(heard.length === 1 && Transport.isUndelivered(heard[0]!) && heard[0].id === 1)
    }))

  it.scoped("goes on on another road from the next message on", () =>
    Effect.gen(function*() {
      const { log, outgoing } = yield* make()
      outgoing.unsafeSend(Message.notification("one"))
      const other: Array<string> = []
      outgoing.road = {
        ask: () => Effect.void,
        tell: (_, text) => Effect.sync(() => void other.push(text))
      }
      outgoing.unsafeSend(Message.notification("two"))
      assert.deepStrictEqual(log, ["tell one"])
      assert.deepStrictEqual(other, [`{"jsonrpc":"2.0","method":"two"}`])
    }))
})
