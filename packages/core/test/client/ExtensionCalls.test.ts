import { assert, describe, it } from "@effect/vitest"
import { NotNegotiated } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import type { TransportError } from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Chunk, Deferred, Effect, Either, Fiber, Layer, Logger, Option, Schema, Stream, TestClock } from "effect"
import { acknowledge, beside, complete, connect, envelope } from "./modern/ModernServer.js"

const ID = "com.example/jobs"
const Job = Schema.Struct({ id: Schema.String, n: Schema.NumberFromString })

const Jobs = Extension.make(ID, {
  settings: { client: Schema.Struct({ n: Schema.NumberFromString }), server: Schema.Struct({ max: Schema.Int }) },
  requests: {
    get: Extension.request("jobs/get", { params: Job, result: Job }),
    later: Extension.request("jobs/later", { params: Schema.Struct({}), result: Job, since: "2026-07-28" }),
    ask: Extension.request("jobs/ask", { from: "server", params: Job, result: Job })
  },
  notifications: {
    changed: Extension.notification("notifications/jobs/changed", {
      params: Job,
      filter: "jobIds",
      key: ({ id }) => id
    }),
    packed: Extension.notification("notifications/jobs/packed", { params: Job }),
    idle: Extension.notification("notifications/jobs/idle", { params: Schema.Struct({}), filter: "jobsIdle" }),
    seen: Extension.notification("notifications/jobs/seen", { from: "client", params: Job })
  },
  results: { job: Extension.resultType("job", { method: "tools/call", value: Job }) }
})

const given = [Extension.declare(Jobs, { client: { n: 1 } })]
const declared = { tools: {}, prompts: {}, extensions: { [ID]: { max: 2 } } }
const { notifications, requests, results } = Jobs
const job = { id: "a", n: "1" }
const decoded = { id: "a", n: 1 }

const modern = (
  capabilities: Record<string, unknown> = declared,
  client: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"] = {}
) => connect(capabilities, { extensions: given, ...client })

const tagged = ({ id }: Message.Request) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } })

/** Answers a request with a result of this type. */
const answer = (server: TestClient.TestClient["server"], id: Message.RequestId, resultType: string) =>
  server.send({ jsonrpc: "2.0", id, result: { resultType, ...job } })

describe("The calls of an extension", () => {
  it.scoped("carry what the client declares, and are encoded and decoded by its schemas", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      const calling = yield* beside(client.request(requests.get, decoded))
      const request = yield* server.expectRequest("jobs/get")
      assert.deepInclude(request.params, job)
      assert.deepStrictEqual(envelope(request)["io.modelcontextprotocol/clientCapabilities"], {
        extensions: { [ID]: { n: "1" } }
      })
      yield* complete(server, request.id, {
        ...job,
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } }
      })
      assert.deepStrictEqual(yield* Fiber.join(calling), decoded)
      yield* client.notify(notifications.seen, decoded)
      assert.deepInclude(yield* server.expectNotification("notifications/jobs/seen"), job)
      assert.deepStrictEqual(yield* client.extension(Jobs), Option.some({ client: { n: 1 }, server: { max: 2 } }))
    }))

  it.scoped("fail when the result does not conform to the schema, or has a type", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      for (
        const [result, why] of [
          [{ id: "a", n: "x" }, "n: "],
          [{ ...job, resultType: "job" }, "does not know its \"resultType\""],
          [{ ...job, resultType: "input_required" }, "must not ask for input"]
        ] as const
      ) {
        const calling = yield* beside(Effect.flip(client.request(requests.get, decoded)))
        const { id } = yield* server.expectRequest("jobs/get")
        yield* server.send({ jsonrpc: "2.0", id, result })
        const error = yield* Fiber.join(calling)
        assert.strictEqual((error as TransportError).reason, "Decode")
        assert.include(error.message, why)
      }
    }))

  it.scoped("are not sent when the server has not declared it, not by name either, unless capabilities are not enforced", () =>
    Effect.gen(function*() {
      const { client } = yield* modern({})
      for (const calling of [client.request(requests.get, decoded), client.request("jobs/get", job)]) {
        const error = yield* Effect.flip(calling as Effect.Effect<unknown, NotNegotiated>)
        assert.deepInclude(error, { declaredBy: "server", capability: `extensions.${ID}` })
      }
      const lenient = yield* modern({}, { enforceCapabilities: false })
      const calling = yield* beside(lenient.client.request(requests.get, decoded))
      yield* complete(lenient.server, (yield* lenient.server.expectRequest("jobs/get")).id, job)
      assert.deepStrictEqual(yield* Fiber.join(calling), decoded)
    }))

  it.scoped("fail when the settings of the server do not conform to their schema", () =>
    Effect.gen(function*() {
      const { client } = yield* modern({ extensions: { [ID]: { max: "two" } } })
      const error = yield* Effect.flip(client.extension(Jobs))
      assert.strictEqual(error.reason, "Decode")
      assert.include(error.message, `The server's settings of the extension "${ID}" are not valid: max: `)
    }))
})

