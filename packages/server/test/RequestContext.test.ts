import { assert, describe, it } from "@effect/vitest"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect } from "effect"
import type { RequestContextService } from "../src/RequestContext.js"
import { RequestContext } from "../src/RequestContext.js"
import { ServerSession } from "../src/ServerSession.js"
import { act, serve, stranger } from "./Serving.js"

/** What a handler sees of its request, written down while it sees it. */
const facts = () => {
  const seen: Array<
    Pick<RequestContextService, "id" | "method" | "version" | "clientInfo" | "clientCapabilities" | "meta">
  > = []
  const live = act(Effect.map(RequestContext, ({ clientCapabilities, clientInfo, id, meta, method, version }) => {
    seen.push({ id, method, version, clientInfo, clientCapabilities, meta })
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
  it.scoped("holds the facts of the request and of who asks", () =>
    Effect.gen(function*() {
      const { live, seen } = facts()
      yield* Effect.gen(function*() {
        const peer = yield* stranger
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

  it.scoped("is of the client whose request it is", () =>
    Effect.gen(function*() {
      const { live, seen } = facts()
      yield* Effect.gen(function*() {
        const peers = yield* Effect.all([stranger, stranger])
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

  it.scoped("stays the one of its request, however many others come meanwhile", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const gate = yield* Deferred.make<void>()
      const late = Effect.zipRight(Deferred.await(gate), Effect.map(RequestContext, ({ id }) => seen.push(id)))
      yield* Effect.gen(function*() {
        const peer = yield* stranger
        yield* peer.initialize()
        for (const id of [1, 2, 3]) yield* peer.request("tools/call", { name: "act" }, id)
        yield* peer.expectSilence
        yield* Deferred.succeed(gate, undefined)
        for (const id of [1, 2, 3]) yield* peer.expectResult(id)
        assert.deepStrictEqual(seen, [1, 2, 3])
      }).pipe(Effect.provide(serve(act(late))))
    }))

  it.scoped("is the session, seen from where nobody may be asked", () =>
    Effect.gen(function*() {
      let same = false
      yield* Effect.gen(function*() {
        const peer = yield* stranger
        yield* peer.initialize()
        yield* peer.expectResult(yield* peer.request("tools/call", { name: "act" }))
      }).pipe(Effect.provide(serve(act(Effect.gen(function*() {
        const context: RequestContextService = yield* RequestContext
        same = context === (yield* ServerSession)
      })))))
      assert.isTrue(same)
    }))
})
