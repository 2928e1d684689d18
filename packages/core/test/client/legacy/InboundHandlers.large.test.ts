import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { vi } from "vitest"
import { legacyClient, servers, waiting } from "../Scripts.js"

const features = ClientFeatures.elicitation(() => Effect.succeed({ action: "decline" }))

const KEYS = 380_000

const large = Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`k${i}`, i]))

/** What the transport in memory looks up, once, to see that a value has a JSON form. */
const BY_TRANSPORT = 2 * KEYS + 1

/** An object of 380,000 keys that counts how often anything is looked up in it. */
const watched = () => {
  const looks = { count: 0 }
  const look = <A>(found: A): A => (looks.count++, found)
  const value = new Proxy(large, {
    get: (all, key) => look(Reflect.get(all, key)),
    ownKeys: (all) => look(Reflect.ownKeys(all)),
    getOwnPropertyDescriptor: (all, key) => look(Reflect.getOwnPropertyDescriptor(all, key))
  })
  return { looks, value }
}

describe("A request with an object of 380,000 keys where something short belongs", () => {
  /** A client, and a server whose values reach it as they are, without a text in between. */
  const direct = Effect.gen(function*() {
    const { connector, open, server } = yield* servers
    const connecting = yield* Effect.fork(Client.make(connector, { versions: Version.legacy, features }))
    yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
    yield* server().initialized()
    return { client: yield* Fiber.join(connecting), server: server() }
  })

  const questions: ReadonlyArray<readonly [what: string, params: (value: object) => object]> = [
    ["the message", (message) => ({ message, requestedSchema: { type: "object", properties: {} } })],
    ["the schema", (requestedSchema) => ({ message: "?", requestedSchema })],
    ["a field", (a) => ({ message: "?", requestedSchema: { type: "object", properties: { a } } })],
    ["the mode", (mode) => ({ mode, message: "?", requestedSchema: { type: "object", properties: {} } })]
  ]

  for (const [what, params] of questions) {
    it.scoped(`is refused without reading the object: ${what}`, () =>
      Effect.gen(function*() {
        const { looks, value } = watched()
        const { server } = yield* direct
        const id = yield* server.request("elicitation/create", params(value) as never)
        const ping = yield* server.request("ping")
        const error = yield* server.expectError(id)
        assert.deepStrictEqual(yield* server.expectResult(ping), {})
        assert.strictEqual(error.code, -32602)
        assert.match(error.message, /^Invalid params: /)
        assert.isBelow(JSON.stringify(error).length, 3000)
        assert.isBelow(looks.count - BY_TRANSPORT, 100)
      }))
  }

  it.scoped("is dropped where it is the level of a log message", () =>
    Effect.gen(function*() {
      const { looks, value } = watched()
      const { client, server } = yield* direct
      const logs = yield* waiting(Stream.runCollect(Stream.take(client.logs, 1)))
      yield* server.notify("notifications/message", { level: value, data: 1 } as never)
      yield* server.notify("notifications/message", { level: "info", data: 2 })
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(logs)), [{ level: "info", data: 2 }])
      assert.isBelow(looks.count - BY_TRANSPORT, 100)
    }))

  it.scoped("is refused before its text is parsed, and another server goes on", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient({ client: { features } })
      const { server: other } = yield* legacyClient({ client: { features } })
      const parse = vi.spyOn(JSON, "parse")
      const id = yield* server.request("elicitation/create", { message: large, requestedSchema: {} } as never)
      const ping = yield* other.request("ping")
      const error = yield* server.expectError(id)
      assert.deepStrictEqual(yield* other.expectResult(ping), {})
      assert.isTrue(parse.mock.calls.every(([parsed]) => parsed.length < 10_000))
      parse.mockRestore()
      assert.strictEqual(error.code, -32600)
      assert.strictEqual(error.message, "Invalid request: more than 100000 values")
    }))

  it.scoped("ends its call at once where it is a response that holds more than a million values", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const calling = yield* waiting(Effect.flip(client.ping()))
      const { id } = yield* server.expectRequest("ping")
      yield* server.send(Message.success(id, { many: Array(1_000_000).fill(0) }))
      const error = yield* Fiber.join(calling)
      assert.deepInclude(error, {
        _tag: "TransportError",
        reason: "Decode",
        message: "Invalid response: more than 1000000 values"
      })
    }))
})
