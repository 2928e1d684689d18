import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Running } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Cause, Context, Effect, Exit, Layer, Ref, Schema } from "effect"
import { expectTypeOf } from "vitest"

class Negative extends Schema.TaggedError<Negative>()("Negative", { n: Schema.Number }) {}

const Root = Tool.make("root", {
  description: "The square root of a number.",
  parameters: { n: Schema.Number, digits: Schema.optionalWith(Schema.Int, { default: () => 2 }) },
  success: Schema.Struct({ root: Schema.Number }),
  failure: Negative
})
const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
const Sums = Definition.make(Root, Greet)

const RootLive = McpServer.tool(
  Root,
  ({ digits, n }) =>
    n < 0 ? Effect.fail(new Negative({ n })) : Effect.succeed({ root: Number(Math.sqrt(n).toFixed(digits)) })
)
const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))
const SumsLive = Layer.merge(RootLive, GreetLive)

for (const transport of ["wire", "direct"] as const) {
  describe(`TestServer over ${transport}`, () => {
    it.effect("calls a server through a typed client", () =>
      Effect.gen(function*() {
        const sums = Client.of(yield* Client.Client, Sums)
        assert.deepStrictEqual(yield* sums.root({ n: 2 }), { root: 1.41 })
        const negative = yield* Effect.flip(sums.root({ n: -1 }))
        assert.instanceOf(negative, Negative)
        assert.deepStrictEqual((yield* sums.greet({ name: "Ada" })).content, [{ type: "text", text: "Hello, Ada!" }])
      }).pipe(Effect.provide(TestServer.layer(Sums, SumsLive, { transport }))))

    it.effect("dies when the server lacks a resource, a template or a prompt of the definition", () =>
      Effect.gen(function*() {
        const promised = Definition.make(
          Resource.make("readme", { uri: "a:readme" }),
          ResourceTemplate.make("note")`a:note/${ResourceTemplate.param("id")}`,
          Prompt.make("hello")
        )
        const kept = Layer.mergeAll(
          McpServer.resource(Resource.make("readme", { uri: "a:other" }), Effect.succeed("")),
          McpServer.prompt(Prompt.make("bye"), () => Effect.succeed(""))
        )
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(TestServer.layer(promised, kept, { transport }))))
        assert.include(
          String((exit as Exit.Failure<never, never>).cause),
          "The server does not list: a:readme, a:note/{id}, hello"
        )
      }))

    it.effect("dies when the server lacks a tool of the definition", () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(TestServer.layer(Sums, GreetLive, { transport }))))
        assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("The server does not list: root"))
      }))

    it.effect("dies when it is given a server in place of the features of one", () =>
      Effect.gen(function*() {
        const server = McpServer.layer({ name: "sums", version: "1.0.0" }, SumsLive)
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(TestServer.layer(Sums, server, { transport }))))
        assert.include(
          String((exit as Exit.Failure<never, never>).cause),
          "The server does not list: root, greet. Give the server features for all entries of the definition"
        )
      }))
  })
}

describe("TestServer's wire", () => {
  it.effect("fails a test in which a side sends what the specification does not allow", () =>
    Effect.gen(function*() {
      const WrongLive = McpServer.tool(Greet, () =>
        Effect.gen(function*() {
          const session = yield* ServerSession
          yield* session.notify("notifications/message", { level: "loud", data: 1 })
          return "said"
        }))
      const exit = yield* Effect.exit(
        Effect.flatMap(Client.Client, (client) => client.callTool("greet", { name: "Ada" })).pipe(
          Effect.provide(TestServer.layer(Definition.make(Greet), WrongLive, { client: { versions: Version.legacy } }))
        )
      )
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("LoggingMessageNotification of 2025-11-25"))
    }))
})

