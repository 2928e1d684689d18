import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, HashMap, Logger, LogLevel, Option, TestClock } from "effect"
import { leavesNothing } from "../../../../testing/test/support/Leftovers.js"
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

  for (
    const [what, result] of [
      ["describes no server", {}],
      ["names no revision that can be read", { supportedVersions: [{ version: "2025-06-18" }], capabilities: {} }]
    ] as const
  ) {
    it.scoped(`sends \`initialize\` when the answer to the probe ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        const { id } = yield* server.expectRequest("server/discover")
        yield* server.send({ jsonrpc: "2.0", id, result })
        yield* server.initialized()
        assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
      }))
  }

  it.scoped("sends `initialize` when the answer to the probe is not a response", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send(MessageText.parse(JSON.stringify({ jsonrpc: "2.0", id, error: "what?" })) as Message.Message)
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  it.scoped("sends `initialize` when the server is silent for five seconds", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
    }))

  const handshake = {
    protocolVersion: Version.latestLegacy,
    capabilities: {},
    serverInfo: { name: "slow", version: "1" }
  }

  for (
    const [what, answers, era] of [
      ["speaks the modern era when a slow server answers the probe before `initialize`", true, "modern"],
      ["ignores an answer to the probe that comes after that to `initialize`", false, "legacy"]
    ] as const
  ) {
    it.scoped(what, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        const { id } = yield* server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        const initialize = yield* server.expectRequest("initialize")
        // The launcher may be downloading the server.
        yield* TestClock.adjust("50 seconds")
        const late = server.send({ jsonrpc: "2.0", id, ...described(["2026-07-28"]) })
        if (answers) yield* late
        yield* server.send(Message.success(initialize.id, handshake))
        yield* server.expectNotification("notifications/initialized")
        if (!answers) yield* late
        assert.strictEqual((yield* Fiber.join(client)).era, era)
      }))
  }

  it.scoped("goes on with the handshake when a slow server refuses the probe at last", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      const initialize = yield* server.expectRequest("initialize")
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
      yield* server.send(Message.success(initialize.id, handshake))
      yield* server.expectNotification("notifications/initialized")
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  for (
    const [what, answer] of [
      ["no id", { jsonrpc: "2.0", error: { code: -32601, message: "No" } }],
      ["`null` as its id", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "No" } }],
      ["an id of the server's own", { jsonrpc: "2.0", id: "server-error", error: { code: -32602, message: "No" } }],
      ["no id, and is not a message", { error: "unknown method" }],
      ["no id, and has a result", { jsonrpc: "2.0", id: null, result: {} }]
    ] as const
  ) {
    it.scoped(`sends \`initialize\` at once when the answer to the probe has ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        yield* server.expectRequest("server/discover")
        yield* server.send(MessageText.parse(JSON.stringify(answer)) as Message.Message)
        yield* server.initialized()
        assert.strictEqual((yield* Fiber.join(client)).version, Version.latestLegacy)
      }))
  }

  it.scoped("takes an error without an id for the answer of a slow server to the probe, while `initialize` has none", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      yield* server.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      const initialize = yield* server.expectRequest("initialize")
      yield* server.send({ jsonrpc: "2.0", ...error(-32601) })
      yield* server.send(Message.success(initialize.id, handshake))
      yield* server.expectNotification("notifications/initialized")
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  it.scoped("sends `initialize` when the server refuses the revision and names none that it supports", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32022) })
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  it.scoped("says what became of both requests, and names `versions`, when a modern server describes itself badly", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const discover = yield* server.expectRequest("server/discover")
      yield* server.send({
        jsonrpc: "2.0",
        id: discover.id,
        result: { resultType: "complete", supportedVersions: "2026-07-28", capabilities: {} }
      })
      const initialize = yield* server.expectRequest("initialize")
      yield* server.send({ jsonrpc: "2.0", id: initialize.id, error: { code: -32601, message: "Method not found" } })
      const failure = yield* Effect.flip(Fiber.join(client))
      assert.strictEqual(failure._tag, "MethodNotFound")
      assert.match(failure.message, /`versions`.*"server\/discover".*supportedVersions.*"initialize".*Method not found/)
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

  it.scoped("speaks another revision than the server has named when the server answers `initialize` with that", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting(both)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id, ...described(["2025-06-18"]) })
      yield* server.initialized({ version: "2025-11-25" })
      assert.strictEqual((yield* Fiber.join(client)).version, "2025-11-25")
    }))

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
          : TestClock.adjust("1 minute")
        const failure = yield* Effect.flip(Fiber.join(client))
        assert.strictEqual(failure._tag, "InternalError")
        assert.match(failure.message, /: No$/)
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

describe("The log of a client", () => {
  it.scoped("has the era and what showed it, at level Info when the server gave no clear answer", () =>
    Effect.gen(function*() {
      const lines: Array<readonly [string, unknown, unknown]> = []
      const logger = Logger.make(({ annotations, logLevel }) =>
        void lines.push([
          logLevel.label,
          Option.getOrUndefined(HashMap.get(annotations, "era")),
          Option.getOrUndefined(HashMap.get(annotations, "why"))
        ])
      )
      yield* Effect.gen(function*() {
        const answered = yield* connecting(both)
        yield* answered.server.discovered()
        yield* Fiber.join(answered.client)
        const reached = yield* servers
        const { client, server } = yield* connects(reached)
        yield* server.expectRequest("server/discover")
        yield* server.hangUp
        yield* TestClock.adjust("1 second")
        yield* Effect.repeat(Effect.yieldNow(), { until: () => reached.server() !== server })
        yield* reached.server().initialized()
        yield* Fiber.join(client)
        const silent = yield* connecting(both)
        yield* silent.server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        yield* silent.server.initialized()
        yield* Fiber.join(silent.client)
      }).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.Debug)
      )
      assert.deepStrictEqual(lines, [
        ["DEBUG", "modern", "the server described itself"],
        ["INFO", "legacy", "the outcome of \"server/discover\" was: the connection ended"],
        [
          "INFO",
          "legacy",
          "the outcome of \"server/discover\" was: Request \"server/discover\" timed out after 5000 ms"
        ]
      ])
    }))
})

describe("The error of a client that gets no answer in time", () => {
  for (
    const [what, versions] of [["both eras", both.versions], ["one era", ["2025-11-25"]], ["the other", [
      "2026-07-28"
    ]]] as const
  ) {
    it.scoped(`says how much of the input was not a message, and how it begins: ${what}`, () =>
      Effect.gen(function*() {
        const isDual = versions === both.versions
        const [server, peer] = yield* TestPeer.server()
        const once = Connector.make("once", peer.connect, { connectsAgain: false })
        const client = yield* Effect.fork(Client.make(once, { versions, timeout: "10 seconds" }))
        yield* server.expectRequest(isDual || versions[0] === "2026-07-28" ? "server/discover" : "initialize")
        for (const line of [`Welcome!\t${"x".repeat(100)}`, "Listening on stdin"]) {
          yield* server.send(MessageText.parse(line) as unknown as Message.Message)
        }
        if (isDual) {
          yield* TestClock.adjust("5 seconds")
          yield* server.expectRequest("initialize")
        }
        yield* TestClock.adjust("10 seconds")
        const error = yield* Effect.flip(Fiber.join(client))
        assert.strictEqual(error._tag, "RequestTimeout")
        assert.match(
          error.message,
          /timed out after \d+ ms\. Inputs of the server that were not messages and were skipped: 2; the first begins with "Welcome! x{91}"$/
        )
      }))
  }

  it.scoped("quotes nothing of input whose text is not known", () =>
    Effect.gen(function*() {
      const [server, peer] = yield* TestPeer.server()
      const client = yield* Effect.fork(Client.make(peer, { versions: ["2025-11-25"], timeout: "10 seconds" }))
      yield* server.expectRequest("initialize")
      yield* server.send(MessageText.parse("[]") as unknown as Message.Message)
      yield* TestClock.adjust("10 seconds")
      const { message } = yield* Effect.flip(Fiber.join(client))
      assert.match(message, /Inputs of the server that were not messages and were skipped: 1$/)
    }))
})

describe("What a client logs of its server", () => {
  it.scoped("names the server", () =>
    Effect.gen(function*() {
      const lines: Array<readonly [string, unknown]> = []
      const logger = Logger.make(({ annotations, message }) =>
        void lines.push([String(message), Option.getOrUndefined(HashMap.get(annotations, "server"))])
      )
      yield* Effect.gen(function*() {
        const { client, server } = yield* connecting(both)
        yield* server.discovered()
        yield* Fiber.join(client)
        yield* server.send({ jsonrpc: "2.0", error: { code: -32700, message: "What?" } })
        yield* Effect.repeat(Effect.yieldNow(), { until: () => lines.length > 0 })
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.deepStrictEqual(lines, [["The peer sent an error without an id: What? (-32700)", "a scripted server"]])
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
        "The server supports a legacy revision (No); this client supports 2026-07-28"
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
      yield* TestClock.adjust("1 second")
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
      yield* TestClock.adjust("1 second")
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
      yield* TestClock.adjust("1 second")
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
      yield* TestClock.adjust("1 second")
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
