import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { CallOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import type { Options as RemoteOptions } from "@effect-mcp/core/Remote"
import type { Credentials, Transport } from "@effect-mcp/core/Transport"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import * as ModernHttp from "./ModernHttp.js"
import { acknowledge, beside, cacheable, connect, requireInput, version } from "./ModernServer.js"

const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} }

const list = (client: ClientSessionService, cursor?: string) =>
  Effect.map(client.listTools(cursor === undefined ? {} : { cursor }), ({ tools }) => tools.map(({ name }) => name))

/** Lists the tools, which the server answers with one tool of this name. */
const listed = (
  client: ClientSessionService,
  server: TestPeer.TestPeer,
  name: string,
  ttlMs?: number,
  cursor?: string
) =>
  Effect.gen(function*() {
    const listing = yield* beside(list(client, cursor))
    const { id } = yield* server.expectRequest("tools/list")
    yield* cacheable(server, id, { tools: [{ name, inputSchema: { type: "object" } }] }, ttlMs)
    assert.deepStrictEqual(yield* Fiber.join(listing), [name])
  })

const start = Effect.gen(function*() {
  const { client, server } = yield* connect(capabilities)
  const listen = yield* server.expectRequest("subscriptions/listen")
  yield* acknowledge(server, listen)
  return { client, server, listen }
})