describe("A result of an extension", () => {
  const Slow = Tool.make("slow", { task: "optional" })
  const SlowLive = McpServer.tool(Slow, () => Effect.never)
  const Server = McpServer.layer({ name: "test", version: "0.0.0" }, Layer.merge(SlowLive, TasksServer.layer), {
    extensions: [TasksServer.extension]
  }).pipe(Layer.provide(TaskStore.layerMemory))
  const call = (extensions?: TestServer.Options["extensions"]) =>
    Effect.gen(function*() {
      const capabilities = { extensions: { [TasksServer.extension.id]: {} } }
      const peer = (yield* TestPeer.client({ extensions })).modern({ capabilities })
      return yield* peer.expectResult(yield* peer.request("tools/call", { name: "slow" }))
    }).pipe(Effect.scoped, Effect.provide(Server))

  it.effect("is allowed where the test names the extension, and else the test fails with what to do", () =>
    Effect.gen(function*() {
      assert.propertyVal(yield* call([TasksServer.extension]), "resultType", "task")
      const exit = yield* Effect.exit(call())
      assert.isTrue(Exit.isFailure(exit))
      assert.include(
        String((exit as Exit.Failure<never, never>).cause),
        "name the extension in the option \"extensions\""
      )
    }))
})

describe("TestServer.connector", () => {
  it.effect("gives each client a transport of its own, to one server", () =>
    Effect.gen(function*() {
      const transcript = Transcript.make()
      const connector = yield* TestServer.connector({ transcript })
      const dispatcher = yield* Dispatcher
      yield* Effect.scoped(Effect.gen(function*() {
        const first = yield* Client.make(connector, { versions: Version.legacy })
        const second = yield* Client.make(connector, { versions: Version.legacy })
        assert.strictEqual(dispatcher.conversations(), 2)
        yield* second.callTool("greet", { name: "Ada" })
        yield* first.callTool("greet", { name: "Bob" })
        const calls = transcript.entries.map(Transcript.line).filter((line) => line.includes("tools/call"))
        // Both count their requests from the beginning.
        assert.deepStrictEqual(calls, [
          "client → 2 tools/call {\"name\":\"greet\",\"arguments\":{\"name\":\"Ada\"}}",
          "client → 2 tools/call {\"name\":\"greet\",\"arguments\":{\"name\":\"Bob\"}}"
        ])
      }))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => dispatcher.conversations() === 0 })
    }).pipe(Effect.provide(McpServer.layer({ name: "test", version: "0.0.0" }, SumsLive))))
})

describe("A test server that raises defects", () => {
  const Broken = Tool.make("broken")
  const call = Effect.flatMap(Client.Client, (client) => client.callTool("broken"))
  const run = (live: Effect.Effect<void>, options?: TestServer.Options) =>
    Effect.exit(Effect.provide(
      call,
      TestServer.layer(Definition.make(Broken), McpServer.tool(Broken, () => live), { raiseDefects: true, ...options })
    ))

  for (const transport of ["wire", "direct"] as const) {
    it.effect(`dies with the cause of a handler that died, over ${transport}`, () =>
      Effect.gen(function*() {
        const exit = yield* run(Effect.dieMessage("the bug"), { transport })
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
        assert.include(String(exit), "the bug")
      }))
  }

  it.effect("does not die without one, and passes defects on to the option of the server", () =>
    Effect.gen(function*() {
      assert.isTrue(Exit.isSuccess(yield* run(Effect.void)))
      const seen: Array<string | undefined> = []
      yield* run(Effect.dieMessage("the bug"), {
        onDefect: ({ subject }) => Effect.sync(() => seen.push(subject))
      })
      assert.deepStrictEqual(seen, [`tool "broken"`])
    }))

  it.effect("hides them by default", () =>
    Effect.gen(function*() {
      const exit = yield* run(Effect.dieMessage("the bug"), { raiseDefects: false })
      assert.isTrue(Exit.isSuccess(exit) && exit.value.isError)
    }))
})

