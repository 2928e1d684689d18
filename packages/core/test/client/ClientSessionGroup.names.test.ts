import { assert, describe, it } from "@effect/vitest"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import { Deferred, Effect, Fiber, Layer, Logger, Ref, Schedule, TestClock } from "effect"
import { answering, one, serving, text, tools, two, until } from "./Groups.js"
import { failure } from "./Scripts.js"

describe("A group of servers", () => {
  it.scoped("has the names of its hook for tools and prompts", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make({
        nameHook: (name, { info, name: server }) => `${server}.${info.name}.${name}`
      })
      for (const name of ["x", "y"]) yield* group.connect(name, (yield* serving(answering("a", name), "s")).connector)
      assert.deepStrictEqual(yield* tools(group), ["x.s.a", "y.s.a"])
      assert.strictEqual(text(yield* group.callTool("y.s.a")), "y")
    }))

  it.scoped("refuses a server with a name that another server has, and closes it, when `onCollision` is \"fail\"", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make({ onCollision: "fail" })
      const first = yield* serving(one)
      yield* group.connect("one", first.connector)
      const second = yield* serving(Layer.merge(answering("z", "z"), answering("a", "another")))
      const error = yield* failure(group.connect("two", second.connector))
      assert.deepInclude(error, { _tag: "DuplicateEntry", server: "two", kind: "tools", names: ["a"] })
      assert.strictEqual(second.conversations(), 0)
      assert.deepStrictEqual(yield* tools(group), ["a"])
      assert.deepStrictEqual([...(yield* group.sessions).keys()], ["one"])
      // The name of the server is free again.
      yield* group.connect("two", (yield* serving(two)).connector)
      assert.deepStrictEqual(yield* tools(group), ["a", "b"])
    }))

  it.scoped("sends the names that the servers use", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make({ nameHook: (name, { name: server }) => `${server}/${name}` })
      yield* group.connect("one", (yield* serving(one)).connector)
      const { prompts, resources, tools } = yield* group.entries
      assert.deepStrictEqual([...tools].map(([name, { value }]) => [name, value.name]), [["one/a", "a"]])
      assert.deepStrictEqual([...prompts].map(([name, { value }]) => [name, value.name]), [["one/ask", "ask"]])
      assert.deepStrictEqual([...resources.keys()], ["one:readme"])
      assert.strictEqual(text(yield* group.callTool("one/a")), "a of one")
      assert.lengthOf((yield* group.getPrompt("one/ask")).messages, 1)
      assert.deepInclude(yield* failure(group.getPrompt("ask")), {
        _tag: "UnknownEntry",
        kind: "prompts",
        entry: "ask"
      })
    }))

  it.scoped("leaves a name with the server that was connected first, when the list of another changes", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(two)
      yield* group.connect("one", (yield* serving(one)).connector)
      yield* group.connect("two", server.connector)
      yield* server.register("a")
      yield* server.register("c")
      yield* until(group, ["a", "b", "c", "two_a"])
      assert.strictEqual(text(yield* group.callTool("a")), "a of one")
      assert.strictEqual(text(yield* group.callTool("two_a")), "new")
    }))

  it.scoped("has every entry of the same server twice, and logs once which were renamed", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      yield* Effect.gen(function*() {
        const group = yield* ClientSessionGroup.make()
        const both = Layer.merge(one, two)
        for (const name of ["first", "second"]) yield* group.connect(name, (yield* serving(both)).connector)
        const { prompts, resources, templates, tools } = yield* group.entries
        assert.deepStrictEqual([tools, resources, templates, prompts].map((entries) => [...entries.keys()]), [
          ["a", "b", "second_a", "second_b"],
          ["one:readme", "second:one:readme"],
          ["two:note/{id}", "second:two:note/{id}"],
          ["ask", "second_ask"]
        ])
        assert.deepStrictEqual(tools.get("second_a")!.collision, { name: "a", server: "first" })
        assert.strictEqual(text(yield* group.callTool("second_a")), "a of one")
        const read = yield* group.readResource("second:one:readme")
        assert.deepInclude(read.contents[0], { uri: "one:readme", text: "the one" })
        const note = yield* group.readResource("second:two:note/7")
        assert.deepInclude(note.contents[0], { uri: "two:note/7", text: "note 7 of two" })
        assert.lengthOf((yield* group.getPrompt("second_ask")).messages, 1)
      }).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(String(message)))))
      )
      assert.lengthOf(logged, 4)
      assert.strictEqual(
        logged[0],
        "The server \"second\" has tools whose names other servers of the group have. They are renamed: \"a is second_a\", " +
          "\"b is second_b\". Give them other names, or leave them out, with the group's option `nameHook`"
      )
    }))

  it.scoped("leaves out what its hooks leave out, also of resources", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make({
        nameHook: (name, server) => server.name === "second" && name === "a" ? undefined : name,
        uriHook: (uri, { name }) => name === "first" ? undefined : uri
      })
      for (const name of ["first", "second"]) {
        yield* group.connect(name, (yield* serving(Layer.merge(one, two))).connector)
      }
      const { resources, templates } = yield* group.entries
      assert.deepStrictEqual(yield* tools(group), ["a", "b", "second_b"])
      for (const entries of [resources, templates]) {
        assert.deepStrictEqual([...entries.values()].map(({ server }) => server), ["second"])
      }
      assert.lengthOf((yield* group.readResource("one:readme")).contents, 1)
    }))

  it.scoped("leaves names with the server that was to be connected first, although it answers last", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const latch = yield* Deferred.make<void>()
      const [first, second] = [yield* serving(answering("a", "first")), yield* serving(answering("a", "second"))]
      const late = Connector.make("late", Effect.zipRight(Deferred.await(latch), first.connector.connect))
      const connecting = yield* Effect.fork(group.connect("first", late))
      yield* Effect.yieldNow()
      yield* group.connect("second", second.connector)
      assert.strictEqual(text(yield* group.callTool("a")), "second")
      yield* Deferred.succeed(latch, undefined)
      yield* Fiber.join(connecting)
      assert.deepStrictEqual(yield* tools(group), ["a", "second_a"])
      assert.strictEqual(text(yield* group.callTool("a")), "first")
      assert.strictEqual(text(yield* group.callTool("second_a")), "second")
      yield* group.disconnect("first")
      assert.deepStrictEqual(yield* tools(group), ["a"])
      assert.strictEqual(text(yield* group.callTool("a")), "second")
    }))

  it.scoped("keeps the names of a server that it reconnects to", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const first = yield* serving(answering("a", "first"))
      const current = yield* Ref.make(first.connector)
      const connector = Connector.make("first", Effect.flatMap(Ref.get(current), ({ connect }) => connect))
      yield* group.connect("first", connector, { reconnect: Schedule.spaced("10 seconds") })
      yield* group.connect("second", (yield* serving(answering("a", "second"))).connector)
      yield* Ref.set(current, (yield* serving(answering("a", "back"))).connector)
      yield* first.end
      yield* until(group, ["second_a"])
      assert.strictEqual((yield* failure(group.callTool("a")))._tag, "UnknownEntry")
      yield* TestClock.adjust("10 seconds")
      yield* until(group, ["a", "second_a"])
      assert.strictEqual(text(yield* group.callTool("a")), "back")
    }))
})
