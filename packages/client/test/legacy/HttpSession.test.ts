import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as Played from "../http/Played.js"

/** Sends `initialize`, which the server answers with this result and these headers. */
const initializing = (result: object, headers: Record<string, string>) =>
  Effect.gen(function*() {
    const talk = yield* Effect.orDie(Played.connect({ standalone: false }))
    const calling = yield* talk.call("initialize")
    const opening = yield* talk.expect("initialize")
    yield* opening.result(result, headers)
    return { talk, opening, ended: yield* Fiber.join(calling) }
  })

describe("A session over HTTP", () => {
  it.scoped("MUST be named in every request but the one that begins it, and so MUST its revision", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const talk = yield* Scope.extend(Effect.orDie(Played.connect()), scope)
      yield* Scope.extend(Played.shake(talk, { id: "s!~1", version: "2025-06-18" }), scope)
      const both = { "mcp-session-id": "s!~1", "mcp-protocol-version": "2025-06-18" }
      const listening = yield* talk.expect("GET")
      assert.deepInclude(listening.headers, both)
      assert.notProperty(listening.headers, "last-event-id")
      yield* talk.call("ping")
      assert.deepInclude((yield* talk.expect("ping")).headers, both)
      yield* Scope.close(scope, Exit.void)
      assert.deepInclude(talk.deleted[0]!.headers, both)
    }))

  it.scoped("takes only ids of visible ASCII, up to 1,024 characters, and needs none", () =>
    Effect.gen(function*() {
      for (const id of ["", " ", "a b", "a\u007f", "é", "x".repeat(1025)]) {
        const { ended, opening, talk } = yield* initializing(Played.initialized(), { "mcp-session-id": id })
        assert.notProperty(opening.headers, "mcp-session-id")
        assert.deepInclude(ended, {
          _tag: "TransportError",
          reason: "Decode",
          message: "The server's session id is not valid"
        })
        yield* talk.call("ping")
        assert.notProperty((yield* talk.expect("ping")).headers, "mcp-session-id")
      }
      for (const headers of [{}, { "mcp-session-id": "x".repeat(1024) }] as const) {
        const { talk } = yield* initializing(Played.initialized(), headers)
        yield* talk.call("ping")
        const { "mcp-session-id": id } = (yield* talk.expect("ping")).headers
        assert.strictEqual(id, (headers as Record<string, string>)["mcp-session-id"])
      }
    }))

  it.scoped("takes only revisions that a header can hold", () =>
    Effect.gen(function*() {
      for (const protocolVersion of [undefined, 1, "", "a b", "a\r\nb: c", "x".repeat(65)]) {
        const { talk } = yield* initializing({ protocolVersion }, {})
        yield* talk.call("ping")
        assert.notProperty((yield* talk.expect("ping")).headers, "mcp-protocol-version")
      }
    }))

  it.scoped("has no revision when `initialize` fails", () =>
    Effect.gen(function*() {
      const talk = yield* Effect.orDie(Played.connect())
      const calling = yield* talk.call("initialize")
      const opening = yield* talk.expect("initialize")
      yield* opening.json({ jsonrpc: "2.0", id: opening.message.id, error: { code: 1, message: "" } })
      assert.deepInclude({ ...(yield* Fiber.join(calling)) as object }, { _tag: "JsonRpcError", code: 1 })
      yield* talk.call("ping")
      assert.notProperty((yield* talk.expect("ping")).headers, "mcp-protocol-version")
    }))

  it.scoped("is unknown to the server when a 404 has the code -32001, and no other code of an answer", () =>
    Effect.gen(function*() {
      for (const code of [-32601, -32001]) {
        const talk = yield* Played.talk({ id: "s-1" })
        const calling = yield* talk.call("ping")
        const asked = yield* talk.expect("ping")
        yield* asked.json({ jsonrpc: "2.0", id: asked.message.id, error: { code, message: "no" } }, {}, 404)
        if (code === -32001) {
          yield* talk.expect("initialize")
        } else {
          assert.deepInclude({ ...(yield* Fiber.join(calling)) as object }, { _tag: "JsonRpcError", code })
          yield* talk.quiet
        }
      }
    }))

  it.scoped("has batches at 2025-03-26 only", () =>
    Effect.gen(function*() {
      for (const [version, has] of [["2025-03-26", true], ["2025-06-18", false], ["2024-11-05", false]] as const) {
        const talk = yield* Played.talk({ version })
        const calling = yield* talk.call("ping")
        const asked = yield* talk.expect("ping")
        yield* asked.json([{ jsonrpc: "2.0", id: asked.message.id, result: { n: 1 } }])
        const ended = yield* Fiber.join(calling)
        if (has) assert.deepStrictEqual<unknown>(ended, { n: 1 })
        else assert.deepInclude(ended, { _tag: "TransportError", reason: "Decode" })
      }
      const talk = yield* Effect.orDie(Played.connect())
      const calling = yield* talk.call("initialize")
      const opening = yield* talk.expect("initialize")
      yield* opening.json([{ jsonrpc: "2.0", id: opening.message.id, result: Played.initialized("2025-03-26") }])
      assert.deepInclude(yield* Fiber.join(calling), { _tag: "TransportError", reason: "Decode" })
    }))
})
