/**
 * Behaviours of the notifications that a server sends outside of requests.
 */
import { assert } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { type Behaviour, collect, key, type RecordedClient } from "./Behaviour.js"
import * as Contract from "./Contract.js"

const names = {
  tool: (client: RecordedClient) => Stream.map(client.tools, ({ name }) => name),
  resource: (client: RecordedClient) => Stream.map(client.resources, ({ name }) => name),
  prompt: (client: RecordedClient) => Stream.map(client.prompts, ({ name }) => name)
}

const changes = (["tool", "resource", "prompt"] as const).map((kind): Behaviour => ({
  name: `the server SHOULD notify that its list of ${kind}s has changed, when one is added and when one is removed`,
  sessions: true,
  adds: true,
  rule: `2025-11-25 server/${kind}s#list-changed-notification`,
  run: ({ connect, ownServer }) =>
    Effect.gen(function*() {
      const client = yield* connect({}, yield* ownServer)
      const listChanges = yield* collect(client.listChanges)
      const name = key()
      yield* client.callTool("offer", { kind, name })
      yield* listChanges.count(1)
      assert.include(Chunk.toArray(yield* Stream.runCollect(names[kind](client))), name)
      yield* client.callTool("withdraw", { name })
      yield* listChanges.count(2)
      assert.notInclude(Chunk.toArray(yield* Stream.runCollect(names[kind](client))), name)
      assert.deepStrictEqual(listChanges.received, [`${kind}s`, `${kind}s`])
    })
}))

const batches: ReadonlyArray<Behaviour> = [{
  name: "the server notifies once of many tools that a batch adds, and once of many that it removes",
  sessions: true,
  adds: true,
  run: ({ connect, ownServer }) =>
    Effect.gen(function*() {
      const client = yield* connect({}, yield* ownServer)
      const listChanges = yield* collect(client.listChanges)
      const added = Array.from({ length: 50 }, () => key())
      yield* client.callTool("crowd", { names: added })
      yield* listChanges.count(1)
      assert.includeMembers(Chunk.toArray(yield* Stream.runCollect(names.tool(client))), added)
      yield* client.callTool(added[7]!)
      yield* client.callTool("crowd", { names: [] })
      yield* listChanges.count(2)
      assert.notInclude(Chunk.toArray(yield* Stream.runCollect(names.tool(client))), added[7])
      assert.strictEqual((yield* Effect.flip(client.callTool(added[7]!)))._tag, "InvalidParams")
      // A later notification shows that no other came before it.
      yield* client.callTool("offer", { kind: "prompt", name: "more" })
      yield* listChanges.count(3)
      assert.deepStrictEqual(listChanges.received, ["tools", "tools", "prompts"])
    })
}]

const subscriptions: ReadonlyArray<Behaviour> = [
  {
    name: "the server notifies of updates to a resource, from the subscription until its end",
    sessions: true,
    rule: "2025-11-25 server/resources#subscriptions",
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const client = yield* connect({}, yield* ownServer)
        const updates = yield* collect(client.resourceUpdates)
        yield* client.callTool("touch")
        yield* client.subscribeResource(Contract.Watched.uri)
        yield* client.callTool("touch")
        yield* updates.count(1)
        const { contents: [watched] } = yield* client.readResource(Contract.Watched.uri)
        assert.deepInclude(watched as object, { text: "version 2" })
        yield* client.unsubscribeResource(Contract.Watched.uri)
        yield* client.callTool("touch")
        // A later notification shows that none of the resource came before it.
        const changed = yield* collect(client.listChanges)
        yield* client.callTool("offer", { kind: "tool", name: "more" })
        yield* changed.count(1)
        assert.deepStrictEqual(updates.received, [Contract.Watched.uri])
      })
  },
  {
    name: "the server refuses a subscription to an unknown URI",
    until: "2025-11-25",
    sessions: true,
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(client.subscribeResource("test://nowhere")))._tag, "ResourceNotFound")
      })
  },
  {
    name: "a client is notified only of the resources that it has subscribed to",
    sessions: true,
    // A server on stdio has one client.
    over: ["memory", "direct", "http", "sse"],
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const one = yield* connect({}, served)
        const other = yield* connect({}, served)
        const received = yield* collect(one.resourceUpdates)
        const othersUpdates = yield* collect(other.resourceUpdates)
        yield* one.subscribeResource(Contract.Watched.uri)
        yield* other.callTool("touch")
        yield* received.count(1)
        const changed = yield* collect(other.listChanges)
        yield* one.callTool("offer", { kind: "tool", name: "more" })
        yield* changed.count(1)
        assert.deepStrictEqual(othersUpdates.received, [])
      })
  }
]

export const behaviours = [...changes, ...batches, ...subscriptions]
