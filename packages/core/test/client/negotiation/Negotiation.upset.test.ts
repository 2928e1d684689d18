/** Servers on a pipe that end, or fall silent, because of the probe. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import { servers } from "../Scripts.js"
import { connects, error, type Reached } from "./Connecting.js"

describe("A server on a pipe that the probe has upset", () => {
  const success = (id: Message.RequestId) =>
    Message.success(id, {
      protocolVersion: Version.latestLegacy,
      capabilities: {},
      serverInfo: { name: "old", version: "1" }
    })

  /** What the first process does after the probe. */
  const upset: Record<string, (server: TestPeer.TestPeer) => Effect.Effect<unknown, unknown>> = {
    "refuses `initialize`": (server) =>
      Effect.gen(function*() {
        const discover = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id: discover.id, ...error(-32601) })
        const { id } = yield* server.expectRequest("initialize")
        yield* server.send({ jsonrpc: "2.0", id, ...error(-32600) })
      }),
    "took the probe for `initialize`": (server) =>
      Effect.gen(function*() {
        const discover = yield* server.expectRequest("server/discover")
        yield* server.send(success(discover.id))
        const { id } = yield* server.expectRequest("initialize")
        yield* server.send({ jsonrpc: "2.0", id, ...error(-32600) })
      }),
    "ends at `initialize`": (server) =>
      Effect.gen(function*() {
        const discover = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id: discover.id, ...error(-32601) })
        yield* server.expectRequest("initialize")
        yield* server.hangUp
        yield* TestClock.adjust("1 second")
      }),
    "starts slowly, and ends at the probe": (server) =>
      Effect.gen(function*() {
        yield* server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        yield* server.expectRequest("initialize")
        yield* TestClock.adjust("4 seconds")
        yield* server.hangUp
        yield* TestClock.adjust("1 second")
      }),
    "answers the probe, and is deaf then": (server) =>
      Effect.gen(function*() {
        const discover = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id: discover.id, ...error(-32601) })
        yield* server.expectRequest("initialize")
        yield* TestClock.adjust("15 seconds")
      }),
    "is deaf": (server) =>
      Effect.gen(function*() {
        yield* server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        yield* server.expectRequest("initialize")
        // The client waits for this answer no longer than for the answer to the probe.
        yield* TestClock.adjust("5 seconds")
      }),
    "answers `initialize` with what is not a result of it": (server) =>
      Effect.gen(function*() {
        const discover = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id: discover.id, ...error(-32601) })
        const { id } = yield* server.expectRequest("initialize")
        yield* server.send(Message.success(id, {}))
      })
  }

  /** A client that has connected for the second time, because of how a server took the probe; then the server ends. */
  const upsets = (reached: Reached, does: (server: TestPeer.TestPeer) => Effect.Effect<unknown, unknown>) =>
    Effect.scoped(Effect.gen(function*() {
      const { client, server } = yield* connects(reached)
      yield* does(server)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => reached.server() !== server })
      // The first connection ended before.
      assert.strictEqual(reached.open(), 1)
      yield* reached.server().initialized()
      const session = yield* Fiber.join(client)
      assert.strictEqual(session.version, Version.latestLegacy)
      yield* reached.server().hangUp
      yield* session.ended
    }))

  /** A client that connects without a probe, to a server that ends then. */
  const assumes = (reached: Reached, version: Version.LegacyVersion) =>
    Effect.scoped(Effect.gen(function*() {
      const { client, server } = yield* connects(reached)
      yield* server.initialized({ version })
      const session = yield* Fiber.join(client)
      assert.strictEqual(session.version, version)
      yield* server.hangUp
      yield* session.ended
    }))

  for (const [what, does] of Object.entries(upset)) {
    it.scoped(`is connected to once more, without a probe, when it ${what}; later connections send none`, () =>
      Effect.gen(function*() {
        const reached = yield* servers
        yield* upsets(reached, does)
        // It is remembered also after this server has ended, and those after it.
        for (let times = 0; times < 3; times++) yield* assumes(reached, Version.latestLegacy)
      }))
  }

  it.scoped("gets the probe after it has ended, when it had come back with another revision", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      yield* upsets(reached, upset["is deaf"]!)
      yield* assumes(reached, "2025-06-18")
      const { client, server } = yield* connects(reached)
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
    }))
})
