import { assert, describe, it } from "@effect/vitest"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as Client from "@effect-mcp/core/Client"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppView from "@effect-mcp/extensions/AppView"
import { Deferred, Effect, Fiber, Layer, Logger, Option, Schema, Stream, TestClock } from "effect"
import { client, eras, serving } from "./Serving.js"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}

const Search = Tool.make("search", {
  description: "Full-text search over the notes.",
  parameters: { q: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
  success: Schema.Struct({ hits: Schema.Array(Schema.String) }),
  failure: NotFound,
  annotations: { readOnlyHint: true }
})

const SearchLive = McpServer.tool(
  Search,
  ({ limit, q }) => q === "" ? new NotFound({ q }) : Effect.succeed({ hits: [`${q}:${limit}`] })
)

const named = (name: string, answer = name) => McpServer.tool(Tool.make(name), () => Effect.succeed(answer))

const names = ({ tools }: ToolList.ToolList) => tools.map(({ name }) => name)

for (const [era, versions] of eras) {
  describe(`The tool list of a model, in the ${era} era`, () => {
    it.scoped("has the tools of a session, with their schemas, annotations and defaults", () =>
      Effect.gen(function*() {
        const list = yield* ToolList.make(yield* client(SearchLive, { versions }))
        const [search] = list.tools
        assert.deepInclude(search, {
          name: "search",
          description: "Full-text search over the notes.",
          server: "test",
          isStrict: false
        })
        assert.deepStrictEqual(search?.tool.annotations, { readOnlyHint: true })
        assert.deepNestedInclude(search!.inputSchema, { "properties.limit.default": 10 })
        assert.strictEqual(list.get("search"), search)
        assert.strictEqual(list.get("other"), undefined)
      }))

    it.scoped("MUST NOT have a tool that is for views only, nor call it", () =>
      Effect.gen(function*() {
        const meta = AppView.meta("ui://notes/list", { visibility: ["app"] })
        const features = Layer.merge(named("own"), McpServer.tool(Tool.make("refresh", { meta }), () => Effect.void))
        const list = yield* ToolList.make(yield* client(features, { versions }))
        assert.deepStrictEqual(names(list), ["own"])
        assert.deepStrictEqual(list.skipped, [{
          server: "test",
          tool: "refresh",
          reason: "is for the views of the server only"
        }])
        assert.isTrue((yield* list.call("refresh", {})).isError)
      }))

    it.scoped("calls a tool with an object or its JSON text, and gives what goes back to the model", () =>
      Effect.gen(function*() {
        const list = yield* ToolList.make(yield* client(SearchLive, { versions }))
        const output = yield* list.call("search", { q: "effect" })
        assert.isFalse(output.isError)
        assert.strictEqual(output.text, "{\"hits\":[\"effect:10\"]}")
        assert.deepStrictEqual(output.structured, { hits: ["effect:10"] })
        assert.deepStrictEqual((yield* list.call("search", "{\"q\":\"a\",\"limit\":2}")).structured, { hits: ["a:2"] })
      }))

    it.scoped("turns everything that goes wrong into words for the model", () =>
      Effect.gen(function*() {
        const features = Layer.mergeAll(
          SearchLive,
          McpServer.tool(Tool.make("slow"), () => Effect.never),
          McpServer.tool(Tool.make("buggy"), () => Effect.dieMessage("secret"))
        )
        const list = yield* ToolList.make(yield* client(features, { versions }))
        const text = (name: string, args: unknown) =>
          Effect.map(list.call(name, args), (output) => {
            assert.isTrue(output.isError)
            return output.text
          })
        assert.include(yield* text("search", { q: "" }), "NotFound")
        assert.include(yield* text("search", { q: 7 }), "q: Expected string, actual 7")
        assert.strictEqual(yield* text("none", {}), "There is no tool \"none\".")
        for (const args of ["{", "[]", "7", [], 7]) {
          assert.strictEqual(yield* text("search", args), "The arguments of \"search\" must be a JSON object.")
        }
        assert.include(yield* text("search", ""), "q: is missing")
        assert.strictEqual(yield* text("buggy", {}), "Internal error")
        const slow = yield* Effect.fork(text("slow", {}))
        yield* Effect.yieldNow()
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(yield* Fiber.join(slow), "The tool \"slow\" did not answer in time.")
      }))

    it.scoped("cancels the call when its effect is interrupted", () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<void>()
        const Wait = McpServer.tool(Tool.make("wait"), () =>
          Deferred.succeed(begun, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
          ))
        const list = yield* ToolList.make(yield* client(Wait, { versions }))
        const call = yield* Effect.fork(list.call("wait", {}))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(call)
        yield* Deferred.await(ended)
      }))

    it.scopedLive("follows the changes of a server, and each tool that stays keeps its name", () =>
      Effect.gen(function*() {
        const { add, connector } = yield* serving(named("a.b"), { versions })
        const session = yield* Client.make(connector, { versions })
        const following = yield* ToolList.follow(session)
        assert.deepStrictEqual(names(yield* following.current), ["a_b"])
        const changed = (count: number) =>
          Stream.runHead(Stream.filter(following.changes, ({ tools }) => tools.length === count))
        const remove = yield* add(named("a_b", "second"))
        yield* changed(2)
        const both = yield* following.current
        assert.deepStrictEqual(names(both), ["a_b", "a_b_2"])
        assert.strictEqual((yield* both.call("a_b", {})).text, "a.b")
        assert.strictEqual((yield* both.call("a_b_2", {})).text, "second")
        yield* remove
        yield* changed(1)
        assert.deepStrictEqual(names(yield* following.current), ["a_b"])
      }))

    it.scoped("lists the tools at most once a second, however often the server reports changes", () =>
      Effect.gen(function*() {
        const { add, connector } = yield* serving(named("a"), { versions })
        const session = yield* Client.make(connector, { versions })
        let lists = 0
        const tools = Stream.suspend(() => {
          lists++
          return session.tools
        })
        yield* ToolList.follow({ ...session, tools })
        const flood = Effect.zipRight(Effect.flatten(add(named("b"))), TestClock.adjust("10 millis"))
        yield* Effect.repeatN(flood, 299)
        assert.isAtLeast(lists, 3)
        assert.isAtMost(lists, 5)
      }))
  })
}

