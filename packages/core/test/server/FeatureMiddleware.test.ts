import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import {
  Context,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Metric,
  MetricBoundaries,
  Option,
  Ref,
  Schema,
  TestClock
} from "effect"
import { act, logbook } from "./Serving.js"
import { everything, useAll, used, watchingUses } from "./Surrounded.js"

class Cart extends Context.Tag("Cart")<Cart, string>() {}
class User extends Context.Tag("User")<User, string>() {}
class Quota extends Context.Tag("Quota")<Quota, string>() {}
class Db extends Context.Tag("Db")<Db, string>() {}

const eras = ["2025-11-25", "2026-07-28"] as const
const nothing = Definition.make()

for (const version of eras) {
  describe(`FeatureMiddleware, for clients of ${version}`, () => {
    it.effect("runs once around each handler of the features, and provides what the handlers require", () =>
      Effect.gen(function*() {
        const quotas: Array<string> = []
        const { middleware, seen } = watchingUses()
        const features = everything(Effect.map(Quota, (quota) => quotas.push(quota))).pipe(
          Feature.provide(Quota, Effect.map(RequestContext, ({ method }) => method)),
          FeatureMiddleware.around(middleware)
        )
        yield* Effect.provide(useAll, TestServer.layer(nothing, features, { versions: [version] }))
        assert.deepStrictEqual(quotas, used)
        // A list is not a use.
        assert.deepStrictEqual(seen, [
          "tool of tool tool",
          "resource of resource test://fixed",
          "resource of resourceTemplate test://template/{id}",
          "completion of resourceTemplate test://template/{id}",
          "prompt of prompt prompt",
          "completion of prompt prompt",
          "method of method x/custom"
        ])
      }))

    it.effect("gets what the handler gets, decoded, and the entry with its annotations and all of its scopes", () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const watch = FeatureMiddleware.make((use) =>
          Effect.zipRight(Effect.sync(() => seen.push([use.arguments, use.entry.scopes])), use.next)
        )
        const Move = Tool.make("move", {
          parameters: { to: Schema.NumberFromString, on: Schema.Date },
          annotations: { destructiveHint: true },
          requires: ["inner"]
        })
        const destructive: Array<unknown> = []
        const hints = FeatureMiddleware.make((use) => {
          if (use.kind === "tool") destructive.push(use.entry.advertised.annotations)
          return use.next
        })
        const features = Layer.mergeAll(
          McpServer.tool(Move, () => Effect.void),
          McpServer.resourceTemplate(
            ResourceTemplate.make("page")`page://${ResourceTemplate.param("n", Schema.NumberFromString)}`,
            ({ n }) => Effect.succeed(String(n + 1))
          ),
          McpServer.prompt(
            Prompt.make("add", { arguments: { n: Schema.NumberFromString } }),
            ({ n }) => Effect.succeed(String(n + 1))
          )
        ).pipe(FeatureMiddleware.around(watch), FeatureMiddleware.around(hints), Feature.requires(["outer"]))
        const User = Context.GenericTag<string>("test/Permitted")
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          yield* client.callTool("move", { to: "7", on: "2026-01-02T03:04:05Z" })
          yield* client.readResource("page://8")
          yield* client.getPrompt("add", { n: "9" })
        }).pipe(Effect.provide(TestServer.layer(nothing, features, {
          versions: [version],
          authenticator: Authenticator.make(User, {
            id: (id) => id,
            inProcess: Effect.succeed("ada"),
            permit: () => undefined
          })
        })))
        assert.deepStrictEqual(seen, [
          [{ to: 7, on: new Date("2026-01-02T03:04:05Z") }, ["outer", "inner"]],
          [{ n: 8 }, ["outer"]],
          [{ n: 9 }, ["outer"]]
        ])
        assert.deepStrictEqual(destructive, [{ destructiveHint: true }])
      }))

    it.effect("does not run for arguments that are refused, nor for an entry that the request does not see", () =>
      Effect.gen(function*() {
        const { middleware, seen } = watchingUses()
        const Strict = Tool.make("strict", { parameters: { n: Schema.Number } })
        const features = Layer.merge(
          McpServer.tool(Strict, () => Effect.void),
          McpServer.tool(Tool.make("hidden", { parameters: { n: Schema.Number } }), () => Effect.void).pipe(
            Feature.visible(Effect.succeed(false))
          )
        ).pipe(FeatureMiddleware.around(middleware))
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          assert.isTrue((yield* client.callTool("strict", { n: "x" })).isError)
          const unknown = yield* Effect.flip(client.callTool("hidden", { n: "x" }))
          assert.deepInclude(unknown, { message: "Unknown tool: hidden" })
        }).pipe(Effect.provide(TestServer.layer(nothing, features, { versions: [version] })))
        assert.deepStrictEqual(seen, [])
      }))

    it.effect("of one tool leaves every other use alone, also of another tool with the same name", () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const Buy = Tool.make("buy", { parameters: { n: Schema.Number } })
        const ofBuy = FeatureMiddleware.around(
          FeatureMiddleware.forTool(Buy, ({ arguments: { n }, next }) =>
            Effect.zipRight(
              Effect.sync(() => seen.push(n)),
              next
            ))
        )
        const features = Layer.merge(McpServer.tool(Buy, () => Effect.void), everything(Effect.void)).pipe(ofBuy)
        const other = McpServer.tool(Tool.make("buy"), () => Effect.void).pipe(ofBuy)
        yield* Effect.zipRight(useAll, Effect.flatMap(Client.Client, (client) => client.callTool("buy", { n: 3 })))
          .pipe(
            Effect.provide(TestServer.layer(nothing, features, { versions: [version] }))
          )
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("buy")).pipe(
          Effect.provide(TestServer.layer(nothing, other, { versions: [version] }))
        )
        assert.deepStrictEqual(seen, [3])
      }))

    it.effect("may replace the result, and what is around it sees the new one", () =>
      Effect.gen(function*() {
        const outside: Array<unknown> = []
        const features = act(Effect.void, "tool").pipe(
          FeatureMiddleware.around(FeatureMiddleware.make(() => Effect.succeed(text("replaced")))),
          FeatureMiddleware.around(FeatureMiddleware.make(({ next }) =>
            Effect.tap(next as Effect.Effect<unknown, unknown>, (result) => Effect.sync(() => outside.push(result)))
          ))
        )
        const result = yield* Effect.flatMap(Client.Client, (client) =>
          client.callTool("tool")).pipe(
            Effect.provide(TestServer.layer(nothing, features, { versions: [version] }))
          )
        assert.deepStrictEqual(result.content, text("replaced").content)
        assert.deepStrictEqual(outside, [text("replaced")])
      }))

    it.effect("leaves the features alone that it is not around", () =>
      Effect.gen(function*() {
        const { middleware, seen } = watchingUses()
        const features = Layer.merge(
          act(Effect.void, "inside").pipe(FeatureMiddleware.around(middleware)),
          everything(Effect.void)
        )
        yield* Effect.provide(useAll, TestServer.layer(nothing, features, { versions: [version] }))
        assert.deepStrictEqual(seen, [])
      }))

    it.effect("runs inside of the server's, with what the session layer and those outside provide", () =>
      Effect.gen(function*() {
        const order: Array<string> = []
        const noting = <R>(name: string, what: Effect.Effect<string, never, R>) =>
          Middleware.make((call, next) =>
            Effect.zipRight(
              Effect.map(what, (value) => {
                if (call.method === "tools/call") order.push(`${name} ${value}`)
              }),
              next
            )
          )
        const feature = act(Effect.map(Effect.all([Cart, User, Quota, Db]), (all) => order.push(all.join(" "))), "tool")
          .pipe(
            FeatureMiddleware.around(FeatureMiddleware.make(({ next }) =>
              Effect.zipRight(
                Effect.map(Effect.all([Cart, User, Quota, Db]), (all) => order.push(`inner ${all.join(" ")}`)),
                next
              )
            )),
            Feature.provide(Quota, Effect.map(Effect.all([Cart, User]), ([c, u]) => c + u))
          )
        const server = TestServer.layer(nothing, feature, {
          versions: [version],
          session: Layer.effect(Cart, Effect.map(RequestContext, ({ method }) => method.slice(0, 5))),
          middleware: Middleware.compose(
            noting("outer", Effect.succeed("")),
            Middleware.provide(User, () => Effect.succeed("ada"))
          ),
          sessionMiddleware: noting("session", Effect.map(Effect.all([Cart, User]), (all) => all.join(" ")))
        })
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(server),
          Effect.provideService(Db, "db")
        )
        const cart = version === "2025-11-25" ? "initi" : "serve"
        const all = `${cart} ada ${cart}ada db`
        assert.deepStrictEqual(order, ["outer ", `session ${cart} ada`, `inner ${all}`, all])
      }))

    it.effect("runs with the services of its own layer, and the handler with those of the feature", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const note = (name: string) => Effect.map(Db, (db) => seen.push(`${name} ${db}`))
        const feature = act(note("handler"), "tool").pipe(
          Layer.provide(Layer.succeed(Db, "of the feature")),
          FeatureMiddleware.around(FeatureMiddleware.make(({ next }) => Effect.zipRight(note("middleware"), next))),
          Layer.provide(Layer.succeed(Db, "of the middleware"))
        )
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version] }))
        )
        assert.deepStrictEqual(seen, ["middleware of the middleware", "handler of the feature"])
      }))

    it.effect("refuses a request with an McpError; the handler does not run", () =>
      Effect.gen(function*() {
        let ran = 0
        const refuse = FeatureMiddleware.make(() => Effect.fail(new InvalidRequest({ message: "not you" })))
        const features = everything(Effect.sync(() => ran++)).pipe(FeatureMiddleware.around(refuse))
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const requests: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            client.callTool("tool"),
            client.readResource("test://fixed"),
            client.readResource("test://template/7"),
            client.complete({ type: "ref/resource", uri: "test://template/{id}" }, { name: "id", value: "" }),
            client.getPrompt("prompt", { a: "" }),
            client.complete({ type: "ref/prompt", name: "prompt" }, { name: "a", value: "" }),
            client.request("x/custom", {})
          ]
          for (const request of requests) {
            assert.deepInclude((yield* Effect.flip(request)) as object, { _tag: "InvalidRequest", message: "not you" })
          }
        }).pipe(Effect.provide(TestServer.layer(nothing, features, { versions: [version] })))
        assert.strictEqual(ran, 0)
      }))

    it.effect("refuses a tool call with a failure that the tool declares, which the middleware outside sees as a result", () =>
      Effect.gen(function*() {
        class Spent extends Schema.TaggedError<Spent>()("Spent", { limit: Schema.Number }) {}
        const Buy = Tool.make("buy", { success: Schema.String, failure: Spent })
        const outside: Array<unknown> = []
        const feature = McpServer.tool(Buy, () => Effect.succeed("bought")).pipe(
          FeatureMiddleware.around(FeatureMiddleware.make(() => new Spent({ limit: 3 }))),
          FeatureMiddleware.around(
            FeatureMiddleware.forTool(
              Buy,
              ({ next }) => Effect.tap(next, (end) => Effect.sync(() => outside.push(end)))
            )
          )
        )
        yield* Effect.gen(function*() {
          const { buy } = Client.of(yield* Client.Client, Definition.make(Buy))
          assert.deepStrictEqual(yield* Effect.flip(buy()), new Spent({ limit: 3 }))
          assert.lengthOf(outside, 1)
          assert.deepInclude(outside[0] as object, { isError: true })
        }).pipe(Effect.provide(TestServer.layer(Definition.make(Buy), feature, { versions: [version] })))
      }))

    it.effect("of a failure that the tool does not declare, tells the client nothing, and the operator the cause", () =>
      Effect.gen(function*() {
        const { layer, lines } = logbook()
        const feature = act(Effect.void, "tool").pipe(
          FeatureMiddleware.around(FeatureMiddleware.make(() => Effect.fail(new Error("the password is hunter2"))))
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const failed = yield* client.callTool("tool")
          assert.deepStrictEqual([failed.isError, failed.content], [true, [{ type: "text", text: "Internal error" }]])
        }).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version] })),
          Effect.provide(layer)
        )
        assert.isTrue(lines.some(({ cause, message }) => `${message} ${String(cause)}`.includes("hunter2")))
      }))

    it.effect("is interrupted with its handler when the client cancels the call", () =>
      Effect.gen(function*() {
        const [began, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const feature = act(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never), "tool").pipe(
          FeatureMiddleware.around(
            FeatureMiddleware.make(({ next }) => Effect.onInterrupt(next, () => Deferred.succeed(stopped, undefined)))
          )
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const calling = yield* Effect.fork(client.callTool("tool"))
          yield* Deferred.await(began)
          yield* Fiber.interruptFork(calling)
          yield* Deferred.await(stopped)
        }).pipe(Effect.provide(TestServer.layer(nothing, feature, { versions: [version] })))
      }))

    it.effect("may ask the person before the handler runs", () => {
      const person = TestFeatures.elicitation([
        { action: "accept", content: { sure: true } },
        { action: "accept", content: { sure: false } }
      ])
      return Effect.gen(function*() {
        const [rounds, calls] = [yield* Ref.make(0), yield* Ref.make(0)]
        const confirmed = FeatureMiddleware.make(({ next }) =>
          Effect.gen(function*() {
            yield* Ref.update(rounds, (n) => n + 1)
            const session = yield* ServerSession
            const answer = yield* session.elicit({ message: "Sure?", schema: Schema.Struct({ sure: Schema.Boolean }) })
            return answer.action === "accept" && answer.content.sure
              ? yield* next
              : yield* new InvalidRequest({ message: "not sure" })
          })
        )
        const outcomes: Array<FeatureMiddleware.Outcome> = []
        const audit = FeatureMiddleware.audit(({ outcome }) => Effect.sync(() => outcomes.push(outcome)))
        const feature = act(Ref.update(calls, (n) => n + 1), "tool").pipe(
          FeatureMiddleware.around(confirmed),
          FeatureMiddleware.around(audit)
        )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          yield* client.callTool("tool")
          assert.deepStrictEqual(outcomes, version === "2026-07-28" ? ["asked", "success"] : ["success"])
          assert.strictEqual(yield* Ref.get(calls), 1)
          assert.deepInclude(yield* Effect.flip(client.callTool("tool")), { message: "not sure" })
          assert.strictEqual(yield* Ref.get(calls), 1)
          // From 2026-07-28 on, middleware and handler run again with the answer.
          assert.strictEqual(yield* Ref.get(rounds), version === "2026-07-28" ? 4 : 2)
        }).pipe(
          Effect.provide(TestServer.layer(nothing, feature, { versions: [version], client: { features: person } }))
        )
      })
    })

    it.effect("has its span around those of the handler", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const note = Effect.flatMap(Effect.currentSpan, (span) =>
          Effect.sync(() => {
            const parent = Option.match(span.parent, {
              onNone: () => "none",
              onSome: (parent) => parent._tag === "Span" ? parent.name : "external"
            })
            seen.push(`${parent} > ${span.name}`)
          }))
        const feature = act(Effect.orDie(Effect.withSpan(note, "handler")), "tool").pipe(
          FeatureMiddleware.around(FeatureMiddleware.make(({ next }) => Effect.withSpan(next, "inner"))),
          FeatureMiddleware.around(
            FeatureMiddleware.make(({ next }) => Effect.withSpan(Effect.zipRight(note, next), "outer"))
          )
        )
        yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
          Effect.provide(TestServer.layer(nothing, feature, {
            versions: [version],
            sessionMiddleware: Middleware.make((_, next) => Effect.withSpan(next, "session"))
          }))
        )
        assert.deepStrictEqual(seen, ["session > outer", "inner > handler"])
      }))

    it.effect("sees no service of another call at the same time", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const echo = McpServer.tool(Tool.make("echo", { parameters: { text: Schema.String } }), ({ text }) =>
          Effect.map(Effect.zipRight(Effect.yieldNow(), Quota), (quota) => {
            seen.push(`${text} ${quota}`)
          })).pipe(
            FeatureMiddleware.around(FeatureMiddleware.make((use) =>
              Effect.zipRight(
                Effect.yieldNow(),
                Effect.provideService(use.next as Effect.Effect<unknown, unknown>, Quota, JSON.stringify(use.arguments))
              )
            )),
            Feature.provide(Quota, Effect.succeed("of nobody"))
          )
        yield* Effect.gen(function*() {
          const client = yield* Client.Client
          const texts = ["a", "b", "c", "d"]
          yield* Effect.forEach(texts, (text) =>
            client.callTool("echo", { text }), { concurrency: "unbounded" })
          assert.sameMembers(
            seen,
            texts.map((text) =>
              `${text} {"text":"${text}"}`
            )
          )
        }).pipe(Effect.provide(TestServer.layer(nothing, echo, { versions: [version] })))
      }))
  })
}

