/**
 * The option `heartbeat` of a client: over a pipe, over Streamable HTTP, and in the modern era.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestClient from "@effect-mcp/testing/TestClient"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Fiber, TestClock } from "effect"
import * as ScriptedServer from "./http/ScriptedServer.js"
import { connect } from "./modern/ModernServer.js"
import { failure } from "./Scripts.js"

const heartbeat = { interval: "10 seconds" } as const

/** The interval in which the server has answered the handshake ends. */
const quiet = TestClock.adjust("10 seconds")

/** A client over Streamable HTTP that has opened a session. */
const remote = Effect.gen(function*() {
  const http = yield* ScriptedServer.make()
  const connecting = yield* Effect.fork(
    Client.make(Remote.connector(ScriptedServer.URL, { standalone: false }), {
      heartbeat,
      timeout: "1 hour",
      versions: Version.legacy
    }).pipe(
      Effect.provideService(HttpClient.HttpClient, http.client)
    )
  )
  yield* Effect.flatMap(http.expect("initialize"), (exchange) => exchange.result(ScriptedServer.initializeResult()))
  yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
  return { ...http, client: yield* Fiber.join(connecting) }
})

describe("The heartbeat of a client", () => {
  it.scoped("ends the session with a silent server, over a pipe", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ client: { heartbeat, versions: Version.legacy } })
      const calling = yield* Effect.fork(failure(client.callTool("slow")))
      yield* server.expectRequest("tools/call")
      yield* quiet
      yield* TestClock.adjust("10 seconds")
      yield* server.expectRequest("ping")
      yield* TestClock.adjust("10 seconds")
      yield* server.expectNotification("notifications/cancelled")
      yield* server.expectRequest("ping")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(calling))._tag, "ConnectionClosed")
      assert.match((yield* failure(client.ended)).message, /The peer is gone/)
      // The cancel of the second ping, or the end.
      yield* Effect.exit(server.next)
    }))

  it.scoped("sends no ping before the handshake is over", () =>
    Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      const connecting = yield* Effect.fork(Client.make(connector, { heartbeat, versions: Version.legacy }))
      const { id } = yield* server.expectRequest("initialize")
      yield* TestClock.adjust("50 seconds")
      yield* server.send(Message.success(id, ScriptedServer.initializeResult()))
      yield* server.expectNotification("notifications/initialized")
      yield* Fiber.join(connecting)
    }))

  it.scoped("ends the session while the client answers a question of a server that is gone", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.elicitation(() => Effect.never)
      const { client, server } = yield* TestClient.make({ client: { features, heartbeat, versions: Version.legacy } })
      yield* server.request("elicitation/create", {
        message: "Sure?",
        requestedSchema: { type: "object", properties: {} }
      })
      yield* quiet
      yield* TestClock.adjust("30 seconds")
      assert.match((yield* failure(client.ended)).message, /The peer is gone/)
      yield* server.expectRequest("ping")
      yield* server.expectNotification("notifications/cancelled")
      yield* server.expectRequest("ping")
      // The cancel of the second ping, or the end.
      yield* Effect.exit(server.next)
    }))

  it.scoped("ends the session with a server that answers nothing, over Streamable HTTP", () =>
    Effect.gen(function*() {
      const { client, expect } = yield* remote
      const cancelled = Effect.flatMap(expect("notifications/cancelled"), ({ accept }) => accept)
      yield* quiet
      yield* TestClock.adjust("10 seconds")
      yield* expect("ping")
      yield* TestClock.adjust("10 seconds")
      yield* cancelled
      yield* expect("ping")
      yield* TestClock.adjust("10 seconds")
      yield* cancelled
      assert.match((yield* failure(client.ended)).message, /The peer is gone/)
    }))

  it.scoped("ends the session with a server that cannot be reached for two intervals, and not before", () =>
    Effect.gen(function*() {
      const { client, expect } = yield* remote
      yield* quiet
      const lost = Effect.flatMap(expect("ping"), (exchange) => exchange.fail("ECONNREFUSED"))
      const ended = yield* Effect.fork(failure(client.ended))
      yield* TestClock.adjust("10 seconds")
      yield* lost
      // A server that starts again meanwhile is there.
      yield* TestClock.adjust("10 seconds")
      yield* Effect.flatMap(expect("ping"), (exchange) => exchange.result())
      yield* TestClock.adjust("10 seconds")
      yield* lost
      yield* TestClock.adjust("10 seconds")
      yield* lost
      yield* TestClock.adjust("9 seconds")
      assert.isNull(ended.unsafePoll())
      yield* TestClock.adjust("1 second")
      assert.match((yield* Fiber.join(ended)).message, /The peer is gone/)
    }))

  it.scoped("sends its ping over HTTP while all places for requests are taken", () =>
    Effect.gen(function*() {
      const { client, expect, next, quiet: settled } = yield* remote
      yield* quiet
      yield* Effect.forkScoped(Effect.all(
        Array.from({ length: 70 }, (_, n) => Effect.ignore(client.callTool(`slow ${n}`))),
        { concurrency: "unbounded" }
      ))
      for (let n = 0; n < 64; n++) yield* expect("tools/call")
      for (let n = 0; n < 5; n++) {
        yield* TestClock.adjust("10 seconds")
        yield* Effect.flatMap(expect("ping"), (exchange) => exchange.result())
        yield* settled
      }
      // The last messages are accepted, or closing would wait for a clock that stands still.
      yield* Effect.forkDaemon(Effect.forever(Effect.flatMap(next, ({ accept }) => accept)))
    }))

  it.scoped("is off at 2026-07-28, which has no ping", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connect({ tools: {} }, { heartbeat })
      const calling = yield* Effect.fork(client.callTool("slow", {}, { timeout: "1 day" }))
      yield* server.expectRequest("tools/call")
      yield* TestClock.adjust("1 hour")
      assert.isNull(calling.unsafePoll())
    }))
})
