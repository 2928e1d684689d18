import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Context, Effect, Layer, Schema, Stream } from "effect"
import { expectTypeOf } from "vitest"
import * as Modern from "./modern/Modern.js"
import { act, connect, info, names, result, serve } from "./Serving.js"
import { everything, useAll, used } from "./Surrounded.js"

const updated = (uri: string) => Effect.flatMap(Registry.Running, (registry) => registry.updated(uri))

class User extends Context.Tag("User")<User, { readonly isAdmin: boolean }>() {}
class Role extends Context.Tag("Role")<Role, { name: string }>() {}
class Quota extends Context.Tag("Quota")<Quota, number>() {}

const eras = ["2025-11-25", "2026-07-28"] as const
const nothing = Definition.make()

const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const isAdmin = Effect.map(User, (user) => user.isAdmin)

/** Middleware that takes the user from the name of the client. */
const userOf = Middleware.provide(
  User,
  () => Effect.map(RequestContext, ({ client }) => ({ isAdmin: client.info?.name === "admin" }))
)

/** A server with these features, and with one of each kind that everybody sees. */
const server = <E, R>(features: Layer.Layer<never, E, R>, version: typeof eras[number], name: string) => {
  const seen = Layer.mergeAll(
    act(Effect.void, "seen"),
    McpServer.resource(Resource.make("seen", { uri: "seen://fixed" }), Effect.succeed("seen")),
    McpServer.prompt(Prompt.make("seen"), () => Effect.succeed("seen"))
  )
  return TestServer.layer(nothing, Layer.merge(features, seen), {
    versions: [version],
    middleware: userOf,
    client: { clientInfo: { name, version: "1" } }
  })
}

