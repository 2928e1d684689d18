import { assert, describe, it } from "@effect/vitest"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/core/protocol/Implementation"
import { RequestContext, type RequestContextService } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Schema } from "effect"
import { act, connect, result, serve, uninitialized } from "./Serving.js"

/** What a handler sees of its request, written down while it sees it. */
const facts = () => {
  const seen: Array<
    Pick<RequestContextService, "id" | "method" | "version" | "meta"> & {
      readonly clientInfo: Implementation | undefined
      readonly clientCapabilities: ClientCapabilities
    }
  > = []
  const live = act(Effect.map(RequestContext, ({ client, id, meta, method, version }) => {
    seen.push({ id, method, version, clientInfo: client.info, clientCapabilities: client.capabilities, meta })
  }))
  return { seen, live }
}

const hello = (peer: TestPeer.TestPeer, more: object) =>
  Effect.gen(function*() {
    const id = yield* peer.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "0.0.0" },
      ...more
    })
    yield* peer.expectResult(id)
  })

describe("RequestContext", () => {
  it.scoped("has the facts of the request and of its client", () =>
    Effect.gen(function*() {
      const { live, seen } = facts()
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* hello(peer, {
          protocolVersion: "2025-06-18",
          capabilities: { sampling: {}, experimental: { x: {} }, later: true },
          clientInfo: { name: "ada", version: "1.2.3", title: "Ada" }
        })
        const _meta = { progressToken: 0, "example.com/trace": { id: 1 } }
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "act", _meta }, "id"))
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "act" }, 0))
        const who = {
          method: "tools/call",
          version: "2025-06-18",
          clientInfo: { name: "ada", version: "1.2.3", title: "Ada" },
          clientCapabilities: { sampling: {}, experimental: { x: {} }, later: true }
        }
        assert.deepStrictEqual<unknown>(seen, [{ ...who, id: "id", meta: _meta }, { ...who, id: 0, meta: {} }])
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("belongs to the client of its request", () =>
    Effect.gen(function*() {
      const { live, seen } = facts()
      yield* Effect.gen(function*() {
        const peers = yield* Effect.all([uninitialized, uninitialized])
        for (const [i, peer] of peers.entries()) {
          yield* hello(peer, { clientInfo: { name: `client ${i}`, version: "0" } })
        }
        for (const i of [1, 0, 1]) {
          const peer = peers[i]!
          yield* peer.expectResult(yield* peer.request("tools/call", { name: "act" }))
        }
        assert.deepStrictEqual(seen.map(({ clientInfo }) => clientInfo?.name), ["client 1", "client 0", "client 1"])
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("stays that of its request, however many others arrive meanwhile", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const gate = yield* Deferred.make<void>()
      const late = Effect.zipRight(Deferred.await(gate), Effect.map(RequestContext, ({ id }) => seen.push(id)))
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        for (const id of [1, 2, 3]) yield* peer.request("tools/call", { name: "act" }, id)
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        for (const id of [1, 2, 3]) yield* peer.expectResult(id)
        assert.deepStrictEqual(seen, [1, 2, 3])
      }).pipe(Effect.provide(serve(act(late))))
    }))

  it.scoped("is the session without the questions to the client", () =>
    Effect.gen(function*() {
      let same = false
      yield* Effect.gen(function*() {
        const peer = yield* uninitialized
        yield* peer.initialize()
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "act" }))
      }).pipe(Effect.provide(serve(act(Effect.gen(function*() {
        const context: RequestContextService = yield* RequestContext
        same = context === (yield* ServerSession)
      })))))
      assert.isTrue(same)
    }))

  it.scoped("knows whether the client has all capabilities of a set", () =>
    Effect.gen(function*() {
      const seen: Array<boolean> = []
      const live = act(Effect.map(RequestContext, (context) => {
        const asked: ReadonlyArray<Parameters<RequestContextService["client"]["supports"]>[0]> = [
          {},
          { roots: {} },
          { roots: { listChanged: true } },
          { sampling: {} },
          { sampling: { tools: {} } },
          { elicitation: { form: {} } },
          { elicitation: { url: {} } },
          { roots: {}, sampling: { tools: {} } },
          { experimental: { "example.com/x": {} } }
        ]
        for (const required of asked) seen.push(context.client.supports(required))
      }))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, {
          roots: {},
          sampling: {},
          elicitation: {},
          experimental: { "example.com/x": {} }
        })
        yield* result(peer, "act")
        assert.deepStrictEqual(seen, [true, true, false, true, false, true, false, false, true])
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("has no session, headers or principal on a transport other than HTTP", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const live = act(Effect.gen(function*() {
        const { client: { sessionId }, closeStream, headers, principal } = yield* RequestContext
        yield* closeStream
        seen.push(sessionId, headers, principal)
      }))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(seen, [undefined, {}, undefined])
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("has functions that work without it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const live = act(Effect.gen(function*() {
        const { client: { supports }, log, notify, progress, standalone } = yield* RequestContext
        const { ask, elicit, elicitationComplete, request } = yield* ServerSession
        seen.push(supports({ roots: {} }))
        yield* progress(1)
        yield* log("info", "a")
        yield* notify("notifications/example/b")
        yield* standalone.notify("notifications/example/c")
        yield* elicitationComplete("d")
        yield* Effect.orDie(Effect.asVoid(request("example/e")))
        seen.push(yield* Effect.orDie(ask({})))
        seen.push((yield* Effect.flip(elicit({ message: "?", schema: Schema.Struct({}) })).pipe(Effect.orDie))._tag)
      }))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {}, elicitation: { url: {} } })
        const id = yield* peer.request("tools/call", { name: "act", _meta: { progressToken: 1 } })
        for (const method of ["progress", "message", "example/b", "example/c", "elicitation/complete"]) {
          yield* peer.expectNotification(`notifications/${method}`)
        }
        const question = yield* peer.expectRequest("example/e")
        yield* peer.send({ jsonrpc: "2.0", id: question.id, result: {} })
        yield* peer.expectResult(id)
        assert.deepStrictEqual(seen, [true, {}, "MissingClientCapability"])
      }).pipe(Effect.provide(serve(live)))
    }))

  it.scoped("notifies its own client outside of requests, also after its request was answered", () =>
    Effect.gen(function*() {
      const kept = yield* Deferred.make<RequestContextService>()
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const other = yield* connect()
        yield* result(peer, "act")
        const context = yield* Deferred.await(kept)
        yield* context.notify("notifications/example/late")
        yield* context.standalone.notify("notifications/example/any", { n: 1 })
        assert.deepStrictEqual(yield* peer.expectNotification("notifications/example/any"), { n: 1 })
        yield* other.expectSilence
        yield* peer.hangUp
        yield* context.standalone.notify("notifications/example/gone")
      }).pipe(Effect.provide(serve(act(Effect.flatMap(RequestContext, (context) => Deferred.succeed(kept, context))))))
    }))
})
