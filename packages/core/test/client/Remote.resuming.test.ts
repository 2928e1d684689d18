import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Progress } from "@effect-mcp/core/Progress"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Options, RemoteSession } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect, Exit, Fiber, Scope, TestClock } from "effect"
import * as ScriptedServer from "./http/ScriptedServer.js"
import { failure, legacyClient } from "./Scripts.js"

const remote = (http: ScriptedServer.ScriptedServer, options: Options, session?: Client.Options) =>
  Effect.provideService(
    Client.make(
      Remote.connector(ScriptedServer.URL, { standalone: false, terminateOnClose: false, ...options }),
      { checkOutputs: false, versions: Version.legacy, ...session }
    ),
    HttpClient.HttpClient,
    http.client
  )

/**
 * A client whose call was answered with a stream of one event, and that was closed then: what it left, and connects a second
 * client in the same session.
 */
const restarted = (options: Options = {}) =>
  Effect.gen(function*() {
    const http = yield* ScriptedServer.make()
    const sessions: Array<RemoteSession> = []
    const tokens: Array<string> = []
    const scope = yield* Scope.make()
    const connecting = yield* Effect.forkScoped(Scope.extend(
      remote(http, { onSession: (session) => Effect.sync(() => sessions.push(session)) }),
      scope
    ))
    yield* Effect.flatMap(http.expect("initialize"), (exchange) =>
      exchange.result(ScriptedServer.initializeResult(), { "mcp-session-id": "s-1" }))
    yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) =>
      accept)
    const first = yield* Fiber.join(connecting)
    yield* Effect.fork(first.callTool("slow", {}, {
      onProgress: () => Effect.void,
      onResumptionToken: (token) => Effect.sync(() => tokens.push(token))
    }))
    const call = yield* http.expect("tools/call")
    const stream = yield* call.events()
    yield* stream.push("id: a-1\ndata: \n\n")
    yield* http.quiet
    yield* stream.push("id: a-2\ndata: \n\nid: a-3\n: no event\n\n")
    yield* http.quiet
    yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
    yield* Effect.flatMap(http.expect("notifications/cancelled"), ({ accept }) => accept).pipe(
      Effect.timeoutOption(0)
    )
    yield* TestClock.adjust("5 seconds")
    const { instructions, serverCapabilities, serverInfo, version } = first
    const client = yield* remote(http, { session: sessions[0], ...options }, {
      prior: { instructions, serverCapabilities, serverInfo, version }
    })
    return { call, client, http, sessions, tokens }
  })

describe("A client that is restarted", () => {
  it.scoped("goes on with the session, without a handshake, under ids that were not used before", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 day")
      const { call, client, http, sessions } = yield* restarted()
      assert.deepStrictEqual(sessions, [{ id: "s-1", version: "2025-11-25" }])
      assert.lengthOf(http.deleted, 0)
      const pinging = yield* Effect.forkScoped(client.ping())
      const ping = yield* http.expect("ping")
      assert.deepInclude(ping.headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
      assert.isAbove(ping.message.id, call.message.id)
      yield* ping.result()
      yield* Fiber.join(pinging)
    }))

  it.scoped("resumes a call with its last token: the request is not sent again", () =>
    Effect.gen(function*() {
      const { call, client, http, tokens } = yield* restarted()
      assert.lengthOf(tokens, 3)
      const progress: Array<Progress> = []
      const later: Array<string> = []
      const calling = yield* Effect.forkScoped(client.callTool("slow", {}, {
        resumptionToken: tokens.at(-1),
        onProgress: (one) => Effect.sync(() => progress.push(one)),
        onResumptionToken: (token) => Effect.sync(() => later.push(token))
      }))
      const resuming = yield* http.expect("GET")
      assert.deepInclude(resuming.headers, { "last-event-id": "a-3", "mcp-session-id": "s-1" })
      const stream = yield* resuming.events()
      const { id } = call.message
      yield* stream.send(
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } },
        { id: "a-4" }
      )
      yield* http.quiet
      yield* stream.cut
      yield* http.quiet
      yield* TestClock.adjust("2 seconds")
      const again = yield* http.expect("GET")
      assert.strictEqual(again.headers["last-event-id"], "a-4")
      const rest = yield* again.events()
      yield* rest.send({ jsonrpc: "2.0", id, result: { content: [] } }, { id: "a-5" })
      assert.deepInclude(yield* Fiber.join(calling), { content: [] })
      assert.deepStrictEqual(progress, [{ progress: 1 }])
      assert.lengthOf(later, 1)
      yield* http.quiet
    }))

  it.scoped("cancels a resumed call by the id that the server knows", () =>
    Effect.gen(function*() {
      const { call, client, http, tokens } = yield* restarted()
      const calling = yield* Effect.forkScoped(client.callTool("slow", {}, { resumptionToken: tokens[0] }))
      yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
      yield* Effect.forkScoped(Fiber.interrupt(calling))
      const cancel = yield* http.expect("notifications/cancelled")
      assert.strictEqual(cancel.message.params.requestId, call.message.id)
      yield* cancel.accept
    }))

  it.scoped("fails a resumed call when the server has lost its stream or the session, and at another token", () =>
    Effect.gen(function*() {
      const { client, http, tokens } = yield* restarted()
      for (const [status, tag] of [[404, "SessionExpired"], [405, "TransportError"]] as const) {
        const calling = yield* Effect.forkScoped(client.callTool("slow", {}, { resumptionToken: tokens[0] }))
        yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.reply(status))
        assert.strictEqual((yield* failure(Fiber.join(calling)))._tag, tag)
      }
      const error = yield* failure(client.callTool("slow", {}, { resumptionToken: "made up" }))
      assert.strictEqual(error.message, "This client has not made the resumption token")
      yield* http.quiet
    }))

  it.scoped("ends when the server has lost the session", () =>
    Effect.gen(function*() {
      const { client, http } = yield* restarted()
      const pinging = yield* Effect.forkScoped(client.ping())
      yield* Effect.flatMap(http.expect("ping"), (exchange) => exchange.reply(404))
      yield* failure(Fiber.join(pinging))
      assert.include((yield* failure(client.ended)).message, "an earlier connection had begun it")
      yield* http.quiet
    }))

  it.scoped("opens the standalone stream of the session at once", () =>
    Effect.gen(function*() {
      const { http } = yield* restarted({ standalone: true })
      assert.deepInclude((yield* http.expect("GET")).headers, { "mcp-session-id": "s-1" })
    }))
})

it.scoped("A transport that cannot resume requests sends none that has a token", () =>
  Effect.gen(function*() {
    const { client, server } = yield* legacyClient()
    const error = yield* failure(client.callTool("t", {}, { resumptionToken: "1 a" }))
    assert.strictEqual(error.message, "\"tools/call\" was not sent: this transport cannot resume requests")
    yield* server.expectSilence
  }))
