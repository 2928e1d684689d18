import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import * as Direct from "@effect-mcp/core/Direct"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { answered, failure, legacyClient, waiting } from "./Scripts.js"

/** A client in the middle of everything that it can be in the middle of. */
const busy = (pair: Effect.Effect<readonly [Transport.Transport, Transport.Transport], never, Scope.Scope>) =>
  Effect.gen(function*() {
    const [mine, theirs] = yield* pair
    const server = yield* TestPeer.make(theirs)
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const connecting = yield* Effect.fork(
      Scope.extend(Client.make(Connector.fromTransport(mine), { timeout: "1 hour", versions: Version.legacy }), scope)
    )
    yield* server.initialized()
    const client = yield* Fiber.join(connecting)
    yield* answered(server, client.ping(), "ping", {})
    const listening = [
      yield* waiting(Stream.runDrain(client.notifications)),
      yield* waiting(Stream.runForEach(client.logs, () => Effect.never)),
      yield* waiting(Stream.runDrain(client.diagnostics))
    ]
    const calling = yield* Effect.forkScoped(
      Effect.flip(client.callTool("slow", {}, { onProgress: () => Effect.never }))
    )
    const { id } = yield* server.expectRequest("tools/call")
    yield* server.notify("notifications/progress", { progressToken: id, progress: 1 })
    yield* server.notify("notifications/message", { level: "info", data: "slowly" })
    yield* server.send(Message.success("made up", {}))
    yield* server.expectSilence
    return { calling, client, listening, scope, server }
  })

const pairs = { "the pair in memory": Transport.memory(), "Direct": Direct.pair }

for (const [name, pair] of Object.entries(pairs)) {
  describe(`A client over ${name}`, () => {
    it.effect("leaves no fiber and no timer when its scope closes in the middle of a call", () =>
      leavesNothing(Effect.gen(function*() {
        const { calling, client, scope, server } = yield* busy(pair)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* Fiber.join(calling))._tag, "ConnectionClosed")
        yield* client.ended
        yield* server.expectEnd
      })))

    it.effect("leaves no fiber and no timer when the server hangs up in the middle of a call", () =>
      leavesNothing(Effect.gen(function*() {
        const { calling, client, server } = yield* busy(pair)
        yield* server.hangUp
        assert.strictEqual((yield* Fiber.join(calling))._tag, "ConnectionClosed")
        yield* client.ended
      })))

    it.effect("leaves no fiber and no timer when the caller is interrupted first", () =>
      leavesNothing(Effect.gen(function*() {
        const { calling, server } = yield* busy(pair)
        yield* Fiber.interrupt(calling)
        yield* server.expectNotification("notifications/cancelled")
      })))

    it.effect("ends its streams with its scope", () =>
      Effect.scoped(Effect.gen(function*() {
        const { listening, scope } = yield* busy(pair)
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.join(listening[0]!)
        yield* Fiber.join(listening[2]!)
      })))
  })
}

describe("A client", () => {
  it.effect("leaves no fiber and no timer when it cannot connect", () =>
    leavesNothing(Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      const connecting = yield* Effect.fork(failure(Client.make(connector, { versions: Version.legacy })))
      yield* server.expectRequest("initialize")
      yield* server.hangUp
      assert.strictEqual((yield* Fiber.join(connecting))._tag, "ConnectionClosed")
    })))

  it.effect("leaves no fiber and no timer after calls that end in every way", () =>
    leavesNothing(Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      yield* answered(server, client.ping(), "ping", {})
      const interrupted = yield* Effect.fork(client.callTool("slow", {}, { onProgress: () => Effect.void }))
      yield* server.expectRequest("tools/call")
      yield* Fiber.interrupt(interrupted)
      yield* server.expectNotification("notifications/cancelled")
      const refused = yield* Effect.fork(Effect.flip(client.ping()))
      const { id } = yield* server.expectRequest("ping")
      yield* server.send(Message.failure(id, { code: -32603, message: "no" }))
      yield* Fiber.join(refused)
      yield* Effect.flip(client.ping({ timeout: 0 }))
    })))

  it.effect("interrupts the handlers of the server's requests when its scope closes", () =>
    leavesNothing(Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const features = ClientFeatures.request(
        "ours/wait",
        () =>
          Effect.zipRight(Deferred.succeed(began, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
      )
      const scope = yield* Scope.make()
      const { server } = yield* Scope.extend(legacyClient({ client: { features } }), scope)
      const id = yield* server.request("ours/wait")
      yield* Deferred.await(began)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      assert.deepInclude(yield* server.expectError(id), { code: -32000, message: "Connection closed" })
      yield* Fiber.join(closing)
      yield* Deferred.await(stopped)
    })))

  it.scoped("sends nothing once its scope has closed, and fails every call", () =>
    Effect.gen(function*() {
      const { client, scope, server } = yield* busy(Transport.memory())
      yield* Scope.close(scope, Exit.void)
      yield* server.expectEnd
      yield* client.notify("notifications/ours")
      for (const call of [client.ping(), client.callTool("echo"), Stream.runDrain(client.tools)]) {
        assert.strictEqual((yield* failure(call))._tag, "ConnectionClosed")
      }
      yield* Stream.runDrain(client.notifications)
    }))

  it.scoped("fails `ended` and the calls in flight with the error of the transport", () =>
    Effect.gen(function*() {
      const [mine, theirs] = yield* Transport.memory()
      const server = yield* TestPeer.make(theirs)
      const fault = new LocalError.TransportError({ reason: "Read", message: "\"played\" exited with code 3" })
      const broken = { ...mine, incoming: Stream.concat(mine.incoming, Stream.fail(fault)) }
      const connecting = yield* Effect.fork(Client.make(Connector.fromTransport(broken), { versions: Version.legacy }))
      yield* server.initialized()
      const client = yield* Fiber.join(connecting)
      const calling = yield* Effect.fork(failure(client.ping()))
      yield* server.expectRequest("ping")
      yield* server.hangUp
      assert.strictEqual((yield* Fiber.join(calling)).message, `Connection closed: ${fault.message}`)
      assert.strictEqual(yield* failure(client.ended), fault)
    }))
})