describe("A result that an extension adds", () => {
  it.scoped("is read by the feature for it, or is given to the caller as it is", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.result(results.job, ({ id, n }, { request }) =>
        Effect.map(request(requests.get, { id, n: n + 1 }), ({ n }) => ({ content: [{ type: "text", text: `${n}` }] })))
      const { client, server } = yield* modern(declared, { features })
      const calling = yield* beside(client.callTool("t"))
      yield* answer(server, (yield* server.expectRequest("tools/call")).id, "job")
      const { id, params } = yield* server.expectRequest("jobs/get")
      assert.deepInclude(params, { id: "a", n: "2" })
      yield* complete(server, id, { id: "a", n: "3" })
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [{ type: "text", text: "3" }] })
      for (const isJob of [true, false]) {
        const calling = yield* beside(client.callEither(results.job, { name: "t" }))
        const { id } = yield* server.expectRequest("tools/call")
        yield* isJob ? answer(server, id, "job") : complete(server, id, { content: [] })
        assert.deepStrictEqual(yield* Fiber.join(calling), isJob ? Either.left(decoded) : Either.right({ content: [] }))
      }
    }))

  it.scoped("MUST be invalid on another method, from a server that has not declared it, and for a client without it", () =>
    Effect.gen(function*() {
      for (
        const [capabilities, client, method] of [
          [declared, {}, "prompts/get"],
          [{ tools: {} }, {}, "tools/call"],
          [declared, { extensions: [] }, "tools/call"]
        ] as const
      ) {
        const session = yield* modern(capabilities, client)
        const call = method === "prompts/get" ? session.client.getPrompt("p") : session.client.callTool("t")
        const calling = yield* beside(Effect.flip(call as Effect.Effect<unknown, TransportError>))
        yield* answer(session.server, (yield* session.server.expectRequest(method)).id, "job")
        const error = yield* Fiber.join(calling)
        assert.strictEqual(error.reason, "Decode")
        assert.include(error.message, "does not know its \"resultType\"")
      }
    }))
})

