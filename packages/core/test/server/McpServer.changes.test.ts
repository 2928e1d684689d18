import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import { act, connect, serve } from "./Serving.js"

const resource = (uri: string) => McpServer.resource(Resource.make(uri, { uri }), Effect.succeed(uri))
const template = (name: string) =>
  McpServer.resourceTemplate(
    ResourceTemplate.fromString(name, `${name}:///{id}`),
    () => Effect.succeed("")
  )
const prompt = (name: string) => McpServer.prompt(Prompt.make(name), () => Effect.succeed(name))

const everything = Layer.mergeAll(act(Effect.void), resource("file:///a"), template("note"), prompt("a"))

/** A server with these features, and a way to add more of them while it runs. */
const growing = (features: Layer.Layer<never, never, Registry>) =>
  Effect.gen(function*() {
    const registry = yield* Deferred.make<RegistryService>()
    return {
      server: serve(Layer.merge(
        features,
        Layer.effectDiscard(Effect.flatMap(Registry, (r) => Deferred.succeed(registry, r)))
      )),
      add: (more: Layer.Layer<never, never, Registry>) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          yield* Layer.buildWithScope(
            Layer.provide(more, Layer.succeed(Registry, yield* Deferred.await(registry))),
            scope
          )
          return Scope.close(scope, Exit.void)
        })
    }
  })

const resourcesChanged = "notifications/resources/list_changed"
const promptsChanged = "notifications/prompts/list_changed"
const toolsChanged = "notifications/tools/list_changed"

describe("A resource whose content changes", () => {
  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    it.scoped(`SHOULD be announced by any fiber of the application to the subscribers, at ${version}`, () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        const updated = yield* Deferred.make<string>()
        yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, (uri) => Deferred.succeed(updated, uri)))
        yield* client.subscribeResource("file:///a")
        yield* McpServer.resourceUpdated("file:///a")
        assert.strictEqual(yield* Deferred.await(updated), "file:///a")
      }).pipe(Effect.provide(TestServer.layer(Definition.make(), resource("file:///a"), { versions: [version] }))))
  }
})

describe("A server whose features change", () => {
  const cases = [
    ["resources", resource("file:///b"), resourcesChanged],
    ["templates", template("tale"), resourcesChanged],
    ["prompts", prompt("b"), promptsChanged],
    ["tools", act(Effect.void, "b"), toolsChanged]
  ] as const

  for (const [what, feature, method] of cases) {
    it.scoped(`SHOULD notify clients of ${what} that are added, and that are removed`, () =>
      Effect.gen(function*() {
        const { add, server } = yield* growing(everything)
        yield* Effect.gen(function*() {
          const peers = [yield* connect(), yield* connect("2024-11-05")]
          const remove = yield* add(feature)
          for (const peer of peers) {
            assert.deepStrictEqual(yield* peer.expectNotification(method), {})
            yield* peer.expectSilence
          }
          yield* remove
          for (const peer of peers) {
            yield* peer.expectNotification(method)
            yield* peer.expectSilence
          }
        }).pipe(Effect.provide(server))
      }))
  }

  it.scoped("notifies once for each kind of several changes at once, resources and templates together", () =>
    Effect.gen(function*() {
      const { add, server } = yield* growing(everything)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        yield* add(Layer.mergeAll(
          ...[1, 2, 3].flatMap((n) => [resource(`file:///${n}`), template(`t${n}`), prompt(`p${n}`)]) as [
            Layer.Layer<never, never, Registry>
          ]
        ))
        const heard = [yield* peer.next, yield* peer.next].map((message) => (message as { method: string }).method)
        assert.sameMembers(heard, [resourcesChanged, promptsChanged])
        yield* peer.expectSilence
      }).pipe(Effect.provide(server))
    }))

  it.scoped("does not notify clients to which it did not advertise the feature", () =>
    Effect.gen(function*() {
      const { add, server } = yield* growing(act(Effect.void))
      yield* Effect.gen(function*() {
        const before = yield* connect()
        yield* add(Layer.merge(resource("file:///a"), prompt("a")))
        yield* before.expectSilence
        const after = yield* connect()
        yield* add(resource("file:///b"))
        yield* after.expectNotification(resourcesChanged)
        yield* after.expectSilence
        yield* before.expectSilence
        // Nor does it serve them to such a client.
        assert.strictEqual((yield* before.expectError(yield* before.request("resources/list"))).code, -32601)
        const { resources } = yield* after.expectResult(yield* after.request("resources/list"))
        assert.lengthOf(resources as ReadonlyArray<unknown>, 2)
      }).pipe(Effect.provide(server))
    }))

  it.scoped("reads, gets and lists what is registered, and no longer what was removed", () =>
    Effect.gen(function*() {
      const { add, server } = yield* growing(everything)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const code = (method: string, params: object) =>
          Effect.map(
            Effect.flatMap(peer.request(method, params as never), () => peer.next),
            (message) => (message as { readonly error?: { readonly code: number } }).error?.code
          )
        const remove = yield* add(Layer.mergeAll(resource("file:///b"), template("tale"), prompt("b")))
        yield* peer.next
        yield* peer.next
        const asks = [
          ["resources/read", { uri: "file:///b" }, -32002],
          ["resources/read", { uri: "tale:///1" }, -32002],
          ["prompts/get", { name: "b" }, -32602]
        ] as const
        for (const [method, params] of asks) assert.isUndefined(yield* code(method, params))
        yield* remove
        yield* peer.next
        yield* peer.next
        for (const [method, params, missing] of asks) assert.strictEqual(yield* code(method, params), missing)
      }).pipe(Effect.provide(server))
    }))

  it.scoped("cannot have two entries of one URI, or of one name, and names them", () =>
    Effect.gen(function*() {
      const twice = [
        [resource("file:///a"), `resources at "file:///a"`],
        [template("note"), `resource templates of "note:///{id}"`],
        [prompt("a"), `prompts named "a"`]
      ] as const
      for (const [again, what] of twice) {
        const cause = yield* Effect.flip(Effect.sandbox(Layer.build(serve(Layer.merge(everything, again)))))
        assert.include(String(cause), `Two features of this server are ${what}`)
      }
    }))
})