describe("Results that may be cached", () => {
  it.scoped("are used again until their time is over", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(yield* list(client), ["one"])
      yield* TestClock.adjust("1 millis")
      yield* listed(client, server, "two", 1000)
    }))

  it.scoped("are objects of their own for each caller, who may change them", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      const listing = yield* beside(client.listTools())
      const { id } = yield* server.expectRequest("tools/list")
      yield* cacheable(server, id, { tools: [{ name: "one", inputSchema: { type: "object" } }] }, 1000)
      const spoil = ({ tools }: { readonly tools: ReadonlyArray<unknown> }) => {
        const [tool] = tools as Array<{ name: string }>
        assert.strictEqual(tool!.name, "one")
        tool!.name = "changed"
      }
      spoil(yield* Fiber.join(listing))
      spoil(yield* client.listTools())
      assert.deepStrictEqual(yield* list(client), ["one"])
    }))

  it.scoped("are not used again with a time of zero, a negative one, or none", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 0)
      yield* listed(client, server, "two", -1)
      yield* listed(client, server, "three")
      yield* listed(client, server, "four")
    }))

  it.scoped("MUST NOT be used for another page", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* listed(client, server, "two", 1000, "next")
      assert.deepStrictEqual(yield* list(client), ["one"])
      assert.deepStrictEqual(yield* list(client, "next"), ["two"])
    }))

  for (
    const [notification, stale] of [
      ["tools/list_changed", ["tools/list"]],
      ["prompts/list_changed", ["prompts/list"]],
      ["resources/list_changed", ["resources/list", "resources/templates/list", "resources/read"]],
      ["resources/updated", ["resources/read"]]
    ] as const
  ) {
    it.scoped(`are dropped when they are of ${stale.join(", ")} and ${notification} comes, and no others`, () =>
      Effect.gen(function*() {
        const { client, listen, server } = yield* start
        const calls: Readonly<Record<string, readonly [Effect.Effect<unknown, unknown>, Record<string, unknown>]>> = {
          "tools/list": [client.listTools(), { tools: [] }],
          "prompts/list": [client.listPrompts(), { prompts: [] }],
          "resources/list": [client.listResources(), { resources: [] }],
          "resources/templates/list": [client.listResourceTemplates(), { resourceTemplates: [] }],
          "resources/read": [client.readResource("file:///a"), { contents: [] }]
        }
        const requested = (method: string) =>
          Effect.gen(function*() {
            const [call, result] = calls[method]!
            const calling = yield* beside(call)
            const { id } = yield* server.expectRequest(method)
            yield* cacheable(server, id, result, 1000)
            yield* Fiber.join(calling)
          })
        yield* Effect.forEach(Object.keys(calls), requested)
        yield* server.notify(`notifications/${notification}`, {
          ...(notification === "resources/updated" ? { uri: "file:///a" } : undefined),
          _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
        })
        yield* Effect.forEach(stale, requested)
        for (const [call] of Object.values(calls)) yield* call
      }))
  }

  it.scoped("are not kept when the list has changed on their way", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      const listing = yield* beside(list(client))
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.notify("notifications/tools/list_changed", {
        _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
      })
      yield* cacheable(server, id, { tools: [] }, 1000)
      yield* Fiber.join(listing)
      yield* listed(client, server, "two", 1000)
    }))

  it.scoped("SHOULD be dropped when the server refuses the cursor of a page: the list begins again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* listed(client, server, "one", 1000)
      yield* listed(client, server, "two", 1000, "2")
      const listing = yield* beside(Effect.flip(list(client, "3")))
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "Unknown cursor" } })
      assert.strictEqual((yield* Fiber.join(listing))._tag, "InvalidParams")
      yield* listed(client, server, "new", 1000)
      yield* listed(client, server, "newer", 1000, "2")
    }))

  const contentsOf = (text: string) => [{ uri: "file:///a", text }]

  /** Reads the resource, which the server answers with this text, after a round if it asks first. */
  const read = (
    client: ClientSessionService,
    server: TestPeer.TestPeer,
    text: string,
    options?: CallOptions,
    asks = false
  ) =>
    Effect.gen(function*() {
      const reading = yield* beside(client.readResource("file:///a", options))
      let { id } = yield* server.expectRequest("resources/read")
      if (asks) {
        yield* requireInput(server, id, { requestState: "s" })
        id = (yield* server.expectRequest("resources/read")).id
      }
      yield* cacheable(server, id, { contents: contentsOf(text) }, 1000)
      assert.deepStrictEqual((yield* Fiber.join(reading)).contents, contentsOf(text))
    })

  it.scoped("MUST NOT be kept from a round with answers", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      yield* read(client, server, "one", undefined, true)
      yield* read(client, server, "two", undefined, true)
    }))

  it.scoped("are neither used for a call with metadata of its own, nor kept from it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      const own = { meta: { "com.example/own": 1 } }
      yield* read(client, server, "with", own)
      yield* read(client, server, "without")
      yield* read(client, server, "with again", own)
      assert.deepStrictEqual((yield* client.readResource("file:///a")).contents, contentsOf("without"))
    }))

  it.scoped("of a resource are dropped when it, or one below it, is updated, and no other", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      const read = (uri: string) =>
        Effect.gen(function*() {
          const reading = yield* beside(client.readResource(uri))
          const { id } = yield* server.expectRequest("resources/read")
          yield* cacheable(server, id, { contents: [] }, 1000)
          yield* Fiber.join(reading)
        })
      yield* read("file:///a")
      yield* read("file:///b")
      const updated = (uri: string) =>
        server.notify("notifications/resources/updated", {
          uri,
          _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
        })
      yield* updated("file:///a/below")
      yield* read("file:///a")
      yield* updated("file:///a")
      yield* read("file:///a")
      yield* client.readResource("file:///b")
    }))

  it.scoped("do not exist for prompts and calls", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      for (let i = 0; i < 2; i++) {
        const getting = yield* beside(client.getPrompt("p"))
        const { id } = yield* server.expectRequest("prompts/get")
        yield* cacheable(server, id, { messages: [] }, 1000)
        yield* Fiber.join(getting)
      }
    }))

  it.scoped("are kept for at most 256 requests, the newest ones", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      for (let page = 0; page <= 256; page++) yield* listed(client, server, `t${page}`, 1000, `${page}`)
      assert.deepStrictEqual(yield* list(client, "1"), ["t1"])
      yield* listed(client, server, "again", 1000, "0")
    }))

  /** Reads a resource, which the server answers with a text of this length. */
  const readLong = (client: ClientSessionService, server: TestPeer.TestPeer, uri: string, length: number) =>
    Effect.gen(function*() {
      const reading = yield* beside(client.readResource(uri))
      const { id } = yield* server.expectRequest("resources/read")
      yield* cacheable(server, id, { contents: [{ uri, text: "x".repeat(length) }] }, 60_000)
      yield* Fiber.join(reading)
    })

  it.scoped("have 16 Mi characters at most, the newest ones, and none that has more by itself", () =>
    Effect.gen(function*() {
      const { client, server } = yield* start
      const most = 16 * 1024 * 1024
      for (let n = 0; n < 16; n++) yield* readLong(client, server, `file:///${n}`, most / 16)
      // There is no place for all sixteen, because their results have more than their texts.
      for (let n = 1; n < 16; n++) yield* client.readResource(`file:///${n}`)
      yield* readLong(client, server, "file:///long", most)
      for (let n = 1; n < 16; n++) yield* client.readResource(`file:///${n}`)
      yield* readLong(client, server, "file:///long", 10)
      yield* readLong(client, server, "file:///0", most / 16)
      yield* client.readResource("file:///long")
      yield* readLong(client, server, "file:///1", 10)
    }))

  it.scoped("count once, also when two of one request come at the same time, and not after they have become stale", () =>
    Effect.gen(function*() {
      const { client, listen, server } = yield* start
      const half = 8 * 1024 * 1024 - 1000
      const text = "x".repeat(half)
      yield* readLong(client, server, "file:///kept", half)
      const reads = [yield* beside(client.readResource("file:///a")), yield* beside(client.readResource("file:///a"))]
      for (const _ of reads) {
        const { id } = yield* server.expectRequest("resources/read")
        yield* cacheable(server, id, { contents: [{ uri: "file:///a", text }] }, 60_000)
      }
      for (const reading of reads) yield* Fiber.join(reading)
      yield* client.readResource("file:///kept")
      for (let n = 0; n < 3; n++) {
        yield* server.notify("notifications/resources/updated", {
          uri: "file:///a",
          _meta: { "io.modelcontextprotocol/subscriptionId": listen.id }
        })
        yield* readLong(client, server, "file:///a", half)
        yield* client.readResource("file:///kept")
      }
    }))
})

