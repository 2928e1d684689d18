import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import * as KnownVersions from "../../../src/client/negotiation/KnownVersions.js"
import { servers } from "../Scripts.js"
import { connecting, connects, error, prior, type Reached } from "./Connecting.js"

describe("What a client found out about the era", () => {
  /** Connects to a server that refuses the probe. */
  const toLegacy = (reached: Reached) =>
    Effect.gen(function*() {
      const { client, server } = yield* connects(reached)
      const { id } = yield* server.expectRequest("server/discover")
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
      yield* server.initialized()
      return yield* Fiber.join(client)
    })

  it.scoped("SHOULD hold for later connections of the connector: no probe comes before `initialize`", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      yield* toLegacy(reached)
      const { client, server } = yield* connects(reached)
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  it.scoped("is found out anew when the server refuses `initialize` later, and holds then", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      yield* toLegacy(reached)
      const { client, server } = yield* connects(reached)
      const { id } = yield* server.expectRequest("initialize")
      yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
      const third = yield* connects(reached)
      yield* third.server.discovered()
      assert.strictEqual((yield* Fiber.join(third.client)).era, "modern")
    }))

  it.scoped("does not outlive a modern server that became legacy", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      const first = yield* connects(reached)
      yield* first.server.discovered()
      yield* Fiber.join(first.client)
      assert.strictEqual((yield* toLegacy(reached)).era, "legacy")
    }))

  it.scoped("ends with a server that ends: the one that comes back gets the probe", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      yield* Effect.scoped(Effect.gen(function*() {
        const { ended } = yield* toLegacy(reached)
        yield* reached.server().hangUp
        yield* ended
      }))
      const { client, server } = yield* connects(reached)
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
    }))

  it.scoped("follows from silence when `initialize` is answered, which came after the probe", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      yield* Effect.scoped(Effect.gen(function*() {
        const { client, server } = yield* connects(reached)
        yield* server.expectRequest("server/discover")
        yield* TestClock.adjust("5 seconds")
        yield* server.initialized()
        assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
      }))
      const { client, server } = yield* connects(reached)
      yield* server.initialized()
      assert.strictEqual((yield* Fiber.join(client)).era, "legacy")
    }))

  it.scoped("is not a choice of the application: other clients of the connector look for the era", () =>
    Effect.gen(function*() {
      const reached = yield* servers
      const first = yield* connects(reached, { versions: Version.legacy })
      yield* first.server.initialized()
      yield* Fiber.join(first.client)
      const second = yield* connects(reached)
      yield* second.server.discovered()
      assert.strictEqual((yield* Fiber.join(second.client)).era, "modern")
    }))

  it.scoped("may come from the application: a modern session opens without a message", () =>
    Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      const client = yield* Client.make(connector, { prior: { ...prior, version: "2026-07-28" }, checkOutputs: false })
      assert.deepInclude(client, { era: "modern", version: "2026-07-28", instructions: "Be brief" })
      const calling = yield* Effect.fork(client.callTool("greet"))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.send(Message.success(id, { resultType: "complete", content: [] }))
      yield* Fiber.join(calling)
    }))

  it.scoped("may come from the application, and is found out anew when the server refuses `initialize`", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connecting({ prior })
      const { id } = yield* server.expectRequest("initialize")
      yield* server.send({
        jsonrpc: "2.0",
        id,
        ...error(-32022, { supported: ["2026-07-28"], requested: Version.latestLegacy })
      })
      yield* server.discovered()
      assert.strictEqual((yield* Fiber.join(client)).era, "modern")
    }))

  /** A group, and ways to connect it to servers of an origin: with a probe that the server refuses, or without a probe. */
  const grouped = Effect.gen(function*() {
    const group = yield* ClientSessionGroup.make()
    const one = yield* servers
    const at = (origin: string | undefined) => Connector.make("one", one.connector.connect, { origin })
    const join = (name: string, connector: Connector.Connector, isProbed: boolean) =>
      Effect.gen(function*() {
        const before = one.open()
        const joining = yield* Effect.forkScoped(group.connect(name, connector))
        yield* Effect.repeat(Effect.yieldNow(), { until: () => one.open() === before + 1 })
        const server = one.server()
        if (isProbed) {
          const { id } = yield* server.expectRequest("server/discover")
          yield* server.send({ jsonrpc: "2.0", id, ...error(-32601) })
        }
        yield* server.initialized({ capabilities: {} })
        yield* Fiber.join(joining)
      })
    /** The server that was connected last ends. */
    const end = Effect.gen(function*() {
      const before = one.open()
      yield* one.server().hangUp
      yield* Effect.repeat(Effect.yieldNow(), { until: () => one.open() === before - 1 })
    })
    return { at, end, group, join }
  })

  it.scoped("is shared by the servers of one origin in a group, and by no others", () =>
    Effect.gen(function*() {
      const { at, join } = yield* grouped
      yield* join("first", at("https://a.test"), true)
      yield* join("second", at("https://a.test"), false)
      yield* join("third", at("https://b.test"), true)
      yield* join("fourth", at(undefined), true)
      yield* join("fifth", at(undefined), true)
    }))

  it.scoped("ends for a whole origin with one of its servers, and not when the group disconnects one", () =>
    Effect.gen(function*() {
      const { at, end, group, join } = yield* grouped
      for (const [index, connector] of [at("https://a.test"), at(undefined)].entries()) {
        yield* join(`first ${index}`, connector, true)
        yield* group.disconnect(`first ${index}`)
        yield* join(`second ${index}`, connector, false)
        yield* end
        yield* join(`third ${index}`, connector, true)
        yield* end
      }
      yield* join("one", at("https://a.test"), true)
      yield* end
      yield* join("another", at("https://a.test"), true)
    }))

  it.scoped("is forgotten of the oldest origins beyond 1,000", () =>
    Effect.gen(function*() {
      const { at } = yield* grouped
      const known = KnownVersions.byOrigin()
      for (let n = 0; n < 1001; n++) known.remember(at(`https://${n}.test`), Version.latestLegacy, true)
      assert.isUndefined(known.of(at("https://0.test")))
      assert.strictEqual(known.of(at("https://1.test")), Version.latestLegacy)
      assert.strictEqual(known.of(at("https://1000.test")), Version.latestLegacy)
    }))
})