describe("The notifications of an extension", () => {
  it.scoped("come by a subscription that lasts as long as their stream, and invalid ones are reported", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      const diagnostic = yield* beside(Stream.runHead(client.diagnostics))
      const listening = yield* beside(
        Stream.runCollect(Stream.take(client.listen(notifications.changed, ["a", "b"]), 2))
      )
      const first = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(first.params?.notifications, { jobIds: ["a", "b"] })
      yield* acknowledge(server, first)
      const notify = (params: Record<string, unknown>) =>
        server.notify("notifications/jobs/changed", { ...params, ...tagged(first) })
      for (const [id, n] of [["b", "1"], ["foreign", "2"], ["a", "x"], ["a", "3"]]) yield* notify({ id, n })
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(listening)), [{ id: "b", n: 1 }, {
        id: "a",
        n: 3
      }])
      assert.strictEqual((yield* Effect.flatten(Fiber.join(diagnostic)))._tag, "Malformed")
      assert.propertyVal(yield* server.expectNotification("notifications/cancelled"), "requestId", first.id)
    }))

  it.scoped("share one subscription, which keeps what another stream still needs", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      const idle = yield* beside(Stream.runDrain(client.listen(notifications.idle)))
      const first = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(first.params?.notifications, { jobsIdle: true })
      yield* acknowledge(server, first)
      const a = yield* beside(Stream.runDrain(client.listen(notifications.changed, ["a"])))
      const second = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(second.params?.notifications, { jobsIdle: true, jobIds: ["a"] })
      yield* acknowledge(server, second)
      yield* server.expectNotification("notifications/cancelled")
      const same = yield* beside(
        Stream.runHead(client.listen(notifications.changed, ["a"], { current: Effect.succeed([decoded]) }))
      )
      assert.deepStrictEqual(yield* Fiber.join(same), Option.some(decoded))
      yield* Fiber.interrupt(idle)
      const third = yield* server.expectRequest("subscriptions/listen")
      assert.deepStrictEqual(third.params?.notifications, { jobIds: ["a"] })
      yield* acknowledge(server, third)
      yield* server.expectNotification("notifications/cancelled")
      yield* Fiber.interrupt(a)
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("are read again, as the present state, when their subscription was interrupted", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      let reads = 0
      const current = Effect.sync(() => [{ id: "a", n: reads++ }])
      const listening = yield* beside(
        Stream.runCollect(Stream.take(client.listen(notifications.changed, ["a"], { current }), 2))
      )
      const first = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, first)
      yield* complete(server, first.id, tagged(first))
      yield* TestClock.adjust("2 seconds")
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(listening)), [{ id: "a", n: 0 }, {
        id: "a",
        n: 1
      }])
      yield* server.expectNotification("notifications/cancelled")
    }))

  it.scoped("fail when the server does not accept every key, or refuses", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      const listen = Effect.flip(Stream.runDrain(client.listen(notifications.changed, ["a", "b"])))
      const partly = yield* beside(listen)
      yield* acknowledge(server, yield* server.expectRequest("subscriptions/listen"), { jobIds: ["a"] })
      assert.include((yield* Fiber.join(partly)).message, `did not acknowledge the subscription to "jobIds"`)
      const refused = yield* beside(listen)
      const { id } = yield* server.expectRequest("subscriptions/listen")
      yield* server.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "No" } })
      assert.strictEqual((yield* Fiber.join(refused)).message, "No")
    }))
})

