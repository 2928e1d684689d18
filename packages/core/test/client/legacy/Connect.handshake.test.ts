import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { NoCommonVersion } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { Options } from "@effect-mcp/core/ClientSession"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Effect, Exit, Fiber, Layer, Stream, TestClock } from "effect"
import { failure } from "../Scripts.js"

const good = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  serverInfo: { name: "played", version: "1.0.0" }
}

/** A client that has sent `initialize`, and the id of the request. */
const initializing = (options?: Client.Options<never, ClientFeatures.ClientFeatures>) =>
  Effect.gen(function*() {
    const transcript = Transcript.make()
    const [server, connector] = yield* TestPeer.server({ transcript })
    const connecting = yield* Effect.fork(Client.make(connector, { versions: Version.legacy, ...options }))
    const { id, params } = yield* server.expectRequest("initialize")
    return { server, connecting, id, params, transcript }
  })

/** The error of a client at this answer, after which it has closed the transport and sent nothing more. */
const refusal = (answer: (id: Message.RequestId) => Message.Message, options?: Options) =>
  Effect.gen(function*() {
    const { connecting, id, server } = yield* initializing(options)
    yield* server.send(answer(id))
    const error = yield* failure(Fiber.join(connecting))
    yield* server.expectEnd
    return error
  })

const result = (value: unknown) => (id: Message.RequestId) => Message.success(id, value as JsonObject)

