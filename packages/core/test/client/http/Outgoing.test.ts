import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Deferred, Effect, Either, Exit, Fiber, Scope, TestClock } from "effect"
import * as ScriptedServer from "./ScriptedServer.js"

const cancel = (requestId: unknown) => Message.notification("notifications/cancelled", { requestId })

describe("A message over HTTP", () => {
  it.scoped("is taken when it has a JSON form, as long as the connection is open", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { expect, transport } = yield* Scope.extend(ScriptedServer.raw(), scope)
      assert.isFalse(transport.unsafeSend(Message.notification("n", { big: 1n })))
      assert.isTrue(transport.unsafeSend(Message.notification("n")))
      assert.isTrue(transport.unsafeSend(Message.request(1, "r")))
      assert.isTrue(transport.unsafeSend(Message.success(1, {})))
      yield* Effect.flatMap(expect("n"), ({ accept }) => accept)
      yield* expect("r")
      yield* Effect.flatMap(expect("an answer"), ({ accept }) => accept)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(transport.unsafeSend(Message.notification("n")))
      assert.strictEqual(yield* Effect.flip(transport.send(Message.notification("n"))), Transport.closed)
      assert.strictEqual(yield* Effect.flip(transport.send(Message.request(2, "r"))), Transport.closed)
    }))

  it.scoped("is waited for by `send` until the server has accepted or refused it", () =>
    Effect.gen(function*() {
      const { expect, quiet, transport } = yield* ScriptedServer.raw()
      const sending = yield* Effect.fork(Effect.exit(transport.send(Message.notification("n"))))
      const exchange = yield* expect("n")
      yield* quiet
      assert.strictEqual((yield* Fiber.poll(sending))._tag, "None")
      yield* exchange.reply(400)
      const refused = yield* Fiber.join(sending)
      assert.isTrue(Exit.isFailure(refused))
      const dying = yield* Effect.fork(Effect.flip(transport.send(Message.notification("n"))))
      yield* Effect.flatMap(expect("n"), ({ die }) => die)
      assert.deepInclude(yield* Fiber.join(dying), { reason: "Write", message: "Sending died" })
    }))

  it.scoped("is given up by `send` when the connection closes before the server accepts it", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { expect, transport } = yield* Scope.extend(ScriptedServer.raw({ closeTimeout: 0 }), scope)
      const sending = yield* Effect.fork(Effect.flip(transport.send(Message.notification("n"))))
      yield* expect("n")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(sending), Transport.closed)
    }))

  it.scoped("is not given up while the user logs in, and has its whole time after that", () =>
    Effect.gen(function*() {
      const [waiting, loggedIn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { expect, transport } = yield* ScriptedServer.raw({
        acceptTimeout: "30 seconds",
        authorize: {
          headers: () => Effect.succeed({}),
          onRefused: () =>
            Deferred.succeed(waiting, undefined).pipe(Effect.zipRight(Deferred.await(loggedIn)), Effect.as(true))
        }
      })
      const sending = yield* Effect.fork(Effect.either(transport.send(Message.notification("n"))))
      yield* Effect.flatMap(expect("n"), (exchange) => exchange.reply(401))
      yield* Deferred.await(waiting)
      yield* TestClock.adjust("89 seconds")
      yield* Deferred.succeed(loggedIn, undefined)
      const second = yield* expect("n")
      yield* TestClock.adjust("29 seconds")
      assert.isNull(sending.unsafePoll())
      yield* second.accept
      assert.isTrue(Either.isRight(yield* Fiber.join(sending)))
    }))

  it.scoped("is given up when the server does not accept it in time", () =>
    Effect.gen(function*() {
      const { expect, idle, transport } = yield* ScriptedServer.raw({ acceptTimeout: "30 seconds" })
      const sending = yield* Effect.fork(Effect.flip(transport.send(Message.notification("n"))))
      yield* expect("n")
      yield* TestClock.adjust("30 seconds")
      assert.include((yield* Fiber.join(sending)).message, "did not accept the message within 30000 ms")
      yield* idle
    }))

  it.scoped("that is a request does not make `send` wait for its answer", () =>
    Effect.gen(function*() {
      const { expect, transport } = yield* ScriptedServer.raw()
      yield* transport.send(Message.request(1, "r"))
      yield* expect("r")
    }))
})

