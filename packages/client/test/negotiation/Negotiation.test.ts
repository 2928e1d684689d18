import { assert, describe, it } from "@effect/vitest"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as Version from "@effect-mcp/protocol/Version"
import { Effect, Fiber, TestClock } from "effect"
import { leavesNothing } from "../../../testing/test/support/Leftovers.js"
import { servers } from "../Scripts.js"
import { both, connecting, connects, described, error, prior } from "./Connecting.js"

describe("A client of both eras", () => {
  it.scoped("SHOULD send `server/discover` before any other message, and speaks the modern era when it is answered", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).version, "2026-07-28")
    }))

  for (const code of [-32601, -32602, -32603, -32600, -32000, 0, 1]) {
    it.scoped(`sends \`initialize\` when the probe fails with ${code}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        const { id } = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id, ...error(code) })
        yield* server.initialized()
        assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
      }))
  }

  it.scoped("sends `initialize` when the answer to the probe describes no server", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id, result: {} })
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  it.scoped("sends `initialize` when the answer to the probe is no response", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send(MessageText.parse(JSON.stringify({ jsonrpc: "2.0", id, error: "what?" })) as Message.Message)
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  it.scoped("sends `initialize` when the server is silent for five seconds, and ignores a late answer", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      const initialize = yield* server.expectRequest("initialize")
      yield* server.send({ jsonrpc: "2.0", id, ...described(["2026-07-28"]) })
      yield* server.send(Message.success(initialize.id, {
        protocolVersion: Version.latestLegacy,
        capabilities: {},
        serverInfo: { name: "old", version: "1" }
      }))
      yield* server.expectNotification("notifications/initialized")
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  for (
    const [what, answer] of [
      ["describes itself", described(["2099-01-01", "2025-06-18"])],
      ["refuses the revision", error(-32022, { supported: ["2025-06-18"], requested: "2026-07-28" })]
    ] as const
  ) {
    it.scoped(`sends \`initialize\` with the revision that the server names when it ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        const { id } = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id, ...answer })
        const initialize = yield* server.expectRequest("initialize")
        assert.strictEqual(initialize.params?.protocolVersion, "2025-06-18")
        yield* server.send(Message.success(initialize.id, {
          protocolVersion: "2025-06-18",
          capabilities: {},
          serverInfo: { name: "both", version: "1" }
        }))
        yield* server.expectNotification("notifications/initialized")
        assert.strictEqual((yield* Fiber.join(client)).version, "2025-06-18")
      }))
  }

  it.scoped("SHOULD send the probe again, once, when the server refuses the revision and names it as supported", () =>
    Effect.gen(function*() {
      const refusal = error(-32022, { supported: ["2026-07-28"], requested: "2026-07-28" })
      const { client, server } = yield* connecting(both)
      const first = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id: first.id, ...refusal })
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).version, "2026-07-28")
      const other = yield* connecting(both)
      for (let i = 0; i < 2; i++) {
        const { id } = yield* other.server.expectRequest("server/discover")
        yield* other.server.send({ jsonrpc: "2.0", id, ...refusal })
      }
      assert.strictEqual((yield* Effect.flip(Fiber.join(other.client)))._tag, "NoCommonVersion")
      yield* other.server.expectEnd
    }))

  it.scoped("fails when the server names no revision that it speaks, and sends no `initialize`", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({
        jsonrpc: "2.0",
        id,
        ...error(-32022, { supported: ["2099-01-01"], requested: "2026-07-28" })
      })
      assert.deepInclude(yield* Effect.flip(Fiber.join(client)), { _tag: "NoCommonVersion", offered: "2099-01-01" })
      yield* server.expectEnd
    }))

  for (const code of [-32020, -32021]) {
    it.scoped(`fails with ${code}, which only a modern server sends, and sends no \`initialize\``, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        const { id } = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id, ...error(code, { requiredCapabilities: {} }) })
        yield* Effect.flip(Fiber.join(client))
        yield* server.expectEnd
      }))
  }

  it.scoped("fails when the connection ends during the probe, and there is no other: that shows no era", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      assert.strictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "ConnectionClosed")
    }))

  it.scoped("is a client without options", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({})
      const { id, params } = yield* server.expectRequest("server/discover")
      assert.deepInclude(params!._meta, { "io.modelcontextprotocol/protocolVersion": "2026-07-28" })
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
      yield* server.initialized()
      const { era, version } = yield* Fiber.join(client)
      assert.deepStrictEqual([era, version], ["legacy", Version.latestLegacy])
      const other = yield* connecting({})
      yield* other.server.discovered()
      assert.deepInclude(yield* Fiber.join(other.client), { era: "modern", version: "2026-07-28" })
    }))

  it.scoped("waits for the answer to the probe as long as its `timeouts` say", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({ ...both, timeouts: { "server/discover": "20 seconds" } })
      const { id } = yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("19 seconds")
      yield* server.send({ jsonrpc: "2.0", id, ...described(["2026-07-28"]) })
      assert.strictEqual((yield* Fiber.join(client)).version, "2026-07-28")
    }))

  it.scoped("sends the probe again when a server that was silent refuses `initialize`", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      const { id } = yield* server.expectRequest("initialize")
      yield* server.send({
        jsonrpc: "2.0",
        id,
        ...error(-32022, { supported: ["2026-07-28"], requested: Version.latestLegacy })
      })
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).version, "2026-07-28")
    }))

  it.scoped("fails with the refusal of `initialize` when no second probe shows a modern server", () =>
    Effect.gen(function*() {
      for (const answers of [true, false]) {
        const { client, server } = yield* connecting(both)
        yield* server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        const { id } = yield* server.expectRequest("initialize")
        yield* server.send({ jsonrpc: "2.0", id, ...error(-32603) })
        const probe = yield* server.expectRequest("server/discover")
        yield* answers
          ? server.send({ jsonrpc: "2.0", id: probe.id, ...error(-32601) })
          : TestClock.adjust("5 seconds")
        assert.deepInclude(yield* Effect.flip(Fiber.join(client)), { _tag: "InternalError", message: "No" })
        yield* server.expectEnd
      }
    }))

  it.scoped("sends no probe when the application knows the era", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({
        ...both,
        prior
      })
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, "2025-11-25")
    }))
})

