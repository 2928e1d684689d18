import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as ScriptedServer from "../http/ScriptedServer.js"

/** Sends `initialize`, which the server answers with this result and these headers. */
const initializing = (result: object, headers: Record<string, string>) =>
  Effect.gen(function*() {
    const pair = yield* Effect.orDie(ScriptedServer.connect({ standalone: false }))
    const calling = yield* pair.call("initialize")
    const opening = yield* pair.expect("initialize")
    yield* opening.result(result, headers)
    return { pair, opening, ended: yield* Fiber.join(calling) }
  })

describe("A session over HTTP", () => {
  it.scoped("MUST be named in every request but the one that begins it, and so MUST its revision", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const pair = yield* Scope.extend(Effect.orDie(ScriptedServer.connect()), scope)
      yield* Scope.extend(ScriptedServer.initialize(pair, { id: "s!~1", version: "2025-06-18" }), scope)
      const both = { "mcp-session-id": "s!~1", "mcp-protocol-version": "2025-06-18" }
      const listening = yield* pair.expect("GET")
      assert.deepInclude(listening.headers, both)
      assert.notProperty(listening.headers, "last-event-id")
      yield* pair.call("ping")
      assert.deepInclude((yield* pair.expect("ping")).headers, both)
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(pair.deleted[0]!.headers, both)
    }))

  it.scoped("takes only ids that a header can hold, up to 8,192 characters, and needs none", () =>
    Effect.gen(function*() {
      for (const id of ["a\u007f", "a\tb", "é", "x".repeat(8193)]) {
        const { ended, opening, pair } = yield* initializing(ScriptedServer.initializeResult(), {
          "mcp-session-id": id
        })
        assert.notProperty(opening.headers, "mcp-session-id")
        assert.deepInclude(ended, {
          _tag: "TransportError",
          reason: "Decode",
          message: "The server's session id is not valid"
        })
        yield* pair.call("ping")
        assert.notProperty((yield* pair.expect("ping")).headers, "mcp-session-id")
      }
      for (const given of [undefined, "", " ", "a b", "x".repeat(1025), "x".repeat(8192)]) {
        const headers = given === undefined ? {} : { "mcp-session-id": given }
        const { pair } = yield* initializing(ScriptedServer.initializeResult(), headers)
        yield* pair.call("ping")
        const { "mcp-session-id": id } = (yield* pair.expect("ping")).headers
        assert.strictEqual(id, given?.trim() === "" ? undefined : given)
      }
    }))

  it.scoped("takes only revisions that a header can hold", () =>
    Effect.gen(function*() {
      for (const protocolVersion of [undefined, 1, "", "a b", "a\r\nb: c", "x".repeat(65)]) {
        const { pair } = yield* initializing({ protocolVersion }, {})
        yield* pair.call("ping")
        assert.notProperty((yield* pair.expect("ping")).headers, "mcp-protocol-version")
      }
    }))

  it.scoped("has no revision when `initialize` fails", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      const calling = yield* pair.call("initialize")
      const opening = yield* pair.expect("initialize")
      yield* opening.json({ jsonrpc: "2.0", id: opening.message.id, error: { code: 1, message: "" } })
      assert.deepInclude({ ...(yield* Fiber.join(calling)) as object }, { _tag: "JsonRpcError", code: 1 })
      yield* pair.call("ping")
      assert.notProperty((yield* pair.expect("ping")).headers, "mcp-protocol-version")
    }))

  it.scoped("is unknown to the server when a 404 has the code -32001, and no other code of an answer", () =>
    Effect.gen(function*() {
      for (const code of [-32601, -32001]) {
        const pair = yield* ScriptedServer.pair({ id: "s-1" })
        const calling = yield* pair.call("ping")
        const exchange = yield* pair.expect("ping")
        yield* exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code, message: "no" } }, {}, 404)
        if (code === -32001) {
          yield* pair.expect("initialize")
        } else {
          assert.deepInclude({ ...(yield* Fiber.join(calling)) as object }, { _tag: "JsonRpcError", code })
          yield* pair.quiet
        }
      }
    }))

  it.scoped("has batches at every revision", () =>
    Effect.gen(function*() {
      for (const version of ["2025-03-26", "2025-06-18", "2024-11-05"]) {
        const pair = yield* ScriptedServer.pair({ version })
        const calling = yield* pair.call("ping")
        const exchange = yield* pair.expect("ping")
        const answer = { jsonrpc: "2.0", id: exchange.message.id, result: { n: 1 } }
        yield* exchange.json([answer, { jsonrpc: "2.0", method: "notifications/tools/list_changed" }])
        assert.deepStrictEqual<unknown>(yield* Fiber.join(calling), { n: 1 })
      }
    }))

  it.scoped("takes one answer in an array at every revision, and before there is one", () =>
    Effect.gen(function*() {
      const pair = yield* Effect.orDie(ScriptedServer.connect())
      const calling = yield* pair.call("initialize")
      const opening = yield* pair.expect("initialize")
      const result = ScriptedServer.initializeResult("2025-11-25")
      yield* opening.json([{ jsonrpc: "2.0", id: opening.message.id, result }])
      assert.deepStrictEqual<unknown>(yield* Fiber.join(calling), result)
      const pinging = yield* pair.call("ping")
      const exchange = yield* pair.expect("ping")
      yield* exchange.json([{ jsonrpc: "2.0", id: exchange.message.id, result: { n: 1 } }])
      assert.deepStrictEqual<unknown>(yield* Fiber.join(pinging), { n: 1 })
    }))
})