describe("The tool list of a model", () => {
  it.scoped("has the tools of all servers of a group, each under a name of its own", () =>
    Effect.gen(function*() {
      const one = yield* serving(Layer.mergeAll(named("read", "one"), named("a/b", "slash")), { name: "one" })
      const two = yield* serving(Layer.mergeAll(named("read", "two"), named("a b", "space")), { name: "two" })
      const group = yield* ClientSessionGroup.make()
      yield* group.connect("one", one.connector)
      yield* group.connect("two", two.connector)
      const following = yield* ToolList.follow(group)
      const list = yield* following.current
      assert.deepStrictEqual(
        list.tools.map(({ name, server, tool }) => [name, server, tool.name]),
        [["a_b", "one", "a/b"], ["read", "one", "read"], ["a_b_2", "two", "a b"], ["two_read", "two", "read"]]
      )
      assert.strictEqual((yield* list.call("two_read", {})).text, "two")
      assert.strictEqual((yield* list.call("a_b_2", {})).text, "space")
      yield* two.add(named("write"))
      yield* Stream.runHead(Stream.filter(following.changes, ({ tools }) => tools.length === 5))
      yield* group.disconnect("one")
      yield* Stream.runHead(Stream.filter(following.changes, ({ tools }) => tools.length === 3))
      assert.strictEqual((yield* list.call("a_b", {})).text, "The tool \"a_b\" is not available at the moment.")
    }))

  it.scoped("has names that every model accepts, of any tools", () =>
    Effect.gen(function*() {
      const odd = ["7up", "-dash", "x".repeat(128), `${"x".repeat(127)}y`, "a:b", "a b", "naïve"]
      const session = yield* client(Layer.mergeAll(named("plain"), ...odd.map((name) => named(name))))
      const list = yield* ToolList.make(session)
      for (const name of names(list)) assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
      assert.strictEqual(new Set(names(list)).size, odd.length + 1)
      for (const { name, tool } of list.tools) assert.strictEqual((yield* list.call(name, {})).text, tool.name)
    }))

  it.scoped("has the same name for a tool whose own is too long, whether or not another begins as it does", () =>
    Effect.gen(function*() {
      const [x, y] = ["x", "y"].map((end) => named(`${"n".repeat(127)}${end}`))
      const listed = (features: typeof x & {}) => Effect.flatMap(client(features), (session) => ToolList.make(session))
      assert.strictEqual(names(yield* listed(Layer.merge(x!, y!)))[1], names(yield* listed(y!))[0])
    }))

  it.scoped("is named, filtered and limited by its options", () =>
    Effect.gen(function*() {
      const session = yield* client(Layer.mergeAll(SearchLive, named("a"), named("b"), named("c")))
      const list = yield* ToolList.make(session, {
        name: (name, server) => name === "a" ? undefined : `${server}__${name}`,
        maxTools: 2
      })
      assert.deepStrictEqual(names(list), ["test__b", "test__c"])
      assert.deepStrictEqual(list.skipped, [{ server: "test", tool: "search", reason: "is over the limit of 2 tools" }])
      const short = yield* ToolList.make(session, { maxDescription: 10 })
      assert.strictEqual(short.get("search")?.description, "Full-text…")
      const typed = yield* ToolList.make(session, { definition: Definition.make(Search) })
      assert.deepStrictEqual(names(typed), ["search"])
    }))

  it.scoped("skips a tool whose arguments the model cannot write, and says why", () =>
    Effect.gen(function*() {
      const Filter = RawTool.make("filter", {
        inputSchema: { type: "object", properties: { "filter[name]": { type: "string" } } }
      })
      const session = yield* client(Layer.mergeAll(named("a"), McpServer.tool(Filter, () => Effect.succeed(""))))
      const list = yield* ToolList.make(session, { dialect: "anthropic" })
      assert.deepStrictEqual(names(list), ["a"])
      assert.include(list.skipped[0]?.reason, "filter[name]")
    }))

  it.scopedLive("skips a tool whose name the application cannot give, and follows what comes after", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        logged.push(message)
      })
      const { add, connector } = yield* serving(named("a"))
      const session = yield* Client.make(connector)
      yield* Effect.gen(function*() {
        const following = yield* ToolList.follow(session, {
          name: (name) => {
            if (name === "bad") throw new Error("no such prefix")
            return name
          }
        })
        yield* add(named("bad"))
        const [skipped] = (yield* Stream.runHead(Stream.filter(following.changes, ({ skipped }) => skipped.length > 0)))
          .pipe(Option.getOrThrow).skipped
        const reason = "has no name for the model: the option `name` threw \"no such prefix\""
        assert.deepStrictEqual(skipped, { server: "test", tool: "bad", reason })
        yield* add(named("b"))
        yield* Stream.runHead(Stream.filter(following.changes, ({ tools }) => tools.length === 2))
        assert.deepStrictEqual(names(yield* following.current), ["a", "b"])
        const none = yield* ToolList.make(session, {
          name: () => {
            throw new Error("no such prefix")
          }
        })
        assert.deepStrictEqual(none.skipped.map(({ tool }) => tool), ["a", "b", "bad"])
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      const told = "The tool \"bad\" of \"test\" has no name for the model: the option `name` threw \"no such prefix\""
      assert.deepStrictEqual(logged, [[told], [told], [`${told.replace("bad", "a")}; 2 more tools have no name`]])
    }))

  it.scoped("takes the nulls of OpenAI's strict form out of the arguments", () =>
    Effect.gen(function*() {
      const list = yield* ToolList.make(yield* client(SearchLive), { dialect: "openai-strict" })
      assert.isTrue(list.tools[0]?.isStrict)
      assert.deepStrictEqual((yield* list.call("search", { q: "a", limit: null })).structured, { hits: ["a:10"] })
    }))

  it.scoped("skips a tool without a strict form, where only strict ones can be used", () =>
    Effect.gen(function*() {
      const Any = RawTool.make("any", { inputSchema: { type: "object", properties: { value: {} } } })
      const session = yield* client(Layer.mergeAll(SearchLive, McpServer.tool(Any, () => Effect.succeed(""))))
      const both = yield* ToolList.make(session, { dialect: "openai-strict" })
      assert.deepStrictEqual(both.tools.map(({ isStrict, name }) => [name, isStrict]), [["any", false], [
        "search",
        true
      ]])
      const strict = yield* ToolList.make(session, { dialect: "openai-strict", onlyStrict: true })
      assert.deepStrictEqual(names(strict), ["search"])
      assert.include(strict.skipped[0]?.reason, "has arguments without a strict form")
    }))

  it.scoped("has the form of each provider", () =>
    Effect.gen(function*() {
      const session = yield* client(Layer.mergeAll(SearchLive, named("a")))
      const [a, search] = ToolList.openai(yield* ToolList.make(session, { dialect: "openai-strict" }))
      assert.deepInclude(search, { type: "function" })
      assert.deepNestedInclude(search as any, {
        "function.name": "search",
        "function.strict": true,
        "function.parameters.required": ["q", "limit"]
      })
      assert.deepNestedInclude(a as any, { "function.parameters.properties": {} })
      const [, response] = ToolList.openaiResponses(yield* ToolList.make(session, { dialect: "openai" }))
      assert.deepInclude(response, { type: "function", name: "search", strict: false })
      const [, claude] = ToolList.anthropic(yield* ToolList.make(session, { dialect: "anthropic" }))
      assert.deepNestedInclude(claude as any, { name: "search", "input_schema.required": ["q"] })
      const [declared] = ToolList.gemini(yield* ToolList.make(session, { dialect: "gemini" }))
      const { functionDeclarations } = declared as { readonly functionDeclarations: ReadonlyArray<object> }
      assert.deepNestedInclude(functionDeclarations[1] as any, { name: "search", "parameters.required": ["q"] })
      assert.deepStrictEqual(functionDeclarations[0], { name: "a", description: "a" })
    }))
})
