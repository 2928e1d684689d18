/**
 * Behaviours: what the server tells beside all requests, and to whom.
 */
import { assert } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import type { Behaviour, Visitor } from "./Behaviour.js"
import { hearing, key } from "./Behaviour.js"
import * as Contract from "./Contract.js"

const names = {
  tool: (client: Visitor) => Stream.map(client.tools, ({ name }) => name),
  resource: (client: Visitor) => Stream.map(client.resources, ({ name }) => name),
  prompt: (client: Visitor) => Stream.map(client.prompts, ({ name }) => name)
}

const changes = (["tool", "resource", "prompt"] as const).map((kind): Behaviour => ({
  name: `SHOULD tell that its list of ${kind}s has changed, when there is one more and when there is one less`,
  rule: `2025-11-25 server/${kind}s#list-changed-notification`,
  run: ({ alone, visit }) =>
    Effect.gen(function*() {
      const client = yield* visit({}, yield* alone)
      const told = yield* hearing(client.listChanges)
      const name = key()
      yield* client.callTool("offer", { kind, name })
      yield* told.count(1)
      assert.include(Chunk.toArray(yield* Stream.runCollect(names[kind](client))), name)
      yield* client.callTool("withdraw", { name })
      yield* told.count(2)
      assert.notInclude(Chunk.toArray(yield* Stream.runCollect(names[kind](client))), name)
      assert.deepStrictEqual(told.heard, [`${kind}s`, `${kind}s`])
    })
}))

const subscriptions: ReadonlyArray<Behaviour> = [
  {
    name: "tell of a resource that is new, from when the client subscribes to it until it does no more",
    rule: "2025-11-25 server/resources#subscriptions",
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const client = yield* visit({}, yield* alone)
        const updates = yield* hearing(client.resourceUpdates)
        yield* client.callTool("touch")
        yield* client.subscribeResource(Contract.Watched.uri)
        yield* client.callTool("touch")
        yield* updates.count(1)
        const { contents: [watched] } = yield* client.readResource(Contract.Watched.uri)
        assert.deepInclude(watched as object, { text: "version 2" })
        yield* client.unsubscribeResource(Contract.Watched.uri)
        yield* client.callTool("touch")
        // What it is told of the list comes after what it would be told of the resource.
        const changed = yield* hearing(client.listChanges)
        yield* client.callTool("offer", { kind: "tool", name: "more" })
        yield* changed.count(1)
        assert.deepStrictEqual(updates.heard, [Contract.Watched.uri])
      })
  },
  {
    name: "refuse to watch an address where nothing is",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(client.subscribeResource("test://nowhere")))._tag, "ResourceNotFound")
      })
  },
  {
    name: "tell each client of what it has subscribed to, and of nothing else",
    // On stdio and without a server in between there is one client.
    over: ["memory", "direct", "http", "sse"],
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const one = yield* visit({}, served)
        const other = yield* visit({}, served)
        const heard = yield* hearing(one.resourceUpdates)
        const others = yield* hearing(other.resourceUpdates)
        yield* one.subscribeResource(Contract.Watched.uri)
        yield* other.callTool("touch")
        yield* heard.count(1)
        const changed = yield* hearing(other.listChanges)
        yield* one.callTool("offer", { kind: "tool", name: "more" })
        yield* changed.count(1)
        assert.deepStrictEqual(others.heard, [])
      })
  }
]

export const behaviours = [...changes, ...subscriptions]