for (const version of eras) {
  describe(`A feature that a request does not see, for clients of ${version}`, () => {
    const hidden = everything(Effect.void).pipe(Feature.visible(isAdmin))

    it.effect("is not among what a handler gets of the registry, which can tell", () =>
      Effect.gen(function*() {
        const Entries = Extension.make("com.example/entries", {
          requests: {
            seen: Extension.request("entries/seen", {
              params: Schema.Struct({}),
              result: Schema.Struct({ seen: Schema.Array(Schema.String), all: Schema.Array(Schema.Boolean) })
            })
          }
        })
        const seen = Layer.unwrapEffect(Effect.map(Registry.Registry, ({ tools }) =>
          MethodHandler.request(Entries.requests.seen, () =>
            Effect.gen(function*() {
              const seen = (yield* Feature.onlyVisible(tools)).map(([name]) =>
                name
              )
              const all = yield* Effect.forEach(tools.values(), Feature.isVisible)
              return { seen, all: [...all, ...Array.from(tools.values(), Feature.mayBeHidden)] }
            }))))
        const given = { versions: [version], middleware: userOf, extensions: [Entries] } as const
        for (const [name, expected] of [["guest", ["act"]], ["admin", ["act", "tool"]]] as const) {
          yield* Effect.gen(function*() {
            const { request } = yield* Client.Client
            const { all, seen } = yield* request(Entries.requests.seen, {})
            assert.deepStrictEqual(seen, expected)
            assert.deepStrictEqual(all, [true, name === "admin", false, true])
          }).pipe(Effect.provide(TestServer.layer(nothing, Layer.mergeAll(hidden, act(Effect.void), seen), {
            ...given,
            client: { clientInfo: { name, version: "1" }, extensions: [Entries] }
          })))
        }
      }))

    it.effect("is in no list, and using it fails as if the server did not have it", () =>
      Effect.gen(function*() {
        const client = yield* Client.Client
        assert.deepStrictEqual((yield* collect(client.tools)).map(({ name }) => name), ["seen"])
        assert.deepStrictEqual((yield* collect(client.resources)).map(({ uri }) => uri), ["seen://fixed"])
        assert.deepStrictEqual(yield* collect(client.resourceTemplates), [])
        assert.deepStrictEqual((yield* collect(client.prompts)).map(({ name }) => name), ["seen"])
        const prompt = { type: "ref/prompt", name: "prompt" } as const
        const template = { type: "ref/resource", uri: "test://template/{id}" } as const
        const unknown = { type: "ref/resource", uri: "test://fixed" } as const
        const uses: ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, object]> = [
          [client.callTool("tool"), { _tag: "InvalidParams", message: "Unknown tool: tool" }],
          [client.readResource("test://fixed"), { _tag: "ResourceNotFound", uri: "test://fixed" }],
          [client.readResource("test://template/7"), { _tag: "ResourceNotFound", uri: "test://template/7" }],
          [client.getPrompt("prompt", { a: "" }), { _tag: "InvalidParams", message: "Unknown prompt: prompt" }],
          [client.complete(prompt, { name: "a", value: "" }), { message: "Unknown prompt: prompt" }],
          [client.complete(prompt, { name: "no", value: "" }), { message: "Unknown prompt: prompt" }],
          [
            client.complete(template, { name: "id", value: "" }),
            { message: "Unknown resource template: test://template/{id}" }
          ],
          [
            client.complete(template, { name: "no", value: "" }),
            { message: "Unknown resource template: test://template/{id}" }
          ],
          [
            client.complete(unknown, { name: "no", value: "" }),
            { message: "Unknown resource template: test://fixed" }
          ],
          [client.request("x/custom", {}), { _tag: "MethodNotFound" }]
        ]
        for (const [use, error] of uses) assert.deepInclude((yield* Effect.flip(use)) as object, error)
      }).pipe(Effect.provide(server(hidden, version, "guest"))))

    it.effect("is listed and used by who sees it, while the capabilities are the same for all", () =>
      Effect.gen(function*() {
        const capabilities: Array<unknown> = []
        for (const name of ["admin", "guest"]) {
          yield* Effect.gen(function*() {
            const client = yield* Client.Client
            capabilities.push(client.serverCapabilities)
            if (name === "guest") return
            yield* useAll
            assert.deepStrictEqual((yield* collect(client.tools)).map((tool) => tool.name), ["seen", "tool"])
            assert.deepStrictEqual((yield* collect(client.resources)).map(({ uri }) => uri), [
              "seen://fixed",
              "test://fixed",
              "test://template/1"
            ])
            assert.lengthOf(yield* collect(client.resourceTemplates), 1)
            assert.deepStrictEqual((yield* collect(client.prompts)).map((prompt) => prompt.name), ["prompt", "seen"])
          }).pipe(Effect.provide(server(hidden, version, name)))
        }
        assert.deepStrictEqual(capabilities[0], capabilities[1])
      }))

    it.effect("is hidden from each request by itself, also from equal ones at the same time", () =>
      Effect.gen(function*() {
        const dispatcher = yield* Layer.memoize(serve(Layer.merge(hidden, act(Effect.void, "seen")), {
          middleware: userOf,
          limits: { pageSize: 1 }
        }))
        const listedBy = (name: string) =>
          Effect.gen(function*() {
            const client = yield* Client.Client
            return (yield* collect(client.tools)).map((tool) => tool.name)
          }).pipe(Effect.provide(Layer.provide(
            TestServer.client(nothing, { client: { versions: [version], clientInfo: { name, version: "1" } } }),
            dispatcher
          )))
        const clients = ["admin", "guest", "admin", "guest"]
        const lists = yield* Effect.forEach(clients, listedBy, { concurrency: "unbounded" })
        assert.deepStrictEqual(lists, [["seen", "tool"], ["seen"], ["seen", "tool"], ["seen"]])
      }).pipe(Effect.scoped))

    it.effect("is checked once for a list, and once for each use, inside of the services around it", () =>
      Effect.gen(function*() {
        const checks: Array<string> = []
        let ran = 0
        const check = Effect.gen(function*() {
          const { method } = yield* RequestContext
          checks.push(`${method} ${yield* Quota}`)
          return true
        })
        const many = Layer.merge(everything(Effect.void), Layer.mergeAll(act(Effect.void, "a"), act(Effect.void, "b")))
        const features = many.pipe(
          Feature.visible(check),
          Feature.provide(Quota, Effect.sync(() => ++ran))
        )
        yield* Effect.gen(function*() {
          yield* useAll
          const client = yield* Client.Client
          yield* collect(client.tools)
        }).pipe(Effect.provide(server(features, version, "guest")))
        const expected = used.flatMap((method) =>
          // The client reads the list for the tool. Fixed resources and the list of a template are checked each.
          method === "tools/call" ? [method, "tools/list"] : method === "resources/list" ? [method, method] : [method]
        )
        assert.deepStrictEqual(checks.map((line) => line.split(" ")[0]), [...expected, "tools/list"])
        assert.strictEqual(ran, checks.length)
      }))

    it.effect("is decided for each entry by a function, which knows the kind, the name and the scopes of the entry", () =>
      Effect.gen(function*() {
        const asked: Array<string> = []
        const features = Layer.merge(everything(Effect.void), act(Effect.void, "other")).pipe(
          Feature.requires(["a"]),
          Feature.visible((entry) =>
            Effect.map(RequestContext, ({ method }) => {
              asked.push(`${method} ${entry.kind} ${entry.name} ${entry.scopes.join()}`)
              return entry.name !== "tool" && entry.name !== "prompt" && entry.kind !== "resourceTemplate"
            })
          )
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          assert.deepStrictEqual((yield* collect(client.tools)).map(({ name }) => name), ["other", "seen"])
          assert.deepStrictEqual((yield* collect(client.prompts)).map(({ name }) => name), ["seen"])
          assert.deepStrictEqual(yield* collect(client.resourceTemplates), [])
          assert.deepInclude(yield* Effect.flip(client.callTool("tool")), { message: "Unknown tool: tool" })
          assert.deepInclude(yield* Effect.flip(client.readResource("test://template/1")), {
            _tag: "ResourceNotFound"
          })
        }).pipe(Effect.provide(server(features, version, "guest")))
        assert.include(asked, "tools/list tool other a")
        assert.include(asked, "resources/templates/list resourceTemplate test://template/{id} a")
      }))

    it.effect("is hidden where a service around its check refuses, and in an outer check", () =>
      Effect.gen(function*() {
        const refuse = Feature.provide(Quota, Effect.fail(new InvalidRequest({ message: "not you" })))
        const features = Layer.mergeAll(
          act(Effect.void, "refused").pipe(Feature.visible(Effect.succeed(true)), refuse),
          act(Effect.void, "outer").pipe(
            Feature.visible(Effect.succeed(true)),
            Feature.visible(Effect.succeed(false))
          ),
          act(Effect.void, "inner").pipe(
            Feature.visible(Effect.succeed(false)),
            Feature.visible(Effect.succeed(true))
          )
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          assert.deepStrictEqual((yield* collect(client.tools)).map(({ name }) => name), ["seen"])
          assert.deepInclude(yield* Effect.flip(client.callTool("refused")), { message: "not you" })
          for (const name of ["outer", "inner"]) {
            assert.deepInclude(yield* Effect.flip(client.callTool(name)), { message: `Unknown tool: ${name}` })
          }
        }).pipe(Effect.provide(server(features, version, "guest")))
      }))

    it.effect("leaves no trace in pages and cursors", () =>
      Effect.gen(function*() {
        const tools = Array.from({ length: 9 }, (_, i) =>
          act(Effect.void, `t${i}`).pipe(i % 3 === 0 ? (one) => one : Feature.visible(isAdmin)))
        const pages = (name: string) =>
          Effect.gen(function*() {
            const client = yield* Client.Client
            const found: Array<ReadonlyArray<string>> = []
            let cursor: string | undefined
            do {
              const page = yield* client.listTools({ cursor })
              found.push(page.tools.map((tool) =>
                tool.name
              ))
              cursor = page.nextCursor
            } while (cursor !== undefined)
            return found
          }).pipe(Effect.provide(TestServer.layer(nothing, Layer.mergeAll(Layer.empty, ...tools), {
            versions: [version],
            middleware: userOf,
            limits: { pageSize: 2 },
            client: { clientInfo: { name, version: "1" } }
          })))
        assert.deepStrictEqual(yield* pages("guest"), [["t0", "t3"], ["t6"]])
        assert.deepStrictEqual(yield* pages("admin"), [["t0", "t1"], ["t2", "t3"], ["t4", "t5"], ["t6", "t7"], ["t8"]])
      }))

    it.effect("leaves a template of the same URI to others, but not a fixed resource", () =>
      Effect.gen(function*() {
        const template = (name: string, uri: string) =>
          McpServer.resourceTemplate(ResourceTemplate.fromString(name, uri), () => Effect.succeed(name), {
            list: Effect.succeed([Resource.make("fixed", { uri: "x://fixed" })])
          })
        const greet = Prompt.make("greet", { arguments: { tone: Schema.Literal("formal") } })
        const features = Layer.mergeAll(
          McpServer.prompt(greet, () => Effect.succeed("")),
          template("wide", "x://{+any}"),
          template("narrow", "x://narrow/{id}").pipe(Feature.visible(isAdmin)),
          McpServer.resource(Resource.make("fixed", { uri: "x://fixed" }), Effect.succeed("fixed")).pipe(
            Feature.visible(isAdmin)
          )
        )
        for (const [name, read] of [["guest", "wide"], ["admin", "narrow"]] as const) {
          yield* Effect.gen(function*() {
            const client = yield* Client.Client
            const { contents: [first] } = yield* client.readResource("x://narrow/1")
            assert.deepInclude(first as object, { text: read })
            const completed = client.complete({ type: "ref/resource", uri: "x://narrow/1" }, { name: "id", value: "" })
            if (name === "guest") assert.strictEqual((yield* Effect.flip(completed))._tag, "InvalidParams")
            else assert.deepStrictEqual((yield* completed).values, [])
            const uris = (yield* collect(client.resources)).map(({ uri }) => uri)
            assert.strictEqual(uris.includes("x://fixed"), name === "admin")
            const fixed = client.readResource("x://fixed")
            if (name === "guest") assert.strictEqual((yield* Effect.flip(fixed))._tag, "ResourceNotFound")
            else yield* fixed
          }).pipe(Effect.provide(server(features, version, name)))
        }
      }))
  })
}