describe("A client of the modern era only", () => {
  const modern = { versions: ["2026-07-28"] } as const

  it.scoped("SHOULD send the probe too, and says what the server speaks when that is a legacy revision", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(modern)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
      assert.strictEqual(
        (yield* Effect.flip(Fiber.join(client))).message,
        "The server speaks a legacy revision (No); this client speaks 2026-07-28"
      )
    }))
})

describe("A server that ends the connection at the probe", () => {
  it.scoped("is connected to again, and gets `initialize` first", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      const { client, server } = yield* connects(reached)
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      yield* Effect.repeat(Effect.yieldNow(), { until: () => reached.server() !== server })
      assert.strictEqual(reached.open(), 1)
      yield* reached.server().initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  it.scoped("gets the probe again when it refuses `initialize`: it ended for another reason", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      const { client, server } = yield* connects(reached)
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      yield* Effect.repeat(Effect.yieldNow(), { until: () => reached.server() !== server })
      const { id } = yield* reached.server().expectRequest("initialize")
      yield* reached.server().send({ jsonrpc: "2.0", id, ...error(-32601) })
      yield* reached.server().discovered()
      assert.strictEqual((yield* Fiber.join(client)).version, "2026-07-28")
    }))

  it.effect("is connected to only twice, and nothing is left behind", () =>
    leavesNothing(Effect.gen(function*() {
      const reached = yield* servers
      const { client, server } = yield* connects(reached)
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      yield* Effect.repeat(Effect.yieldNow(), { until: () => reached.server() !== server })
      yield* reached.server().expectRequest("initialize")
      yield* reached.server().hangUp
      assert.strictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "ConnectionClosed")
      assert.strictEqual(reached.open(), 0)
    })))

  it.scoped("fails the client with the end of the connection when it cannot be reached again", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      let attempts = 0
      const connector = Connector.make(
        "once",
        Effect.suspend(() =>
          ++attempts === 1
            ? reached.connector.connect
            : new LocalError.TransportError({ reason: "Open", message: "No more" })
        )
      )
      const { client, server } = yield* connects({ ...reached, connector })
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      assert.strictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "ConnectionClosed")
      assert.strictEqual(attempts, 2)
    }))

  it.scoped("is not connected to again by a client of the modern era only", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      const { client, server } = yield* connects(reached, { versions: ["2026-07-28"] })
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      assert.strictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "ConnectionClosed")
      assert.strictEqual(reached.server(), server)
    }))
})

describe("A client of the legacy era only", () => {
  it.scoped("sends no probe", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({ versions: ["2025-06-18"] })
      yield* server.initialized({ version: "2025-06-18" })
      assert.deepInclude(yield* Fiber.join(client), { era: "legacy", version: "2025-06-18" })
    }))
})