describe("An extension of a client up to 2025-11-25", () => {
  const legacy = (client: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"]) =>
    TestClient.make({ version: "2025-11-25", capabilities: declared, client: { extensions: given, ...client } })

  const answering = ClientFeatures.request(
    requests.ask,
    ({ id, n }) => Effect.map(FeatureContext, ({ method }) => ({ id: `${id} of ${method}`, n: n + 1 }))
  )

  it.scoped("answers the requests of the server by its schemas", () =>
    Effect.gen(function*() {
      const { server } = yield* legacy({ features: answering })
      assert.deepStrictEqual(yield* server.expectResult(yield* server.request("jobs/ask", job)), {
        id: "a of jobs/ask",
        n: "2"
      })
      assert.strictEqual((yield* server.expectError(yield* server.request("jobs/ask", { id: "a" }))).code, -32602)
      const without = yield* legacy({ features: answering, extensions: [] })
      assert.strictEqual(
        (yield* without.server.expectError(yield* without.server.request("jobs/ask", job))).code,
        -32601
      )
    }))

  it.scoped("has neither what is newer nor subscriptions", () =>
    Effect.gen(function*() {
      const { client } = yield* legacy({})
      for (
        const failing of [
          client.request(requests.later, {}),
          client.request("jobs/later"),
          Stream.runDrain(client.listen(notifications.idle))
        ]
      ) {
        const error = yield* Effect.flip(failing as Effect.Effect<unknown, NotNegotiated>)
        assert.instanceOf(error, NotNegotiated)
        assert.isUndefined(error.capability)
      }
    }))
})

describe("The notifications of an extension that need no subscription", () => {
  const eras = {
    "2025-11-25": (capabilities: Record<string, unknown>) =>
      TestClient.make({ version: "2025-11-25", capabilities, client: { extensions: given } }),
    "2026-07-28": modern
  }

  for (const [version, connected] of Object.entries(eras)) {
    it.scoped(`come as the server sends them, decoded, and invalid ones are reported, at ${version}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connected(declared)
        const diagnostic = yield* beside(Stream.runHead(client.diagnostics))
        const listening = yield* beside(Stream.runCollect(Stream.take(client.listen(notifications.packed), 2)))
        for (const n of ["1", "x", "2"]) yield* server.notify("notifications/jobs/packed", { id: "a", n })
        assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(listening)), [{ id: "a", n: 1 }, {
          id: "a",
          n: 2
        }])
        assert.strictEqual((yield* Effect.flatten(Fiber.join(diagnostic)))._tag, "Malformed")
      }))

    it.scoped(`are refused where the server has not declared the extension, at ${version}`, () =>
      Effect.gen(function*() {
        const { client } = yield* connected({})
        const error = yield* Effect.flip(Stream.runDrain(client.listen(notifications.packed)))
        assert.deepInclude(error, {
          _tag: "NotNegotiated",
          method: "notifications/jobs/packed",
          capability: `extensions.${ID}`
        })
      }))
  }
})

describe("A slow reader of an extension's notifications", () => {
  it.scoped("loses none of them to other notifications", () =>
    Effect.gen(function*() {
      const { client, server } = yield* modern()
      const gate = yield* Deferred.make<void>()
      const reading = yield* beside(
        client.listen(notifications.changed, ["a"]).pipe(
          Stream.tap(() => Deferred.await(gate)),
          Stream.take(4),
          Stream.runCollect
        )
      )
      const listen = yield* server.expectRequest("subscriptions/listen")
      yield* acknowledge(server, listen)
      for (const n of ["1", "2", "3", "4"]) {
        yield* server.notify("notifications/jobs/changed", { id: "a", n, ...tagged(listen) })
      }
      for (let data = 0; data < 1000; data++) yield* server.notify("notifications/message", { level: "info", data })
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(reading)).map(({ n }) => n), [1, 2, 3, 4])
    }))
})

describe("A client", () => {
  it.scoped("dies when it is given an extension twice, or two features for one result", () =>
    Effect.gen(function*() {
      const read = ClientFeatures.result(results.job, () => Effect.succeed({ content: [] }))
      for (
        const [client, why] of [
          [{ extensions: [...given, ...given] }, "exists already"],
          [{ features: Layer.merge(read, Layer.fresh(read)) }, "read results of the type \"job\""]
        ] as const
      ) {
        const cause = yield* Effect.flip(Effect.sandbox(TestClient.connected(client)))
        assert.include(String(cause), why)
      }
    }))

  it.scoped("warns of an extension that its features use and that it was not given", () => {
    const lines: Array<string> = []
    const logger = Logger.add(Logger.make(({ message }) => void lines.push(String(message))))
    const features = Layer.merge(
      ClientFeatures.result(results.job, () => Effect.succeed({ content: [] })),
      ClientFeatures.request(requests.ask, (job) => Effect.succeed(job))
    )
    return Effect.gen(function*() {
      yield* modern(declared, { features })
      assert.deepStrictEqual(lines, [])
      yield* modern(declared, { features, extensions: [] })
      assert.deepStrictEqual(lines, [
        `Features of this client use the extension "${ID}", which the client was not given: add it to the option ` +
        "`extensions`"
      ])
    }).pipe(Effect.provide(logger))
  })
})