describe("A test server with a session layer, middleware and features of its client", () => {
  class Cart extends Context.Tag("Cart")<Cart, Ref.Ref<number>>() {}
  class User extends Context.Tag("User")<User, string>() {}
  class Db extends Context.Tag("Db")<Db, { readonly price: number }>() {}

  const Buy = Tool.make("buy", { success: Schema.String })
  const Shop = Definition.make(Buy)
  const BuyLive = McpServer.tool(Buy, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const answer = yield* session.elicit({ message: "How many?", schema: Schema.Struct({ n: Schema.Int }) })
      const n = answer.action === "accept" ? answer.content.n : 0
      const total = yield* Ref.updateAndGet(yield* Cart, (cart) => cart + n)
      return `${yield* User}: ${total * (yield* Db).price}`
    }))
  const options = {
    session: Layer.effect(Cart, Ref.make(1)),
    middleware: Middleware.provide(User, () => Effect.succeed("ada"))
  }
  const DbLive = Layer.succeed(Db, { price: 10 })

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    for (const transport of ["wire", "direct"] as const) {
      it.effect(`calls handlers with their services at ${version} over ${transport}`, () =>
        Effect.gen(function*() {
          const shop = Client.of(yield* Client.Client, Shop)
          assert.strictEqual(yield* shop.buy(), "ada: 30")
          assert.strictEqual((yield* Client.Client).version, version)
        }).pipe(
          Effect.provide(TestServer.layer(Shop, BuyLive, {
            ...options,
            transport,
            versions: [version],
            client: { features: TestFeatures.elicitation([{ action: "accept", content: { n: 2 } }]) }
          })),
          Effect.provide(DbLive)
        ))
    }
  }

  it("requires what the server requires, without what the session layer and the middleware provide", () => {
    type Served<R> = Layer.Layer<Client.Client | Dispatcher | Running, ConnectError, R>
    expectTypeOf(TestServer.layer(Shop, BuyLive)).toEqualTypeOf<Served<Cart | User | Db>>()
    expectTypeOf(TestServer.layer(Shop, BuyLive, { session: options.session })).toEqualTypeOf<Served<User | Db>>()
    expectTypeOf(TestServer.layer(Shop, BuyLive, options)).toEqualTypeOf<Served<Db>>()
    const requiring = Layer.effect(Cart, Effect.flatMap(Effect.zipRight(RequestContext, Db), () => Ref.make(1)))
    const free = Middleware.provide(User, () => Effect.map(Effect.zipRight(RequestContext, Db), () => "ada"))
    const SellLive = McpServer.tool(Buy, () => Effect.map(Effect.zipRight(Cart, User), (user) => user))
    expectTypeOf(TestServer.layer(Shop, SellLive, { session: requiring, middleware: free })).toEqualTypeOf<
      Served<Db>
    >()
  })

  it("requires what the features of the client require, and fails as they do", () => {
    const features = ClientFeatures.elicitation(() => Effect.map(Db, () => ({ action: "cancel" }) as const))
    expectTypeOf(TestServer.layer(Shop, Layer.empty, { client: { features } })).toEqualTypeOf<
      Layer.Layer<Client.Client | Dispatcher | Running, ConnectError, Db>
    >()
    const failing = Layer.effectDiscard(Effect.fail("broken" as const))
    expectTypeOf(TestServer.layer(Shop, Layer.empty, { client: { features: failing } })).toEqualTypeOf<
      Layer.Layer<Client.Client | Dispatcher | Running, ConnectError | "broken", never>
    >()
  })

  it("does not compile in a test that provides too little, and the error names the missing service", () => {
    const run = (test: Effect.Effect<unknown, unknown>) => test
    const calls = Effect.flatMap(Effect.map(Client.Client, Client.of(Shop)), ({ buy }) => buy())
    run(calls.pipe(Effect.provide(TestServer.layer(Shop, BuyLive, options)), Effect.provide(DbLive)))
    // @ts-expect-error Type 'Db' is not assignable to type 'never'
    run(calls.pipe(Effect.provide(TestServer.layer(Shop, BuyLive, options))))
    const withoutSession = TestServer.layer(Shop, BuyLive, { middleware: options.middleware })
    // @ts-expect-error Type 'Cart' is not assignable to type 'never'
    run(calls.pipe(Effect.provide(withoutSession), Effect.provide(DbLive)))
  })

  it.effect("can be the server that the application serves", () =>
    Effect.gen(function*() {
      const shop = Client.of(yield* Client.Client, Shop)
      assert.strictEqual(yield* shop.buy(), "ada: 20")
    }).pipe(
      Effect.provide(
        TestServer.client(Shop, {
          client: { features: TestFeatures.elicitation([{ action: "accept", content: { n: 1 } }]) }
        }).pipe(
          Layer.provide(McpServer.layer({ name: "shop", version: "1.0.0" }, BuyLive, options)),
          Layer.provide(DbLive)
        )
      )
    ))
})
