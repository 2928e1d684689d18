import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as Initialize from "../../../src/server/legacy/Initialize.js"
import * as ResolvedLimits from "../../../src/server/runtime/ResolvedLimits.js"
import * as SessionLayer from "../../../src/server/runtime/SessionLayer.js"
import { connect, GreetLive, info, names, serve, uninitialized } from "../Serving.js"

const hello = (version: string, more?: object) => ({
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: "test", version: "0.0.0" },
  ...more
})

/** With facts of so many characters in all. */
const ofSize = (characters: number) => {
  const clientInfo = (version: string) => ({ name: "test", version })
  const { length } = JSON.stringify(["2025-11-25", clientInfo(""), {}])
  return { clientInfo: clientInfo("x".repeat(characters - length)) }
}

describe("initialize", () => {
  for (const version of Version.legacy) {
    it.scoped(`MUST be answered with ${version} when that is what the client asked for`, () =>
      Effect.gen(function*() {
        const peer = yield* uninitialized
        const result = yield* peer.initialize({ version })
        assert.strictEqual(result.protocolVersion, version)
      }).pipe(Effect.provide(serve(GreetLive))))
  }

  for (const version of ["2026-07-28", "2024-10-08", "1.0", ""]) {
    it.scoped(`MUST be answered with the latest version of the server when the client asked for "${version}"`, () =>
      Effect.gen(function*() {
        const peer = yield* uninitialized
        const result = yield* peer.initialize({ version })
        assert.strictEqual(result.protocolVersion, "2025-11-25")
        assert.deepStrictEqual(yield* names(peer), ["greet"])
      }).pipe(Effect.provide(serve(GreetLive))))
  }

  it.scoped("gives the name of the server, its capabilities and its instructions", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      assert.deepStrictEqual(yield* peer.initialize(), {
        protocolVersion: "2025-11-25",
        capabilities: { logging: {}, tools: { listChanged: true } },
        serverInfo: info,
        instructions: "Greet people."
      })
    }).pipe(Effect.provide(serve(GreetLive, { instructions: "Greet people." }))))

  it.scoped("advertises nothing that the server does not have", () =>
    Effect.gen(function*() {
      const bare = yield* Effect.flatMap(uninitialized, (peer) => peer.initialize()).pipe(
        Effect.provide(serve(Layer.empty))
      )
      assert.deepStrictEqual(bare.capabilities, { logging: {} })
      assert.notProperty(bare, "instructions")
      const quiet = yield* Effect.flatMap(uninitialized, (peer) => peer.initialize()).pipe(
        Effect.provide(serve(GreetLive, { logging: false }))
      )
      assert.deepStrictEqual(quiet.capabilities, { tools: { listChanged: true } })
    }))

  it.effect("describes the server as the client's revision knows it", () =>
    Effect.gen(function*() {
      const introduced = (version: string) =>
        Effect.scoped(
          Effect.flatMap(uninitialized, (peer) =>
            Effect.map(peer.initialize({ version }), ({ serverInfo }) => serverInfo))
        )
      const server = yield* Effect.all([introduced("2024-11-05"), introduced("2025-06-18"), introduced("2025-11-25")])
      const { icons: _, websiteUrl: __, ...titled } = full
      assert.deepStrictEqual(server, [info, titled, full])
    }).pipe(Effect.provide(McpServer.layer(full, GreetLive))))

  it.scoped("takes effect before any message that was sent after it", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const early = yield* peer.request("tools/list")
      const first = yield* peer.request("initialize", hello("2024-11-05"))
      const late = yield* peer.request("tools/list")
      assert.strictEqual((yield* peer.expectError(early)).code, -32602)
      yield* peer.expectResult(first)
      yield* peer.expectResult(late)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused when the client's facts exceed the limit, and can be sent again", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      for (
        const more of [
          ofSize(65_537),
          { capabilities: { experimental: { a: { b: "x".repeat(70_000) } } } }
        ]
      ) {
        const error = yield* peer.expectError(yield* peer.request("initialize", hello("2025-11-25", more) as never))
        assert.strictEqual(error.code, -32602)
        assert.isBelow(error.message.length, 200)
      }
      yield* peer.expectResult(yield* peer.request("initialize", hello("2025-11-25", ofSize(65_536)) as never))
      assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("is refused when it is malformed, with the places, and can be sent again", () =>
    Effect.gen(function*() {
      const peer = yield* uninitialized
      const malformed: ReadonlyArray<readonly [object | undefined, string]> = [
        [undefined, "protocolVersion"],
        [hello("2025-11-25", { protocolVersion: 1 }), "protocolVersion"],
        [hello("2025-11-25", { clientInfo: { name: "test" } }), "clientInfo.version"],
        [hello("2025-11-25", { capabilities: undefined }), "capabilities"]
      ]
      for (const [params, path] of malformed) {
        const id = yield* peer.request("initialize", params as never)
        const error = yield* peer.expectError(id)
        assert.strictEqual(error.code, -32602)
        assert.include(error.message, path)
        const { issues } = error.data as { issues: ReadonlyArray<{ path: string }> }
        assert.deepStrictEqual(issues.map(({ path }) => path), [path])
      }
      yield* peer.initialize()
      assert.deepStrictEqual(yield* names(peer), ["greet"])
    }).pipe(Effect.provide(serve(GreetLive))))

  it.effect("MUST NOT be cancelled by the client", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const session = Layer.effectDiscard(Deferred.await(gate))
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        const id = yield* peer.request("initialize", hello("2025-11-25"))
        yield* peer.notify("notifications/cancelled", { requestId: id })
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        assert.property(yield* peer.expectResult(id), "serverInfo")
      }).pipe(Effect.scoped, Effect.provide(serve(GreetLive, { session })))
    }))

  it.scoped("belongs to one conversation: another client is not initialized by it", () =>
    Effect.gen(function*() {
      yield* connect("2024-11-05")
      const peer = yield* uninitialized
      const id = yield* peer.request("tools/list")
      assert.strictEqual((yield* peer.expectError(id)).code, -32602)
    }).pipe(Effect.provide(serve(GreetLive))))

  it.scoped("keeps no scope of a session layer that failed or was interrupted", () =>
    Effect.gen(function*() {
      const conversation = yield* Scope.make()
      const released: Array<string> = []
      const building = (name: string, effect: Effect.Effect<never, string>) =>
        Effect.flatMap(
          SessionLayer.make(
            Layer.scopedDiscard(
              Effect.zipRight(Effect.addFinalizer(() => Effect.sync(() => released.push(name))), effect)
            ),
            Context.empty(),
            { limits: ResolvedLimits.ofServer() }
          ),
          (layer) => Initialize.build(layer, { origin: {} } as never, conversation)
        )
      assert.deepStrictEqual(yield* Effect.exit(building("failed", Effect.fail("no"))), Exit.fail("no"))
      assert.deepStrictEqual(released, ["failed"])
      const fiber = yield* Effect.fork(building("interrupted", Effect.never))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(released, ["failed", "interrupted"])
    }))
})

const full = {
  ...info,
  title: "Test",
  websiteUrl: "https://example.com",
  icons: [{ src: "https://example.com/icon.png" }]
}
