import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Cause, Context, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { answered, exchange, failure, legacyClient, servers } from "./Scripts.js"

class Address extends Context.Tag("Address")<Address, string>() {}

describe("The features of a client", () => {
  const root = (uri: string) => [{ uri }]

  /** A root that exists while its layer does; its URI counts how often the layer was built. */
  const counted = (log: Array<string>) => {
    let times = 0
    return Layer.unwrapScoped(Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => {
          log.push("features open")
          return ++times
        }),
        () => Effect.sync(() => log.push("features closed"))
      ),
      (time) => ClientFeatures.roots(Effect.succeed(root(`file:///${time}`)))
    ))
  }

  /** Played servers, and when they were reached and left. */
  const logged = (log: Array<string>) =>
    Effect.map(servers, (played) => ({
      ...played,
      connector: Connector.make(
        "logged",
        Effect.zipRight(
          Effect.acquireRelease(
            Effect.sync(() => log.push("server reached")),
            () => Effect.sync(() => log.push("server left"))
          ),
          played.connector.connect
        )
      )
    }))

  it.effect("are built before the client connects, and closed after its session", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { connector, open, server } = yield* logged(log)
      const scope = yield* Scope.make()
      const connecting = yield* Effect.fork(
        Scope.extend(Client.make(connector, { versions: Version.legacy, features: counted(log) }), scope)
      )
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().initialized()
      yield* Fiber.join(connecting)
      assert.deepStrictEqual(log, ["features open", "server reached"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(log, ["features open", "server reached", "server left", "features closed"])
    }).pipe(Effect.scoped))

  it.scoped("are advertised in the first message, and answer from then on", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const connecting = yield* Effect.fork(Client.make(connector, { versions: Version.legacy, features: counted([]) }))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      const { id, params } = yield* server().expectRequest("initialize")
      assert.deepStrictEqual(params!.capabilities, { roots: {} })
      const request = yield* server().request("roots/list")
      assert.deepStrictEqual(yield* server().expectResult(request), { roots: root("file:///1") })
      yield* server().send(Message.success(id, {
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "test", version: "0.0.0" }
      }))
      yield* server().expectNotification("notifications/initialized")
      yield* Fiber.join(connecting)
    }))

  it.scoped("that fail to build fail the client before it connects, and are closed", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { connector } = yield* logged(log)
      const features = Layer.provideMerge(Layer.fail("no model today" as const), counted(log))
      const error: string | { readonly _tag: string } = yield* failure(
        Client.make(connector, { versions: Version.legacy, features })
      )
      assert.strictEqual(error, "no model today")
      // The scope is still open.
      assert.deepStrictEqual(log, ["features open", "features closed"])
    }))

  it.scoped("that die while they are built, or are there twice, let the client die, and are closed", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { connector } = yield* logged(log)
      const twice = Layer.provideMerge(ClientFeatures.roots(Effect.succeed([])), counted(log))
      const exit = yield* Effect.exit(Client.make(connector, { features: twice }))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        "Two features of this client are for \"roots\""
      )
      assert.deepStrictEqual(log, ["features open", "features closed"])
    }))

  it.scoped("are closed before the client fails, when the server cannot be reached or refuses", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const unreachable = new LocalError.TransportError({ reason: "Open", message: "Nobody is there" })
      const nobody = Connector.make("nobody", Effect.fail(unreachable))
      assert.strictEqual(yield* failure(Client.make(nobody, { features: counted(log) })), unreachable)
      assert.deepStrictEqual(log.splice(0), ["features open", "features closed"])
      const { connector, open, server } = yield* logged(log)
      const connecting = yield* Effect.fork(
        Effect.flip(Client.make(connector, { versions: Version.legacy, features: counted(log) }))
      )
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      const { id } = yield* server().expectRequest("initialize")
      yield* server().send(Message.failure(id, { code: -32603, message: "no" }))
      assert.strictEqual((yield* Fiber.join(connecting))._tag, "InternalError")
      assert.deepStrictEqual(log, ["features open", "server reached", "server left", "features closed"])
    }))

  it.scoped("are closed when connecting is interrupted", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { connector, open, server } = yield* logged(log)
      const connecting = yield* Effect.fork(
        Client.make(connector, { versions: Version.legacy, features: counted(log) })
      )
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().expectRequest("initialize")
      yield* Fiber.interrupt(connecting)
      assert.deepStrictEqual(log, ["features open", "server reached", "server left", "features closed"])
    }))

  it.scoped("of one layer are built for each of two clients, and closed with each", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const features = counted(log)
      const connect = Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { server } = yield* Scope.extend(legacyClient({ client: { features } }), scope)
        const asks = Effect.flatMap(server.request("roots/list"), server.expectResult)
        return { asks, close: Scope.close(scope, Exit.void) }
      })
      const [first, second] = [yield* connect, yield* connect]
      assert.deepStrictEqual(yield* first.asks, { roots: root("file:///1") })
      assert.deepStrictEqual(yield* second.asks, { roots: root("file:///2") })
      yield* first.close
      assert.deepStrictEqual(log, ["features open", "features open", "features closed"])
      assert.deepStrictEqual(yield* second.asks, { roots: root("file:///2") })
      yield* second.close
      assert.lengthOf(log, 4)
    }))

  it.scoped("share within one client the layers that both need", () =>
    Effect.gen(function*() {
      let built = 0
      const AddressLive = Layer.sync(Address, () => `file:///${++built}`)
      const uses = <R>(feature: Layer.Layer<never, never, R>) => Layer.provide(feature, AddressLive)
      const { server } = yield* legacyClient({
        client: {
          features: Layer.merge(
            uses(ClientFeatures.roots(Effect.map(Address, root))),
            uses(ClientFeatures.request("ours/where", () => Effect.map(Address, (where) => ({ where }))))
          )
        }
      })
      const ask = (method: string) => Effect.flatMap(server.request(method), server.expectResult)
      assert.deepStrictEqual(yield* ask("roots/list"), { roots: root("file:///1") })
      assert.deepStrictEqual(yield* ask("ours/where"), { where: "file:///1" })
    }))

  it.scoped("get what they need from the context of the client, as an effect and as a layer", () =>
    Effect.gen(function*() {
      const features = ClientFeatures.roots(Effect.map(Address, root))
      const here = Layer.succeed(Address, "file:///here")
      const made = yield* legacyClient({ client: { features } }).pipe(Effect.provide(here))
      const asks = (server: TestPeer.TestPeer) => Effect.flatMap(server.request("roots/list"), server.expectResult)
      assert.deepStrictEqual(yield* asks(made.server), { roots: root("file:///here") })
      const { connector, open, server } = yield* servers
      const building = yield* Effect.fork(
        Layer.build(Client.layer(connector, { versions: Version.legacy, features }).pipe(Layer.provide(here)))
      )
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().initialized()
      yield* Fiber.join(building)
      assert.deepStrictEqual(yield* asks(server()), { roots: root("file:///here") })
    }))
})