/** A client whose application sends the requests of the user that `as` names last. */
const shared = (remote: RemoteOptions = {}, options: ModernHttp.ConnectOptions = {}) =>
  Effect.gen(function*() {
    let user = "ada"
    const headers = Effect.sync(() => ({ authorization: `Bearer ${user}` }))
    const { client, http } = yield* ModernHttp.connect({ ...options, remote: { headers, ...remote } })
    /** Answers a read with the name of the user that asks. */
    const answer = (more: object = {}) =>
      Effect.flatMap(http.expect("resources/read"), (exchange) =>
        ModernHttp.cacheable(exchange, {
          contents: [{ uri: "me:", text: exchange.headers["authorization"] ?? "nobody" }],
          ttlMs: 60_000,
          ...more
        }))
    const reading = (options?: CallOptions) =>
      beside(Effect.map(client.readResource("me:", options), ({ contents }) => (contents[0] as { text: string }).text))
    return {
      client,
      http,
      answer,
      reading,
      as: (name: string) => {
        user = name
      },
      /** A read that the server answers. */
      sent: (more?: object, options?: CallOptions) =>
        Effect.flatMap(reading(options), (fiber) => Effect.zipRight(answer(more), Fiber.join(fiber))),
      /** A read that no request is sent for. */
      kept: Effect.flatMap(reading(), Fiber.join)
    }
  })

