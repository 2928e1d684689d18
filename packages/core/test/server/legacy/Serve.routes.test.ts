import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Outbound from "@effect-mcp/core/Outbound"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Registry from "@effect-mcp/core/Registry"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, type Scope } from "effect"
import * as ExtensionTable from "../../../src/protocol/extension/ExtensionTable.js"
import * as Build from "../../../src/server/dispatch/Build.js"
import * as AdvertisedCapabilities from "../../../src/server/features/AdvertisedCapabilities.js"
import { Connection } from "../../../src/server/legacy/Connection.js"
import * as Era from "../../../src/server/legacy/Era.js"
import * as ResolvedLimits from "../../../src/server/runtime/ResolvedLimits.js"
import * as Routes from "../../../src/server/runtime/Routes.js"
import type { Server } from "../../../src/server/runtime/Server.js"
import * as SealKeys from "../../../src/server/SealKeys.js"
import { act, answer, connect, GreetLive, info, result, serve, speaking } from "../Serving.js"

const limits = ResolvedLimits.ofServer({ pageSize: 1 })

const routes = (
  options: { readonly logging?: boolean; readonly subscriptions?: boolean; readonly resources?: boolean }
) =>
  Effect.gen(function*() {
    const registry = yield* Registry.make
    if (options.resources === true) {
      yield* Effect.scoped(registry.resources.register({
        advertised: { uri: "file:///a", name: "a" },
        context: Context.empty(),
        read: Effect.succeed({ contents: [] })
      }))
    }
    const server: Server = {
      info,
      versions: Version.legacy,
      instructions: () => undefined,
      observers: new Set(),
      logging: options.logging !== false,
      capabilities: AdvertisedCapabilities.make(registry, {
        logging: options.logging !== false,
        subscriptions: options.subscriptions !== false,
        tasks: false,
        also: undefined
      }),
      features: Build.routes(registry, { pageSize: limits.pageSize, tasks: undefined, report: () => Effect.void }),
      registry,
      extensions: ExtensionTable.make([], "server"),
      session: undefined,
      middleware: undefined,
      sessionMiddleware: undefined,
      authenticate: undefined,
      documents: undefined,
      requiredScopes: () => [],
      taskScopes: () => undefined,
      subscriptions: options.subscriptions === false ? undefined : {
        isKnown: () => true,
        hidden: () => Effect.succeed(new Set<string>()),
        max: 1024,
        begin: () => undefined
      },
      tasks: undefined,
      limits,
      cache: undefined,
      sealKeys: Effect.runSync(SealKeys.memory()),
      inputSchema: () => undefined,
      unseenTool: () => undefined
    }
    return Routes.make(server, Era.make(server).vocabulary)
  })

const conversation = new Connection(Outbound.none, {} as Scope.Scope)
const exchange = new Connection(Outbound.none)

const all = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tools/list",
  "constructor"
]

const found = (routes: Routes.Routes<Connection>, connection: Connection) =>
  all.filter((method) => routes(method, connection)?.method.name === method)

describe("The legacy methods of every server", () => {
  it.effect("are initialize, ping and logging/setLevel", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(found(yield* routes({}), conversation), ["initialize", "ping", "logging/setLevel"])
      assert.deepStrictEqual(found(yield* routes({ logging: false }), conversation), ["initialize", "ping"])
    }))

  it.effect("include subscriptions for a client with a conversation, where the server has resources", () =>
    Effect.gen(function*() {
      const find = yield* routes({ resources: true })
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        assert.strictEqual(find(method, conversation)?.method.name, method)
        assert.isUndefined(find(method, exchange))
      }
      assert.notInclude(
        found(yield* routes({ resources: true, subscriptions: false }), conversation),
        "resources/subscribe"
      )
    }))

  it.effect("include initialize, which is served before it has succeeded and cannot be cancelled", () =>
    Effect.gen(function*() {
      const find = yield* routes({})
      const [initialize, ping] = ["initialize", "ping"].map((method) => find(method, exchange))
      const setLevel = find("logging/setLevel", conversation)
      assert.deepStrictEqual([initialize?.isEarly, ping?.isEarly, setLevel?.isEarly], [true, undefined, undefined])
      assert.strictEqual(initialize?.isCancellable, false)
      assert.isUndefined(ping?.isCancellable)
    }))
})