describe("initialize", () => {
  describe("requests", () => {
    it.scoped("the latest revision that has it, with the client's name and capabilities", () =>
      Effect.gen(function*() {
        const { params } = yield* initializing()
        assert.deepStrictEqual(params, {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "effect-mcp", version: "0.1.0" }
        })
      }))

    it.scoped("with the `clientInfo` of the options", () =>
      Effect.gen(function*() {
        const clientInfo = { name: "ours", title: "Ours", version: "2.0.0" }
        const { params } = yield* initializing({ clientInfo })
        assert.deepStrictEqual(params?.clientInfo, clientInfo)
      }))

    it.scoped("with what the requested revision knows", () =>
      Effect.gen(function*() {
        const clientInfo = {
          name: "ours",
          title: "Ours",
          version: "2.0.0",
          description: "d",
          websiteUrl: "https://ours.example",
          icons: [{ src: "https://ours.example/icon" }]
        }
        const features = Layer.mergeAll(
          ClientFeatures.sampling(() => Effect.die("unused"), { tools: true, context: true }),
          ClientFeatures.elicitation(() => Effect.die("unused")),
          ClientFeatures.roots(Effect.succeed([]), { changes: Stream.never }),
          ClientFeatures.experimental("ours", { a: 1 })
        )
        const expected: Record<Version.LegacyVersion, unknown> = {
          "2024-11-05": { capabilities: {}, clientInfo: { name: "ours", version: "2.0.0" } },
          "2025-03-26": { capabilities: {}, clientInfo: { name: "ours", version: "2.0.0" } },
          "2025-06-18": {
            capabilities: { elicitation: {} },
            clientInfo: { name: "ours", title: "Ours", version: "2.0.0" }
          },
          "2025-11-25": {
            capabilities: { elicitation: { form: {} }, sampling: { tools: {}, context: {} } },
            clientInfo
          }
        }
        for (const version of Version.legacy) {
          const { params } = yield* initializing({ clientInfo, versions: [version], features })
          const { capabilities, clientInfo: sent } = params as Record<"capabilities" | "clientInfo", JsonObject>
          const known = expected[version] as Record<"capabilities" | "clientInfo", JsonObject>
          assert.deepStrictEqual(sent, known.clientInfo)
          assert.deepStrictEqual<unknown>(capabilities, {
            sampling: {},
            roots: { listChanged: true },
            experimental: { ours: { a: 1 } },
            ...known.capabilities
          })
        }
      }))

    it.scoped("the latest revision of the options, whatever their order", () =>
      Effect.gen(function*() {
        const { params } = yield* initializing({ versions: ["2025-03-26", "2025-06-18", "2024-11-05"] })
        assert.strictEqual(params?.protocolVersion, "2025-06-18")
      }))
  })

  it.scoped("MUST be followed by one initialized notification, before any other request", () =>
    Effect.gen(function*() {
      const { connecting, id, server, transcript } = yield* initializing()
      yield* server.send(Message.success(id, good))
      const client = yield* Fiber.join(connecting)
      const pinging = yield* Effect.fork(client.ping())
      yield* server.expectNotification("notifications/initialized")
      const ping = yield* server.expectRequest("ping")
      yield* server.send(Message.success(ping.id, {}))
      yield* Fiber.join(pinging)
      assert.deepStrictEqual(Transcript.render(transcript).split("\n"), [
        "client → 1 initialize {\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}," +
        "\"clientInfo\":{\"name\":\"effect-mcp\",\"version\":\"0.1.0\"}}",
        "server ← 1 {\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}," +
        "\"serverInfo\":{\"name\":\"played\",\"version\":\"1.0.0\"}}",
        "client · notifications/initialized",
        "client → 2 ping",
        "server ← 2 {}"
      ])
    }))

  it.scoped("gives the facts of the server", () =>
    Effect.gen(function*() {
      const { connecting, id, server } = yield* initializing()
      const capabilities = { tools: { listChanged: true }, logging: {}, experimental: { ours: { a: 1 } } }
      const serverInfo = { name: "played", title: "Played", version: "1.0.0" }
      yield* server.send(Message.success(id, { ...good, capabilities, serverInfo, instructions: "Ask first." }))
      const client = yield* Fiber.join(connecting)
      assert.deepStrictEqual(client.serverCapabilities, capabilities)
      assert.deepStrictEqual(client.serverInfo, serverInfo)
      assert.strictEqual(client.instructions, "Ask first.")
      assert.strictEqual(client.version, "2025-11-25")
      yield* server.expectNotification("notifications/initialized")
    }))

  describe("SHOULD fail when the client does not speak the server's version", () => {
    for (const version of Version.legacy) {
      it.scoped(`but accepts ${version} from the server`, () =>
        Effect.gen(function*() {
          const { connecting, id, server } = yield* initializing()
          yield* server.send(Message.success(id, { ...good, protocolVersion: version }))
          assert.strictEqual((yield* Fiber.join(connecting)).version, version)
          yield* server.expectNotification("notifications/initialized")
        }))
    }

    for (const version of ["2099-01-01", "1999-01-01", "2026-07-28", "latest", ""]) {
      it.scoped(`as for ${JSON.stringify(version)}`, () =>
        Effect.gen(function*() {
          const error = yield* refusal(result({ ...good, protocolVersion: version }))
          assert.instanceOf(error, NoCommonVersion)
          assert.strictEqual(
            error.message,
            `The server supports ${version}; ` +
              "this client supports 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"
          )
        }))
    }

    it.scoped("although it is implemented, when the options leave it out", () =>
      Effect.gen(function*() {
        const error = yield* refusal(result({ ...good, protocolVersion: "2024-11-05" }), {
          versions: ["2025-06-18", "2025-11-25"]
        })
        assert.deepStrictEqual(
          error,
          new NoCommonVersion({ offered: "2024-11-05", supported: ["2025-06-18", "2025-11-25"] })
        )
      }))
  })

  it.scoped("reads a result that is not valid where nothing depends on it, and reports each place", () =>
    Effect.gen(function*() {
      const { connecting, id, server } = yield* initializing()
      yield* server.send(
        result({
          protocolVersion: "2024-10-07",
          capabilities: { tools: true, logging: 5 },
          serverInfo: { name: "played", title: 7 },
          instructions: ["Ask", "first"]
        })(id)
      )
      const client = yield* Fiber.join(connecting)
      assert.strictEqual(client.version, "2024-11-05")
      assert.deepStrictEqual(client.serverInfo, { name: "played", version: "" })
      assert.deepStrictEqual(client.serverCapabilities, { tools: {} })
      assert.isUndefined(client.instructions)
      yield* server.expectNotification("notifications/initialized")
    }))

  describe("fails on an invalid result, and names the place", () => {
    const places: ReadonlyArray<readonly [place: string, value: unknown]> = [
      ["protocolVersion", { ...good, protocolVersion: 20251125 }],
      ["protocolVersion", { capabilities: {}, serverInfo: good.serverInfo }],
      ["capabilities", { ...good, capabilities: null }],
      ["capabilities", { protocolVersion: "2025-11-25", serverInfo: good.serverInfo }],
      ["serverInfo", { ...good, serverInfo: "played" }],
      ["protocolVersion", {}]
    ]
    for (const [place, value] of places) {
      it.scoped(`${place} in ${JSON.stringify(value)}`, () =>
        Effect.gen(function*() {
          const error = yield* refusal(result(value))
          assert.strictEqual(error._tag, "TransportError")
          assert.strictEqual((error as TransportError).reason, "Decode")
          assert.isTrue(
            error.message.startsWith(`The result of "initialize" is not valid: ${place}: `),
            error.message
          )
        }))
    }

    it.scoped("when it is not an object", () =>
      Effect.gen(function*() {
        const error = yield* refusal(result([1]))
        assert.strictEqual((error as TransportError).reason, "Decode")
        assert.include(error.message, "\"result\" must be an object")
      }))
  })

  it.scoped("fails with the server's error", () =>
    Effect.gen(function*() {
      const unsupported = yield* refusal((id) =>
        Message.failure(id, {
          code: -32602,
          message: "Unsupported protocol version",
          data: { supported: ["2024-10-07"], requested: "2025-11-25" }
        })
      )
      assert.deepInclude(unsupported, { _tag: "UnsupportedVersion", supported: ["2024-10-07"] })
      const internal = yield* refusal((id) => Message.failure(id, { code: -32603, message: "no database" }))
      assert.deepInclude(internal, { _tag: "InternalError", message: "no database" })
      const unknown = yield* refusal((id) => Message.failure(id, { code: -32601, message: "Method not found" }))
      assert.strictEqual(unknown._tag, "MethodNotFound")
    }))

  it.scoped("MUST NOT be cancelled when it is not answered in time", () =>
    Effect.gen(function*() {
      const { connecting, server } = yield* initializing()
      yield* TestClock.adjust("59999 millis")
      assert.isNull(connecting.unsafePoll())
      yield* TestClock.adjust("1 millis")
      const error = yield* failure(Fiber.join(connecting))
      assert.deepInclude(error, { _tag: "RequestTimeout", method: "initialize", millis: 60_000 })
      yield* server.expectEnd
    }))

  it.scoped("waits as long as any request of the client", () =>
    Effect.gen(function*() {
      const { connecting } = yield* initializing({ timeout: "2 seconds" })
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* failure(Fiber.join(connecting)), { _tag: "RequestTimeout", millis: 2000 })
    }))

  it.scoped("MUST NOT be cancelled when connecting is interrupted; the transport is closed", () =>
    Effect.gen(function*() {
      const { connecting, server } = yield* initializing()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(connecting)))
      yield* server.expectEnd
    }))

  it.scoped("is not disturbed by requests and notifications of the server meanwhile", () =>
    Effect.gen(function*() {
      const { connecting, id, server } = yield* initializing()
      yield* server.notify("notifications/message", { level: "info", data: "starting" })
      yield* server.send(Message.success("made up", {}))
      yield* server.expectSilence
      const early = yield* server.request("roots/list")
      assert.strictEqual((yield* server.expectError(early)).code, -32601)
      yield* server.send(Message.success(id, good))
      yield* Fiber.join(connecting)
      yield* server.expectNotification("notifications/initialized")
    }))

  it.scoped("accepts its id as a string in the answer", () =>
    Effect.gen(function*() {
      const { connecting, id, server } = yield* initializing()
      yield* server.send(Message.success(String(id), good))
      yield* Fiber.join(connecting)
      yield* server.expectNotification("notifications/initialized")
    }))
})
