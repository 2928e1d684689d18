import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Exit, Fiber, Layer, Schedule, Schema, Scope, TestClock } from "effect"
import { answered, failure, servers } from "./Scripts.js"

const legacy = { versions: Version.legacy } as const

class Address extends Context.Tag("Address")<Address, string>() {}

describe("Client.make", () => {
  it.effect("opens nothing before it is run", () =>
    Effect.gen(function*() {
      const { connector, open } = yield* servers
      const made = [Client.make(connector), Layer.build(Client.layer(connector))]
      assert.lengthOf(made, 2)
      yield* Effect.repeatN(Effect.yieldNow(), 10)
      assert.strictEqual(open(), 0)
    }))

  describe("closes what it opened, before it fails,", () => {
    const closes = (fail: (server: TestPeer.TestPeer) => Effect.Effect<unknown, unknown>) =>
      Effect.gen(function*() {
        const { connector, open, server } = yield* servers
        const connecting = yield* Effect.fork(Effect.either(Client.make(connector, legacy)))
        yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
        yield* fail(server())
        const ended = yield* Fiber.join(connecting)
        assert.strictEqual(ended._tag, "Left")
        // The scope is still open.
        assert.strictEqual(open(), 0)
      })

    it.scoped("when the two have no revision in common", () =>
      closes((server) => server.initialized({ version: "1999-01-01" }).pipe(Effect.sandbox, Effect.ignore)))

    it.scoped("when the server refuses", () =>
      closes((server) =>
        Effect.flatMap(
          server.expectRequest("initialize"),
          ({ id }) => server.send(Message.failure(id, { code: -32603, message: "no" }))
        )
      ))

    it.scoped("when the server hangs up", () => closes((server) => Effect.zipRight(server.next, server.hangUp)))

    it.scoped("when the server does not answer", () =>
      closes((server) => Effect.zipRight(server.next, TestClock.adjust("1 minute"))))
  })

  it.scoped("closes what it opened when it is interrupted", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const connecting = yield* Effect.fork(Client.make(connector, legacy))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().expectRequest("initialize")
      yield* Fiber.interrupt(connecting)
      assert.strictEqual(open(), 0)
    }))

  it.scoped("closes what it opened when connecting fails half-way", () =>
    Effect.gen(function*() {
      let open = 0
      const error = new LocalError.TransportError({ reason: "Open", message: "Half-way" })
      const half = Connector.make(
        "half",
        Effect.zipRight(
          Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--)),
          Effect.fail(error)
        )
      )
      assert.strictEqual(yield* failure(Client.make(half)), error)
      assert.strictEqual(open, 0)
    }))

  it.effect("stays connected until the scope closes", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const scope = yield* Scope.make()
      const connecting = yield* Effect.fork(Scope.extend(Client.make(connector, legacy), scope))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().initialized()
      const client = yield* Fiber.join(connecting)
      yield* answered(server(), client.ping(), "ping", {})
      assert.strictEqual(open(), 1)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(open(), 0)
      assert.strictEqual((yield* failure(client.ping()))._tag, "ConnectionClosed")
    }).pipe(Effect.scoped))

  it.scoped("connects again with the same connector, in a new session", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const connect = Effect.gen(function*() {
        const before = open()
        const connecting = yield* Effect.fork(Client.make(connector, legacy))
        yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === before + 1 })
        const mine = server()
        yield* mine.initialized()
        return [yield* Fiber.join(connecting), mine] as const
      })
      const [first, firstServer] = yield* connect
      const [second, secondServer] = yield* connect
      yield* answered(secondServer, second.ping(), "ping", {})
      yield* answered(firstServer, first.ping(), "ping", {})
      assert.strictEqual(open(), 2)
    }))

  it.scoped("connects in an uninterruptible region, and closes there", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const using = yield* Effect.fork(Effect.uninterruptible(Effect.scoped(
        Effect.flatMap(Client.make(connector, legacy), (client) => Effect.scoped(client.ping()))
      )))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().initialized()
      const { id } = yield* server().expectRequest("ping")
      yield* server().send(Message.success(id, {}))
      yield* Fiber.join(using)
      assert.strictEqual(open(), 0)
    }))
})

describe("Client.layer", () => {
  it.scoped("is connected as long as the layer lives, and needs what the connector needs", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      const addressed = Connector.make("addressed", Effect.zipRight(Address, connector.connect))
      const layer: Layer.Layer<Client.Client, unknown, Address> = Client.layer(addressed, legacy)
      const using = yield* Effect.fork(
        Effect.flatMap(Client.Client, (client) => client.ping()).pipe(
          Effect.provide(Layer.provide(layer, Layer.succeed(Address, "here")))
        )
      )
      yield* Effect.repeat(Effect.yieldNow(), { until: () => open() === 1 })
      yield* server().initialized()
      const { id } = yield* server().expectRequest("ping")
      yield* server().send(Message.success(id, {}))
      yield* Fiber.join(using)
      assert.strictEqual(open(), 0)
    }))

  it.scoped("fails to build when the server cannot be reached, and can be built again", () =>
    Effect.gen(function*() {
      const { connector, open, server } = yield* servers
      let attempts = 0
      const reluctant = Connector.make(
        "reluctant",
        Effect.suspend(() =>
          ++attempts < 3
            ? Effect.zipRight(connector.connect, new LocalError.TransportError({ reason: "Open", message: "Not yet" }))
            : connector.connect
        )
      )
      const building = yield* Effect.fork(Layer.build(Layer.retry(Client.layer(reluctant), Schedule.recurs(5))))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => attempts === 3 && open() > 0 })
      yield* server().discovered()
      yield* Fiber.join(building)
      assert.strictEqual(open(), 1)
    }))
})

describe("Client.of", () => {
  it.scoped("sends nothing to the server", () =>
    Effect.gen(function*() {
      const [server, connector] = yield* TestPeer.server()
      const Greet = Tool.make("greet")
      const building = yield* Effect.fork(
        Effect.provide(
          Effect.map(Client.Client, Client.of(Definition.make(Greet))),
          yield* Effect.map(
            Effect.zip(Layer.build(Client.layer(connector)), Effect.orDie(server.discovered()), { concurrent: true }),
            ([context]) => context
          )
        )
      )
      const typed = yield* Fiber.join(building)
      assert.deepStrictEqual(Object.keys(typed), ["greet"])
      assert.isFunction(typed.greet)
    }))
})

class One extends Client.Tag("One")<One>() {}
class Two extends Client.Tag("Two")<Two>() {}

describe("Client.Tag", () => {
  it.scoped("makes a service for each of several servers", () =>
    Effect.gen(function*() {
      const Name = Tool.make("name", { success: Schema.String })
      const server = (name: string) =>
        InProcess.fromLayer(
          McpServer.layer({ name, version: "1.0.0" }, McpServer.tool(Name, () => Effect.succeed(`I am ${name}`)))
        )
      const both = Effect.all([
        Effect.map(One, ({ serverInfo }) => serverInfo?.name),
        Effect.flatMap(Two, (two) => Client.of(two, Definition.make(Name)).name())
      ])
      const live = Layer.merge(One.layer(server("one")), Two.layer(server("two"), legacy))
      assert.deepStrictEqual(yield* Effect.provide(both, live), ["one", "I am two"])
    }))
})