/** Requests to every feature, and whether the server answers each with a result; -32601 otherwise. */
const answered = (peer: TestPeer.TestPeer) =>
  Effect.map(
    Effect.forEach(
      [
        ["tools/list", {}],
        ["prompts/list", {}],
        ["resources/list", {}],
        ["resources/templates/list", {}],
        ["resources/subscribe", { uri: "file:///a" }],
        ["completion/complete", { ref: { type: "ref/prompt", name: "a" }, argument: { name: "a", value: "" } }],
        ["logging/setLevel", { level: "info" }]
      ] as const,
      ([method, params]) =>
        Effect.map(
          Effect.zipRight(peer.request(method, params), peer.next),
          (message) => {
            const { error } = message as { readonly error?: { readonly code: number } }
            return error?.code === -32601 ? [] : [method]
          }
        )
    ),
    (found) => found.flat()
  )

const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]

describe("A feature that the server declares", () => {
  it.scoped("MUST be served also while it has no entry: its lists are empty", () =>
    Effect.gen(function*() {
      for (const version of Version.legacy) {
        const peer = yield* connect(version)
        for (
          const [method, key] of [["tools/list", "tools"], ["prompts/list", "prompts"], ["resources/list", "resources"]]
        ) {
          assert.deepStrictEqual(yield* peer.expectResult(yield* peer.request(method!)), { [key!]: [] })
        }
        assert.deepStrictEqual(yield* answered(peer), [
          ...lists,
          "resources/subscribe",
          "completion/complete",
          "logging/setLevel"
        ])
      }
    }).pipe(Effect.provide(serve(Layer.empty, {
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} }
    }))))

  it.scoped("is served after its last entry was removed", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* answered(yield* connect()), ["tools/list"])
    }).pipe(Effect.provide(serve(
      Layer.unwrapScoped(Effect.map(Registry.Registry, (registry) =>
        Layer.effectDiscard(
          Effect.scoped(Layer.build(Layer.provide(GreetLive, Layer.succeed(Registry.Registry, registry))))
        ))),
      { logging: false }
    ))))
})

describe("A feature that the server does not declare", () => {
  it.scoped("is not served", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* answered(yield* connect()), [])
      // 2024-11-05 has no capability for completions.
      assert.deepStrictEqual(yield* answered(yield* connect("2024-11-05")), ["completion/complete"])
    }).pipe(Effect.provide(serve(Layer.empty, { logging: false, subscriptions: false }))))

  it.scoped("is not served to a client that connected before it existed", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "add")
      assert.deepStrictEqual(yield* answered(peer), ["tools/list", "logging/setLevel"])
      assert.deepStrictEqual(yield* answered(yield* connect()), [
        "tools/list",
        "prompts/list",
        "logging/setLevel"
      ])
    }).pipe(Effect.provide(serve(Layer.unwrapScoped(Effect.map(Effect.scope, (scope) =>
      act(
        Effect.flatMap(Registry.Registry, (registry) =>
          Layer.buildWithScope(
            Layer.provide(
              McpServer.prompt(Prompt.make("p"), () => Effect.succeed("")),
              Layer.succeed(Registry.Registry, registry)
            ),
            scope
          )),
        "add"
      )))))))

  it.scoped("is not served without a session either, and subscriptions never are", () =>
    Effect.gen(function*() {
      const code = (method: string, params?: JsonObject) =>
        Effect.map(answer(Message.request(1, method, params), speaking("2025-11-25")), ({ error }) => error?.code)
      assert.isUndefined(yield* code("tools/list"))
      assert.isUndefined(yield* code("resources/list"))
      assert.strictEqual(yield* code("prompts/list"), -32601)
      assert.strictEqual(yield* code("resources/subscribe", { uri: "file:///a" }), -32601)
    }).pipe(Effect.provide(serve(GreetLive, { capabilities: { resources: { subscribe: true } } }))))
})
