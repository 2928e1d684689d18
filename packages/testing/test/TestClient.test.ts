import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestClient from "@effect-mcp/testing/TestClient"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Effect, Exit, Fiber } from "effect"

describe("TestClient", () => {
  it.scoped("is a client of the newest revision, and the server that the test scripts", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make()
      assert.strictEqual(client.version, "2026-07-28")
      assert.deepStrictEqual(Object.keys(client.serverCapabilities).sort(), [
        "completions",
        "logging",
        "prompts",
        "resources",
        "tools"
      ])
      const calling = yield* Effect.fork(client.callTool("echo", { text: "hello" }))
      const { id, params } = yield* server.expectRequest("tools/call")
      assert.deepInclude(params, { name: "echo", arguments: { text: "hello" } })
      yield* server.send(Message.success(id, { resultType: "complete", content: [] }))
      assert.deepInclude(yield* Fiber.join(calling), { content: [] })
    }))

  it.scoped("is a client after the handshake, where it speaks only legacy revisions", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ client: { versions: Version.legacy } })
      assert.strictEqual(client.version, "2025-11-25")
      assert.deepStrictEqual(Object.keys(client.serverCapabilities).sort(), [
        "completions",
        "logging",
        "prompts",
        "resources",
        "tools"
      ])
      const calling = yield* Effect.fork(client.callTool("echo", { text: "hello" }))
      const { id, params } = yield* server.expectRequest("tools/call")
      assert.deepStrictEqual(params, { name: "echo", arguments: { text: "hello" } })
      yield* server.send(Message.success(id, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(calling), { content: [] })
    }))

  it.scoped("answers the handshake with the given capabilities and version", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const { client } = yield* TestClient.make({
        version: "2025-03-26",
        capabilities: { tools: { listChanged: true } },
        client: { clientInfo: { name: "ours", version: "1.0.0" } },
        transcript
      })
      assert.strictEqual(client.version, "2025-03-26")
      assert.deepStrictEqual(client.serverCapabilities, { tools: { listChanged: true } })
      assert.include(
        Transcript.line(transcript.entries[0]!),
        "\"clientInfo\":{\"name\":\"ours\",\"version\":\"1.0.0\"}"
      )
    }))

  it.scoped("fails with the error of the client when they have no revision in common", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TestClient.make({ version: "1999-01-01" }))
      assert.strictEqual(error._tag, "NoCommonVersion")
    }))

  it.scoped("fails with the error of the client when the handshake times out", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TestClient.make({ client: { timeout: 0 } }))
      assert.strictEqual(error._tag, "RequestTimeout")
    }))

  it.effect("fails a test in which the client sends what the specification does not allow", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(Effect.gen(function*() {
        const { client, server } = yield* TestClient.make({ version: "2025-11-25" })
        yield* client.notify("notifications/progress", { progressToken: true })
        yield* server.next
      })))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("ProgressNotification of 2025-11-25"))
    }))

  it.effect("fails a test that does not receive all messages of the client", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(Effect.gen(function*() {
        const { client, server } = yield* TestClient.make()
        yield* client.notify("notifications/ours")
        yield* client.notify("notifications/ours")
        yield* server.next
      })))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("before it received:\n· notifications/ours"))
    }))
})