const text = (text: string) => ({ content: [{ type: "text" as const, text }] })

describe("The stock middlewares", () => {
  const record = (entry: FeatureMiddleware.AuditRecord) => [entry.kind, entry.entry.name, entry.outcome, entry.took]

  it.effect("audit: tell of each use how it ended and how long it took", () =>
    Effect.gen(function*() {
      const records: Array<FeatureMiddleware.AuditRecord> = []
      const audit = FeatureMiddleware.audit((record) => Effect.sync(() => records.push(record)))
      const Search = Tool.make("search", { parameters: { q: Schema.String }, failure: Schema.String })
      const started = yield* Deferred.make<void>()
      const features = Layer.mergeAll(
        McpServer.tool(Search, ({ q }) => q === "" ? Effect.fail("nothing to search") : Effect.sleep("2 seconds")),
        McpServer.tool(Tool.make("refused"), () => Effect.fail(new InvalidRequest({ message: "not you" }))),
        act(Effect.die("a bug"), "broken"),
        act(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never), "long")
      ).pipe(FeatureMiddleware.around(audit))
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const searching = yield* Effect.fork(client.callTool("search", { q: "effect" }))
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(searching)
        yield* client.callTool("search", { q: "" })
        yield* Effect.flip(client.callTool("refused"))
        yield* client.callTool("broken")
        const calling = yield* Effect.fork(client.callTool("long"))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(calling)
        yield* client.ping()
      }).pipe(Effect.provide(TestServer.layer(nothing, features)))
      assert.deepStrictEqual(records.map(record), [
        ["tool", "search", "success", 2000],
        ["tool", "search", "failure", 0],
        ["tool", "refused", "error", 0],
        ["tool", "broken", "defect", 0],
        ["tool", "long", "interrupted", 0]
      ])
      assert.deepStrictEqual([records[0]!.began, records[0]!.arguments], [0, { q: "effect" }])
    }))

  it.effect("auditTool: tell of the calls of one tool, with its arguments by their types", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const Pay = Tool.make("pay", { parameters: { to: Schema.String, card: Schema.String } })
      const audit = FeatureMiddleware.auditTool(Pay, ({ arguments: { card, to }, entry, outcome }) => {
        expectTypeOf(card).toEqualTypeOf<string>()
        return Effect.sync(() => lines.push(`${entry.name} ${to} ${card} ${outcome}`))
      })
      const features = Layer.merge(McpServer.tool(Pay, () => Effect.void), act(Effect.void, "other")).pipe(
        FeatureMiddleware.around(audit)
      )
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        yield* client.callTool("other")
        yield* client.callTool("pay", { to: "ada", card: "123" })
      }).pipe(Effect.provide(TestServer.layer(nothing, features)))
      assert.deepStrictEqual(lines, ["pay ada 123 success"])
    }))

  it.effect("audit: that cannot be written is logged, and the result stays", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const features = act(Effect.void, "tool").pipe(
        FeatureMiddleware.around(FeatureMiddleware.audit(() => Effect.die("the disk is full")))
      )
      yield* Effect.flatMap(Client.Client, (client) => client.callTool("tool")).pipe(
        Effect.provide(TestServer.layer(nothing, features)),
        Effect.provide(layer)
      )
      assert.isTrue(lines.some(({ cause, message }) => `${message} ${String(cause)}`.includes("the disk is full")))
    }))

  it.effect("timing: count the seconds of each use", () =>
    Effect.gen(function*() {
      const metric = Metric.histogram("test.uses", MetricBoundaries.fromIterable([1, 10]))
      const features = act(Effect.sleep("3 seconds"), "tool").pipe(
        FeatureMiddleware.around(FeatureMiddleware.timing(metric))
      )
      yield* Effect.gen(function*() {
        const calling = yield* Effect.fork(Effect.flatMap(Client.Client, (client) => client.callTool("tool")))
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.join(calling)
      }).pipe(Effect.provide(TestServer.layer(nothing, features)))
      const tagged = metric.pipe(
        Metric.tagged("kind", "tool"),
        Metric.tagged("name", "tool"),
        Metric.tagged("outcome", "success")
      )
      const { count, sum } = yield* Metric.value(tagged)
      assert.deepStrictEqual([count, sum], [1, 3])
    }))

  it.effect("limitResult: tell a model that a result is too large, and refuse another one", () =>
    Effect.gen(function*() {
      const long = "x".repeat(200)
      const features = Layer.mergeAll(
        McpServer.tool(Tool.make("long"), () => Effect.succeed(long)),
        McpServer.tool(Tool.make("short"), () => Effect.succeed("x")),
        McpServer.resource(Resource.make("long", { uri: "long://a" }), Effect.succeed(long))
      ).pipe(FeatureMiddleware.around(FeatureMiddleware.limitResult({ characters: 100 })))
      yield* Effect.gen(function*() {
        const client = yield* Client.Client
        const sentence = (what: string, size: number) =>
          `The result of ${what} has ${size} characters, and at most 100 are allowed: ask for less`
        const result = yield* client.callTool("long")
        assert.deepStrictEqual([result.isError, result.content], [true, text(sentence("tool \"long\"", 239)).content])
        assert.isUndefined((yield* client.callTool("short")).isError)
        const error = yield* Effect.flip(client.readResource("long://a"))
        assert.match(String(error.message), /resource "long:\/\/a" has \d+ characters, and at most 100/)
      }).pipe(Effect.provide(TestServer.layer(nothing, features)))
    }))

  it.effect("redact: hide secrets in the texts and values of results of every kind, and leave the rest", () =>
    Effect.gen(function*() {
      const secret = "the token is Bearer abcdefghijklmnopqrstuvwxyz0123456789"
      const Login = Tool.make("login", { success: Schema.Struct({ password: Schema.String, user: Schema.String }) })
      const features = Layer.mergeAll(
        everything(Effect.void),
        McpServer.tool(Login, () => Effect.succeed({ password: "hunter2", user: "ada" })),
        McpServer.tool(
          Tool.make("embeds"),
          () => Effect.succeed(ToolResult.resource({ uri: "token://a", text: secret }))
        ),
        McpServer.resource(Resource.make("secret", { uri: "secret://a" }), Effect.succeed(secret)),
        McpServer.prompt(Prompt.make("secret"), () => Effect.succeed(secret))
      ).pipe(FeatureMiddleware.around(FeatureMiddleware.redact()))
      yield* Effect.gen(function*() {
        yield* useAll
        const client = yield* Client.Client
        const { structuredContent, ...login } = yield* client.callTool("login")
        assert.deepInclude(structuredContent, { user: "ada" })
        const shown = JSON.stringify([
          structuredContent,
          login,
          yield* client.callTool("embeds"),
          yield* client.readResource("secret://a"),
          yield* client.getPrompt("secret")
        ])
        assert.notInclude(shown, "hunter2")
        assert.notInclude(shown, "abcdefghijklmnopqrstuvwxyz")
        assert.lengthOf(shown.match(/the token is/g) ?? [], 3)
        for (const uri of ["secret://a", "token://a"]) assert.include(shown, uri)
      }).pipe(Effect.provide(TestServer.layer(nothing, features)))
    }))
})