describe("A feature that a request does not see", () => {
  const hidden = McpServer.resource(Resource.make("hidden", { uri: "test://hidden" }), Effect.succeed("")).pipe(
    Feature.visible(Effect.map(Role, ({ name }) => name === "admin"))
  )
  const options = { session: Layer.sync(Role, () => ({ name: "guest" })) }
  const become = MethodHandler.customRequest(
    "x/become",
    { params: Schema.Struct({ name: Schema.String }), result: Schema.Struct({}) },
    ({ name }) => Effect.map(Role, (role) => ((role.name = name), {}))
  )

  it.scoped("is not subscribed to, until the session sees it", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const refused = yield* peer.expectError(yield* peer.request("resources/subscribe", { uri: "test://hidden" }))
      assert.deepInclude(refused, { code: -32002 })
      yield* updated("test://hidden")
      yield* peer.expectSilence
      yield* peer.expectResult(yield* peer.request("x/become", { name: "admin" }))
      yield* peer.expectResult(yield* peer.request("resources/subscribe", { uri: "test://hidden" }))
      yield* updated("test://hidden")
      yield* peer.expectNotification("notifications/resources/updated")
    }).pipe(Effect.provide(serve(Layer.merge(hidden, become), options))))

  it.scoped("leaves the filter of a subscription of 2026-07-28", () =>
    Effect.gen(function*() {
      const peer = yield* Modern.connect
      yield* Modern.request(peer, "subscriptions/listen", {
        notifications: { resourceSubscriptions: ["test://hidden", "test://none"] }
      })
      const { notifications } = yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      assert.deepStrictEqual<unknown>(notifications, { resourceSubscriptions: ["test://none"] })
      yield* updated("test://hidden")
      yield* Modern.silence(peer)
      yield* peer.hangUp
    }).pipe(Effect.provide(serve(hidden, options))))

  it.scoped("is checked once for a subscription of 2026-07-28, however many resources it names", () => {
    let checks = 0
    const Many = ResourceTemplate.make("many")`many://${ResourceTemplate.param("id")}`
    const features = McpServer.resourceTemplate(Many, ({ id }) => Effect.succeed(id)).pipe(
      Feature.visible(Effect.sync(() => ++checks > 0))
    )
    return Effect.gen(function*() {
      const peer = yield* Modern.connect
      const resourceSubscriptions = Array.from({ length: 1000 }, (_, id) => `many://${id}`)
      yield* Modern.request(peer, "subscriptions/listen", { notifications: { resourceSubscriptions } })
      const { notifications } = yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      assert.deepStrictEqual<unknown>(notifications, { resourceSubscriptions })
      assert.strictEqual(checks, 1)
      yield* peer.hangUp
    }).pipe(Effect.provide(serve(features, options)))
  })

  it.scoped("is notified of to one session when what it sees has changed", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* connect(), yield* connect()]
      yield* one.expectResult(yield* one.request("x/become", { name: "admin" }))
      yield* one.notify("notifications/roots/list_changed")
      yield* one.expectNotification("notifications/tools/list_changed")
      assert.deepStrictEqual(yield* names(one), ["secret", "seen"])
      yield* other.expectSilence
      assert.deepStrictEqual(yield* names(other), ["seen"])
      yield* Registry.changed()
      for (const peer of [one, other]) yield* peer.expectNotification("notifications/tools/list_changed")
    }).pipe(Effect.provide(serve(
      Layer.mergeAll(
        act(Effect.void, "seen"),
        act(Effect.void, "secret").pipe(Feature.visible(Effect.map(Role, ({ name }) => name === "admin"))),
        become,
        MethodHandler.rootsListChanged(Effect.flatMap(ServerSession, (session) => session.changed.tools))
      ),
      options
    ))))

  it.scoped("is notified of to one client of 2026-07-28 that listens, and not to others", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* Modern.connect, yield* Modern.connect]
      for (const peer of [one, other]) {
        yield* Modern.request(peer, "subscriptions/listen", { notifications: { toolsListChanged: true } })
        yield* peer.expectNotification("notifications/subscriptions/acknowledged")
      }
      const id = yield* Modern.request(one, "tools/call", { name: "act" })
      const received = [yield* one.next, yield* one.next]
      assert.isTrue(received.some((message) => "method" in message && message.method.endsWith("tools/list_changed")))
      assert.isTrue(received.some((message) => "id" in message && message.id === id))
      yield* Modern.silence(other)
      yield* Registry.changed("tools", "prompts")
      for (const peer of [one, other]) {
        yield* peer.expectNotification("notifications/tools/list_changed")
        yield* peer.hangUp
      }
    }).pipe(Effect.provide(serve(act(Effect.flatMap(ServerSession, (session) => session.changed.tools))))))

  it.scoped("MUST NOT be in the caches that clients share: results are for the sender alone from 2026-07-28 on", () =>
    Effect.gen(function*() {
      const peer = yield* Modern.connect
      const shared = { ttlMs: 60_000, cacheScope: "public" }
      const alone = { ttlMs: 60_000, cacheScope: "private" }
      assert.deepInclude(yield* Modern.result(peer, "tools/list"), shared)
      assert.deepInclude(yield* Modern.result(peer, "server/discover"), shared)
      assert.deepInclude(yield* Modern.result(peer, "resources/read", { uri: "test://open" }), shared)
      assert.deepInclude(yield* Modern.result(peer, "resources/list"), alone)
      assert.deepInclude(yield* Modern.result(peer, "prompts/list"), alone)
      assert.deepInclude(yield* Modern.result(peer, "resources/templates/list"), alone)
      assert.deepInclude(yield* Modern.result(peer, "resources/read", { uri: "test://shown" }), alone)
      assert.deepInclude(yield* Modern.result(peer, "resources/read", { uri: "shown://1" }), alone)
    }).pipe(Effect.provide(serve(
      Layer.mergeAll(
        act(Effect.void),
        McpServer.resource(Resource.make("open", { uri: "test://open" }), Effect.succeed("")),
        Layer.mergeAll(
          McpServer.resource(Resource.make("shown", { uri: "test://shown" }), Effect.succeed(""), {
            cache: { ttl: "1 minute", scope: "public" }
          }),
          McpServer.resourceTemplate(ResourceTemplate.fromString("t", "shown://{id}"), () => Effect.succeed("")),
          McpServer.prompt(Prompt.make("p"), () => Effect.succeed(""))
        ).pipe(Feature.visible(Effect.succeed(true)))
      ),
      { cache: { ttl: "1 minute", scope: "public" } }
    ))))

  it("requires what its check requires", () => {
    const feature = act(Effect.void).pipe(Feature.visible(Effect.as(Effect.zip(User, RequestContext), true)))
    expectTypeOf(feature).toEqualTypeOf<Layer.Layer<never, never, Registry.Registry | User>>()
    expectTypeOf(McpServer.layer(info, feature, { middleware: userOf })).toEqualTypeOf<
      Layer.Layer<Dispatcher | Registry.Running>
    >()
  })

  it.scoped("does not see what died in its check: the list ends with an internal error", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const error = yield* peer.expectError(yield* peer.request("tools/list"))
      assert.deepStrictEqual(error, { code: -32603, message: "Internal error" })
      yield* result(peer, "act")
    }).pipe(Effect.provide(serve(Layer.merge(
      act(Effect.void),
      act(Effect.void, "broken").pipe(Feature.visible(Effect.die("hunter2")))
    )))))
})