describe("A cancelled request over HTTP", () => {
  it.scoped("is interrupted after the server is notified", () =>
    Effect.gen(function*() {
      const { expect, idle, transport } = yield* ScriptedServer.raw()
      const call = {}
      transport.unsafeSend(Message.request(1, "r"), undefined, call)
      const exchange = yield* expect("r")
      transport.unsafeSend(cancel(1), undefined, call)
      const cancelling = yield* expect("notifications/cancelled")
      yield* cancelling.accept
      yield* idle
      assert.deepStrictEqual([cancelling.beside, exchange.isOver], [[exchange], true])
      // The server is notified of others too: it may know them.
      for (const id of [1, 7, "1", undefined, {}]) {
        transport.unsafeSend(cancel(id))
        yield* Effect.flatMap(expect("notifications/cancelled"), ({ accept }) => accept)
      }
    }))

  it.scoped("is not sent, and nothing is sent of it, when it was still waiting", () =>
    Effect.gen(function*() {
      const { expect, idle, quiet, received, transport } = yield* ScriptedServer.raw({ limits: { maxExchanges: 1 } })
      const [first, second] = [{}, {}]
      transport.unsafeSend(Message.request(1, "r"), undefined, first)
      transport.unsafeSend(Message.request(2, "s"), undefined, second)
      yield* expect("r")
      transport.unsafeSend(cancel(2), undefined, second)
      transport.unsafeSend(cancel(1), undefined, first)
      const cancelling = yield* expect("notifications/cancelled")
      assert.deepStrictEqual(cancelling.message.params, { requestId: 1 })
      yield* cancelling.accept
      yield* quiet
      yield* idle
      assert.deepStrictEqual(received, [])
    }))

  it.scoped("is that of the call that is cancelled when an id is used twice, and the other one lives on", () =>
    Effect.gen(function*() {
      const { expect, quiet, received, transport } = yield* ScriptedServer.raw()
      const call = {}
      transport.unsafeSend(Message.request(1, "r"))
      transport.unsafeSend(Message.request(1, "s"), undefined, call)
      const [first, second] = [yield* expect("r"), yield* expect("s")]
      transport.unsafeSend(cancel(1), undefined, call)
      yield* Effect.flatMap(expect("notifications/cancelled"), ({ accept }) => accept)
      yield* quiet
      assert.isTrue(second.isOver)
      yield* first.result({ n: 1 })
      yield* quiet
      assert.deepStrictEqual<unknown>(received, [Message.success(1, { n: 1 })])
    }))
})

describe("A request over HTTP that dies", () => {
  it.scoped("ends alone", () =>
    Effect.gen(function*() {
      const { expect, quiet, received, transport } = yield* ScriptedServer.raw()
      transport.unsafeSend(Message.request(1, "r"))
      yield* Effect.flatMap(expect("r"), ({ die }) => die)
      yield* quiet
      assert.isTrue(received.length === 1 && received[0]! instanceof Transport.Undelivered && received[0].id === 1)
    }))
})

describe("Messages after a change of the transport", () => {
  it.scoped("leave on the other one, from the next message on", () =>
    Effect.gen(function*() {
      const { expect, transport } = yield* ScriptedServer.raw()
      transport.unsafeSend(Message.notification("one"))
      const one = yield* expect("one")
      yield* one.accept
      assert.strictEqual(one.what, `POST ${ScriptedServer.URL}`)
      transport.unsafeSend(Message.request(1, "initialize"))
      yield* Effect.flatMap(expect("initialize"), (exchange) => exchange.reply(405))
      const stream = yield* Effect.flatMap(expect("GET"), (exchange) => exchange.events())
      yield* stream.push("event: endpoint\ndata: /messages\n\n")
      assert.strictEqual((yield* expect("initialize")).what, "POST http://server.test/messages")
      transport.unsafeSend(Message.notification("two"))
      const two = yield* expect("two")
      assert.strictEqual(two.what, "POST http://server.test/messages")
      assert.deepStrictEqual(two.message, { jsonrpc: "2.0", method: "two" })
      yield* two.accept
    }))
})
