import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Version from "@effect-mcp/protocol/Version"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"

const both = { versions: ["2025-06-18", "2025-11-25", "2026-07-28"] } as const

const connecting = (options: Client.Options) =>
  Effect.gen(function*() {
    const [server, connector] = yield* TestPeer.server()
    yield* Effect.addFinalizer(() => server.hangUp)
    const client = yield* Effect.fork(Client.make(connector, options))
    return { server, client }
  })

const described = (supportedVersions: ReadonlyArray<string>) => ({
  result: { resultType: "complete", supportedVersions, capabilities: {}, ttlMs: 0, cacheScope: "public" }
})

const error = (code: number, data?: unknown) => ({
  error: { code, message: "No", ...(data === undefined ? {} : { data }) }
})

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

  it.scoped("fails when the connection ends during the probe: that shows no era", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.expectRequest("server/discover")
      yield* server.hangUp
      assert.strictEqual((yield* Effect.flip(Fiber.join(client)))._tag, "ConnectionClosed")
    }))

  it.scoped("sends no probe when the application knows the era", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({
        ...both,
        prior: {
          version: "2025-11-25",
          serverInfo: { name: "old", version: "1" },
          serverCapabilities: {},
          instructions: undefined
        }
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
