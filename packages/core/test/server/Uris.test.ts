/** A resource is found by every URI that RFC 3986 counts as equal to its own, in both eras. */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Feature from "@effect-mcp/core/Feature"
import type { UnknownEntry } from "@effect-mcp/core/GroupError"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { ReadResourceResult } from "@effect-mcp/core/protocol/Resources"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { Context, Effect, Layer, Queue, Schema, Stream } from "effect"

const eras = [["legacy", ["2025-11-25"]], ["modern", ["2026-07-28"]]] as const

const id = ResourceTemplate.param("id", Schema.String)

const features = Layer.mergeAll(
  McpServer.resource(Resource.make("home", { uri: "http://Example.com/caf%c3%a9" }), Effect.succeed("home")),
  McpServer.resource(Resource.make("exact", { uri: "note:///%41" }), Effect.succeed("exact")),
  McpServer.resource(Resource.make("equal", { uri: "note:///A" }), Effect.succeed("equal")),
  McpServer.resourceTemplate(
    ResourceTemplate.make("item")`Item://Shop/größe/${id}`,
    ({ id }, uri) => Effect.succeed(`${id} at ${uri}`)
  )
)

const connected = Effect.fnUntraced(function*(versions: (typeof eras)[number][1]) {
  const server = yield* Layer.build(McpServer.layer({ name: "uris", version: "1.0.0" }, features, {
    versions
  }))
  return {
    registry: Context.get(server, Registry.Running),
    connector: yield* Effect.provide(InProcess.connector, server)
  }
})

interface Reader {
  readonly readResource: (uri: string) => Effect.Effect<ReadResourceResult, ClientError | UnknownEntry>
}

const text = (session: Reader, uri: string) =>
  Effect.map(session.readResource(uri), ({ contents }) => contents.map((one) => "text" in one ? one.text : "").join())

for (const [era, versions] of eras) {
  describe(`Resources in the ${era} era`, () => {
    it.scoped("are read by equal URIs, and a handler gets the URI as it was sent", () =>
      Effect.gen(function*() {
        const { connector } = yield* connected(versions)
        const session = yield* Client.make(connector, { versions })
        for (
          const uri of ["http://Example.com/caf%c3%a9", "HTTP://example.com:80/caf%C3%A9", "http://example.com/café"]
        ) {
          assert.strictEqual(yield* text(session, uri), "home")
        }
        assert.strictEqual(yield* text(session, "note:///%41"), "exact")
        assert.strictEqual(yield* text(session, "note:///A"), "equal")
        assert.strictEqual(yield* text(session, "NOTE:///A"), "exact")
        for (
          const uri of ["Item://Shop/größe/%41", "item://shop/gr%c3%b6%C3%9Fe/%41", "ITEM://SHOP/größe/A"]
        ) {
          assert.strictEqual(yield* text(session, uri), `A at ${uri}`)
        }
        for (
          const uri of [
            "http://example.com/a%2F../caf%C3%A9",
            "http://example.com/a/../café",
            "item://shop/größe/a%2Fb%"
          ]
        ) {
          assert.strictEqual((yield* Effect.flip(session.readResource(uri)))._tag, "ResourceNotFound")
        }
      }))

    it.scoped("are read by equal URIs in a group, with and without names of the group", () =>
      Effect.gen(function*() {
        for (const resourceUris of [undefined, (uri: string) => `x:${uri}`]) {
          const group = yield* ClientSessionGroup.make(
            resourceUris === undefined ? {} : { uriHook: resourceUris }
          )
          const { connector } = yield* connected(versions)
          yield* group.add("one", yield* Client.make(connector, { versions }))
          const prefix = resourceUris === undefined ? "" : "X:"
          assert.strictEqual(yield* text(group, `${prefix}http://Example.com/caf%C3%A9`), "home")
          assert.include(yield* text(group, `${prefix}Item://Shop/gr%c3%b6%c3%9Fe/7`), "7 at Item://Shop/gr")
        }
      }))

    it.scoped("notify a client by the URI that the client sent, whatever URI changes", () =>
      Effect.gen(function*() {
        const { connector, registry } = yield* connected(versions)
        const session = yield* Client.make(connector, { versions })
        const updates = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(session.resourceUpdates, (uri) => Queue.offer(updates, uri)))
        yield* Effect.yieldNow()
        const sent = "HTTP://EXAMPLE.com/café"
        yield* session.subscribeResource(sent)
        yield* registry.updated("http://example.com:80/caf%c3%a9")
        assert.strictEqual(yield* Queue.take(updates), sent)
        yield* session.unsubscribeResource(sent)
        yield* session.subscribeResource("item://shop/größe/1")
        yield* registry.updated("http://example.com/caf%c3%a9")
        yield* registry.updated("Item://Shop/größe/%31")
        assert.strictEqual(yield* Queue.take(updates), "item://shop/größe/1")
      }))
  })
}

describe("A result in the cache of a client", () => {
  it.scoped("serves equal URIs, and is stale when an equal URI changes", () =>
    Effect.gen(function*() {
      let reads = 0
      const counted = Feature.make(({ resources }, context) =>
        resources.register({
          context,
          advertised: { name: "counted", uri: "note:///a" },
          hints: { ttlMs: 60_000, cacheScope: "public" },
          read: Effect.sync(() => ({ contents: [{ uri: "note:///a", text: String(++reads) }] }))
        })
      )
      const server = yield* Layer.build(McpServer.layer({ name: "cached", version: "1.0.0" }, counted))
      const session = yield* Client.make(yield* Effect.provide(InProcess.connector, server))
      assert.strictEqual(yield* text(session, "note:///a"), "1")
      assert.strictEqual(yield* text(session, "NOTE:///%61"), "1")
      const updates = yield* Queue.unbounded<string>()
      yield* Effect.forkScoped(Stream.runForEach(session.resourceUpdates, (uri) => Queue.offer(updates, uri)))
      yield* session.subscribeResource("NOTE:///a")
      yield* Context.get(server, Registry.Running).updated("note:///%61")
      yield* Queue.take(updates)
      assert.strictEqual(yield* text(session, "note:///a"), "2")
    }))
})