const needs = <O, E, R>(_layer: Layer.Layer<O, E, R>) => expectTypeOf<R>()

describe("The types of what surrounds features", () => {
  const info = { name: "typed", version: "1.0.0" }
  const buy = act(Effect.all([Cart, User, Quota, Db]))
  const quota = Effect.as(Effect.all([User, Cart, RequestContext]), "")
  const asks = FeatureMiddleware.make(({ next }) => Effect.zipRight(ServerSession, next))

  it("subtract the service that is provided, and add what making it requires, around one feature and around a group", () => {
    needs(buy.pipe(Feature.provide(Quota, quota))).toEqualTypeOf<Registry | Cart | User | Db>()
    needs(Feature.provide(buy, Quota, quota)).toEqualTypeOf<Registry | Cart | User | Db>()
    const group = Layer.mergeAll(buy, act(Quota)).pipe(Feature.provide(Quota, quota))
    needs(group).toEqualTypeOf<Registry | Cart | User | Db>()
    needs(McpServer.layer(info, group, { session: Layer.effect(Cart, User) })).toEqualTypeOf<User | Db>()
  })

  it("add what middleware requires, which may use the services inside of which it is", () => {
    const inner = FeatureMiddleware.around(FeatureMiddleware.make(({ next }) => Effect.zipRight(Quota, next)))
    needs(act(Effect.void).pipe(inner)).toEqualTypeOf<Registry | Quota>()
    needs(act(Effect.void).pipe(inner, Feature.provide(Quota, User))).toEqualTypeOf<Registry | User>()
  })

  it("let middleware ask the client", () => {
    needs(act(Effect.void).pipe(FeatureMiddleware.around(asks))).toEqualTypeOf<Registry>()
  })

  it("of the middleware of a tool are those of its definition", () => {
    const Pay = Tool.make("pay", { parameters: { cents: Schema.NumberFromString }, failure: Schema.Literal("poor") })
    FeatureMiddleware.forTool(Pay, ({ arguments: args, next }) => {
      expectTypeOf(args).toEqualTypeOf<{ readonly cents: number }>()
      return args.cents > 3 ? Effect.fail("poor" as const) : next
    })
    // @ts-expect-error: the tool does not declare the failure.
    FeatureMiddleware.forTool(Pay, () => Effect.fail("rich" as const))
  })
})
