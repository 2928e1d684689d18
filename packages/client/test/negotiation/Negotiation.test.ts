import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import { NoCommonVersion } from "@effect-mcp/client/ClientError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Cause, Effect, Exit, Fiber } from "effect"
import { failure } from "../Scripts.js"

describe("The revisions of a client", () => {
  it.scoped("are requested without those that are not implemented", () =>
    Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      const connecting = yield* Effect.fork(Client.make(connector, { versions: ["2026-07-28", "2025-06-18"] }))
      const { id, params } = yield* server.expectRequest("initialize")
      assert.strictEqual(params?.protocolVersion, "2025-06-18")
      const serverInfo = { name: "played", version: "1.0.0" }
      yield* server.send(Message.success(id, { protocolVersion: "2026-07-28", capabilities: {}, serverInfo }))
      assert.deepStrictEqual(
        yield* failure(Fiber.join(connecting)),
        new NoCommonVersion({ offered: "2026-07-28", supported: ["2025-06-18"] })
      )
    }))

  it.scoped("let the client die when none of them is implemented", () =>
    Effect.gen(function*() {
      const [, connector] = yield* TestPeer.server()
      const exit = yield* Effect.exit(Client.make(connector, { versions: ["2026-07-28"] }))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(
        Cause.pretty((exit as Exit.Failure<never, never>).cause),
        "This client implements none of the revisions 2026-07-28"
      )
    }))
})