describe("Private results that may be cached", () => {
  it.scoped("MUST NOT reach the next user when the headers of the application have changed", () =>
    Effect.gen(function*() {
      const { as, kept, sent } = yield* shared()
      assert.strictEqual(yield* sent(), "Bearer ada")
      assert.strictEqual(yield* kept, "Bearer ada")
      as("bob")
      assert.strictEqual(yield* sent(), "Bearer bob")
      assert.strictEqual(yield* kept, "Bearer bob")
      as("ada")
      assert.strictEqual(yield* sent(), "Bearer ada")
    }))

  it.scoped("MUST NOT be shared by users who read at the same time, nor kept for one of them", () =>
    Effect.gen(function*() {
      const { answer, as, reading, sent } = yield* shared()
      const first = yield* reading()
      as("bob")
      const second = yield* reading()
      yield* answer()
      yield* answer()
      assert.strictEqual(yield* Fiber.join(first), "Bearer ada")
      assert.strictEqual(yield* Fiber.join(second), "Bearer bob")
      as("ada")
      assert.strictEqual(yield* sent(), "Bearer ada")
    }))

  it.scoped("MUST NOT be kept for a user who was replaced, and came back, while the request was on its way", () =>
    Effect.gen(function*() {
      const { answer, as, reading, sent } = yield* shared()
      assert.strictEqual(yield* sent({ ttlMs: 0 }), "Bearer ada")
      as("bob")
      const read = yield* reading()
      as("ada")
      yield* answer()
      assert.strictEqual(yield* Fiber.join(read), "Bearer bob")
      assert.strictEqual(yield* sent(), "Bearer ada")
    }))

  /** A client of a transport with these credentials. */
  const withCredentials = (credentials: Credentials) =>
    Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      yield* Effect.addFinalizer(() => server.hangUp)
      const exchanges = { isResumed: false, canLogIn: false, credentials }
      const connect = Effect.map(connector.connect, (transport): Transport => ({ ...transport, exchanges }))
      const serverInfo = { name: "s", version: "0" }
      const client = yield* Client.make(Connector.make("numbered", connect), {
        prior: { version, serverInfo, serverCapabilities: { resources: {}, tools: {} }, instructions: undefined },
        checkOutputs: false
      })
      return { client, server }
    })

  it.scoped("MUST NOT be kept when the credentials changed on their way, where a transport numbers them by user", () =>
    Effect.gen(function*() {
      let now = 1
      let last = now
      const { client, server } = yield* withCredentials({ last: () => last, now: Effect.sync(() => now) })
      /** The server answers with the number of the credentials that the request had. */
      const read = (during: () => void = () => {}) =>
        Effect.gen(function*() {
          const reading = yield* beside(client.readResource("file:///me"))
          const { id } = yield* server.expectRequest("resources/read")
          last = now
          const contents = [{ uri: "file:///me", text: `${last}` }]
          during()
          yield* cacheable(server, id, { contents }, 60_000)
          assert.deepStrictEqual((yield* Fiber.join(reading)).contents, contents)
        })
      // The request of 2 leaves after one of 1.
      now = 2
      yield* read()
      now = 1
      yield* read()
      // Another request of 2 leaves while that of 1 is on its way.
      yield* read(() => {
        last = 2
      })
      last = 1
      yield* read()
      const { contents } = yield* client.readResource("file:///me")
      assert.deepInclude(contents[0], { text: "1" })
    }))

  it.scoped("MUST NOT be used when they become stale while the present credentials are found: by a list that begins again", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch(true)
      const { client, server } = yield* withCredentials({ last: () => 1, now: Effect.as(gate.await, 1) })
      yield* listed(client, server, "old", 60_000)
      assert.deepStrictEqual(yield* list(client), ["old"])
      yield* gate.close
      const listing = yield* beside(list(client))
      const other = yield* beside(Effect.flip(list(client, "unknown")))
      const refused = yield* server.expectRequest("tools/list")
      yield* server.send({ jsonrpc: "2.0", id: refused.id, error: { code: -32602, message: "Unknown cursor" } })
      yield* Fiber.join(other)
      yield* gate.open
      const { id } = yield* server.expectRequest("tools/list")
      yield* cacheable(server, id, { tools: [] }, 60_000)
      assert.deepStrictEqual(yield* Fiber.join(listing), [])
    }))

  it.scoped("MUST NOT be used when they become stale while the present credentials are found: by their time", () =>
    Effect.gen(function*() {
      let finding: Effect.Effect<void> = Effect.void
      const headers = Effect.as(Effect.suspend(() => finding), { authorization: "Bearer ada" })
      const { answer, kept, reading, sent } = yield* shared({ headers })
      assert.strictEqual(yield* sent({ ttlMs: 10_000 }), "Bearer ada")
      assert.strictEqual(yield* kept, "Bearer ada")
      const gate = yield* Effect.makeLatch()
      finding = gate.await
      const read = yield* reading()
      yield* TestClock.adjust("11 seconds")
      finding = Effect.void
      yield* gate.open
      yield* answer()
      assert.strictEqual(yield* Fiber.join(read), "Bearer ada")
    }))

  it.scoped("MUST NOT be used when the present credentials cannot be found, or not in time", () =>
    Effect.gen(function*() {
      let find: Effect.Effect<{ authorization: string }, string> = Effect.succeed({ authorization: "Bearer ada" })
      const { reading, sent } = yield* shared({ headers: Effect.suspend(() => find) }, { timeout: "1 second" })
      assert.strictEqual(yield* sent(), "Bearer ada")
      find = Effect.fail("logged out")
      assert.strictEqual((yield* Effect.flip(Effect.flatMap(reading(), Fiber.join)))._tag, "TransportError")
      find = Effect.never
      const read = yield* reading()
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Effect.flip(Fiber.join(read)))._tag, "RequestTimeout")
    }))

  it.scoped("MUST NOT reach a user whose `Authorizer` gives other credentials", () =>
    Effect.gen(function*() {
      let token: string | undefined
      const { kept, sent } = yield* shared({
        headers: {},
        authorize: {
          // A proof of possession is another one in each request.
          headers: () =>
            Effect.sync(() => token === undefined ? {} : { authorization: `DPoP ${token}`, dpop: crypto.randomUUID() }),
          onRefused: () => Effect.succeed(false)
        }
      })
      assert.strictEqual(yield* sent(), "nobody")
      token = "ada"
      assert.strictEqual(yield* sent(), "DPoP ada")
      assert.strictEqual(yield* kept, "DPoP ada")
      token = undefined
      assert.strictEqual(yield* sent(), "nobody")
    }))

  it.scoped("MUST NOT be kept where `authorize` gives the credentials after each refusal", () =>
    Effect.gen(function*() {
      let user = "ada"
      const { http, reading, sent } = yield* shared({
        headers: {},
        authorize: () => Effect.sync(() => ({ authorization: `Bearer ${user}` }))
      })
      const refused = Effect.flatMap(http.expect("resources/read"), (exchange) => exchange.reply(401))
      for (user of ["ada", "bob"]) {
        const read = yield* reading()
        yield* refused
        const again = yield* http.expect("resources/read")
        yield* ModernHttp.cacheable(again, {
          contents: [{ uri: "me:", text: again.headers["authorization"] }],
          ttlMs: 60_000
        })
        assert.strictEqual(yield* Fiber.join(read), `Bearer ${user}`)
      }
      assert.strictEqual(yield* sent(), "nobody")
    }))

  it.scoped("are used again while the headers stay the same, and public ones for every user", () =>
    Effect.gen(function*() {
      const fixed = yield* shared({ headers: { authorization: "Bearer one" } })
      assert.strictEqual(yield* fixed.sent(), "Bearer one")
      assert.strictEqual(yield* fixed.kept, "Bearer one")
      const { as, kept, sent } = yield* shared()
      assert.strictEqual(yield* sent({ cacheScope: "public" }), "Bearer ada")
      as("bob")
      assert.strictEqual(yield* kept, "Bearer ada")
    }))

  it.scoped("count as private without a scope that the client knows", () =>
    Effect.gen(function*() {
      const { as, sent } = yield* shared()
      assert.strictEqual(yield* sent({ cacheScope: "group" }), "Bearer ada")
      as("bob")
      assert.strictEqual(yield* sent(), "Bearer bob")
    }))

  it.scoped("of a server in a group MUST NOT reach the next user", () =>
    Effect.gen(function*() {
      const { answer, as, client, http } = yield* shared()
      const group = yield* ClientSessionGroup.make()
      const adding = yield* beside(group.add("one", client))
      for (
        const [method, name] of [["tools/list", "tools"], ["resources/list", "resources"], [
          "resources/templates/list",
          "resourceTemplates"
        ], ["prompts/list", "prompts"]] as const
      ) {
        yield* Effect.flatMap(http.expect(method), (exchange) =>
          ModernHttp.cacheable(exchange, { [name]: name === "resources" ? [{ uri: "me:", name: "me" }] : [] }))
      }
      yield* Fiber.join(adding)
      const read = Effect.gen(function*() {
        const reading = yield* beside(group.readResource("me:"))
        yield* answer()
        return (yield* Fiber.join(reading)).contents[0]
      })
      assert.deepInclude(yield* read, { text: "Bearer ada" })
      as("bob")
      assert.deepInclude(yield* read, { text: "Bearer bob" })
    }))
})

describe("The option `cache`", () => {
  it.scoped("turns the cache off for a client, or for a call; a call can turn it on", () =>
    Effect.gen(function*() {
      const off = yield* shared({}, { cache: false })
      yield* off.sent()
      yield* off.sent()
      yield* off.sent({}, { cache: true })
      const on = yield* shared()
      yield* on.sent({}, { cache: false })
      yield* on.sent()
      yield* on.sent({}, { cache: false })
      assert.strictEqual(yield* on.kept, "Bearer ada")
    }))
})