describe("The options of a client", () => {
  /** The parameters of the handshake, and of a call afterwards. */
  const requests = (options: Client.Options) =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const connecting = yield* Effect.fork(Client.make(connector, { versions: Version.legacy, ...options }))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      const { id, params } = yield* server().expectRequest("initialize")
      yield* server().send(Message.success(id, {
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "test", version: "0.0.0" }
      }))
      yield* server().expectNotification("notifications/initialized")
      const client = yield* Fiber.join(connecting)
      return { handshake: params!, ping: (yield* answered(server(), client.ping(), "ping", {})).params }
    })

  it.scoped("with `ClientTelemetry`, send the span of every call, also of the handshake", () =>
    Effect.gen(function*() {
      const { handshake, ping } = yield* Effect.provide(requests({}), ClientTelemetry.layer())
      const ofSpan = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/
      const parents = [handshake, ping!].map(({ _meta }) => String((_meta as JsonObject).traceparent))
      for (const parent of parents) assert.match(parent, ofSpan)
      assert.notStrictEqual(parents[0], parents[1])
    }))

  it.scoped("without `ClientTelemetry`, send no span", () =>
    Effect.gen(function*() {
      const { handshake, ping } = yield* Effect.withSpan(requests({}), "ours")
      assert.notProperty(handshake, "_meta")
      assert.isUndefined(ping)
    }))

  const promise = { name: "count", inputSchema: { type: "object" }, outputSchema: { type: "object", required: ["n"] } }
  const broken = { content: [], structuredContent: {} }

  it.scoped("check results against output schemas, unless `checkOutputs` or the option of the call is false", () =>
    Effect.gen(function*() {
      const strict = yield* legacyClient({ client: { checkOutputs: true } })
      yield* answered(strict.server, strict.client.listTools(), "tools/list", { tools: [promise] })
      const careless = yield* legacyClient({ client: { checkOutputs: false } })
      yield* answered(careless.server, careless.client.listTools(), "tools/list", { tools: [promise] })
      const call = ({ client, server }: TestClient.TestClient, checkOutput?: boolean) =>
        Effect.map(
          exchange(server, client.callTool("count", {}, { checkOutput }), "tools/call", broken),
          ({ exit }) => exit._tag
        )
      assert.strictEqual(yield* call(strict), "Failure")
      assert.strictEqual(yield* call(strict, false), "Success")
      assert.strictEqual(yield* call(careless), "Success")
      assert.strictEqual(yield* call(careless, true), "Failure")
    }))

  it.scoped("list no tools for typed calls, whose definition has the schema", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const Count = Tool.make("count", { success: Schema.Struct({ n: Schema.Number }) })
      const { count } = Client.of(client, Definition.make(Count))
      const given = { content: [], structuredContent: { n: 1 } }
      assert.deepStrictEqual((yield* answered(server, count(), "tools/call", given)).value, { n: 1 })
      yield* server.expectSilence
    }))
})
