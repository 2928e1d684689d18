import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as ClientSessionGroup from "@effect-mcp/client/ClientSessionGroup"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import * as Tool from "@effect-mcp/definition/Tool"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as McpServer from "@effect-mcp/server/McpServer"
import type { RegistryService } from "@effect-mcp/server/Registry"
import { Registry } from "@effect-mcp/server/Registry"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Ref, Schedule, Scope, Stream, TestClock } from "effect"
import { failure } from "./Scripts.js"

const answering = (name: string, answer: string) => McpServer.tool(Tool.make(name), () => Effect.succeed(answer))

const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

/** A server in this process, which can be ended and changed. */
const serving = <E, R>(features: Layer.Layer<never, E, R>, name = "test") =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const registered = yield* Deferred.make<RegistryService>()
    const found = Layer.effectDiscard(Effect.flatMap(Registry, (registry) => Deferred.succeed(registered, registry)))
    const context = yield* Layer.buildWithScope(
      McpServer.layer({ name, version: "1" }, Layer.merge(features, found)),
      scope
    )
    return {
      connector: yield* Effect.provide(InProcess.connector, context),
      conversations: () => Context.get(context as Context.Context<Dispatcher>, Dispatcher).conversations(),
      register: (tool: string) =>
        Effect.flatMap(Deferred.await(registered), (registry) =>
          Layer.buildWithScope(answering(tool, "new"), scope).pipe(Effect.provideService(Registry, registry))),
      end: Scope.close(scope, Exit.void)
    }
  })

const one = Layer.mergeAll(
  answering("a", "a of one"),
  McpServer.resource(Resource.make("readme", { uri: "one:readme" }), Effect.succeed("the one")),
  McpServer.prompt(Prompt.make("ask"), () => Effect.succeed("ask one"))
)
const two = Layer.mergeAll(
  answering("b", "b of two"),
  McpServer.resourceTemplate(
    ResourceTemplate.make("note")`two:note/${ResourceTemplate.param("id")}`,
    ({ id }) => Effect.succeed(`note ${id} of two`)
  )
)

const tools = (group: ClientSessionGroup.ClientSessionGroupService) =>
  Effect.map(group.entries, ({ tools }) => [...tools.keys()].sort())

/** Waits until the group's tools are these, however many steps it takes. */
const until = (group: ClientSessionGroup.ClientSessionGroupService, expected: ReadonlyArray<string>) =>
  group.changes.pipe(
    Stream.filter(({ tools }) => JSON.stringify([...tools.keys()].sort()) === JSON.stringify(expected)),
    Stream.runHead
  )

/** A connector that never connects. */
const hanging = Effect.gen(function*() {
  const opened = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const connector = Connector.make(
    "slow",
    Effect.zipRight(
      Effect.acquireRelease(Deferred.succeed(opened, undefined), () => Deferred.succeed(closed, undefined)),
      Effect.never
    )
  )
  return { connector, opened, closed }
})

describe("A group of servers", () => {
  it.scoped("has the entries of all its servers, and sends a call to the right one", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      yield* group.connect("one", (yield* serving(one)).connector)
      yield* group.connect("two", (yield* serving(two)).connector)
      assert.deepStrictEqual(yield* tools(group), ["a", "b"])
      assert.strictEqual(text(yield* group.callTool("a")), "a of one")
      assert.strictEqual(text(yield* group.callTool("b")), "b of two")
      assert.deepInclude((yield* group.readResource("one:readme")).contents[0], { text: "the one" })
      assert.deepInclude((yield* group.readResource("two:note/7")).contents[0], { text: "note 7 of two" })
      assert.deepInclude((yield* group.getPrompt("ask")).messages[0], { content: { type: "text", text: "ask one" } })
      assert.deepStrictEqual([...(yield* group.sessions).keys()], ["one", "two"])
    }))

  it.scoped("has the names of its hook for tools and prompts", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make({
        nameHook: (name, { info, name: server }) => `${server}.${info.name}.${name}`
      })
      for (const name of ["x", "y"]) yield* group.connect(name, (yield* serving(answering("a", name), "s")).connector)
      assert.deepStrictEqual(yield* tools(group), ["x.s.a", "y.s.a"])
      assert.strictEqual(text(yield* group.callTool("y.s.a")), "y")
    }))

  it.scoped("refuses a server with a name that another server has, and closes it", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
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

  it.scoped("refuses a second server of one name, and a server that cannot be reached", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const { connector } = yield* serving(one)
      yield* group.connect("one", connector)
      assert.strictEqual((yield* failure(group.connect("one", connector)))._tag, "DuplicateServer")
      const nowhere = Connector.make(
        "nowhere",
        Effect.fail(new LocalError.TransportError({ reason: "Open", message: "Connection refused" }))
      )
      assert.strictEqual((yield* failure(group.connect("two", nowhere)))._tag, "TransportError")
      assert.deepStrictEqual([...(yield* group.sessions).keys()], ["one"])
    }))

  it.scoped("disconnects servers in any order, each with its entries", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const servers = yield* Effect.forEach(["a", "b", "c"], (name) => serving(answering(name, name)))
      for (const [n, name] of ["one", "two", "three"].entries()) yield* group.connect(name, servers[n]!.connector)
      for (const [name, rest] of [["two", ["a", "c"]], ["one", ["c"]], ["three", []]] as const) {
        yield* group.disconnect(name)
        assert.deepStrictEqual(yield* tools(group), [...rest])
      }
      assert.deepStrictEqual(servers.map(({ conversations }) => conversations()), [0, 0, 0])
      assert.strictEqual((yield* failure(group.disconnect("two")))._tag, "UnknownServer")
      assert.deepInclude(yield* failure(group.callTool("a")), { _tag: "UnknownEntry", kind: "tools", name: "a" })
    }))

  it.scoped("closes all servers that it has connected with its scope", () =>
    Effect.gen(function*() {
      const servers = [yield* serving(one), yield* serving(two)]
      yield* Effect.scoped(Effect.gen(function*() {
        const group = yield* ClientSessionGroup.make()
        for (const [n, server] of servers.entries()) yield* group.connect(`${n}`, server.connector)
        assert.deepStrictEqual(servers.map(({ conversations }) => conversations()), [1, 1])
      }))
      assert.deepStrictEqual(servers.map(({ conversations }) => conversations()), [0, 0])
    }))

  it.effect("closes its servers concurrently", () =>
    Effect.gen(function*() {
      const closing = yield* Ref.make(0)
      const slow = ({ connect }: Connector.Connector) =>
        Connector.make(
          "slow",
          Effect.tap(
            connect,
            () =>
              Effect.addFinalizer(() => Effect.zipRight(Ref.update(closing, (n) => n + 1), Effect.sleep("2 seconds")))
          )
        )
      const scope = yield* Scope.make()
      const group = yield* Scope.extend(ClientSessionGroup.make(), scope)
      for (const name of ["a", "b", "c"]) {
        yield* group.connect(name, slow((yield* serving(answering(name, name))).connector))
      }
      const closed = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Ref.get(closing), 3)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closed)
    }).pipe(Effect.scoped))

  it.scoped("accepts a server that offers nothing, and disconnects it", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(Layer.empty)
      yield* group.connect("nothing", server.connector)
      yield* group.add("again", yield* Client.make(server.connector))
      assert.deepStrictEqual([...(yield* group.sessions).keys()], ["nothing", "again"])
      for (const kind of Object.values(yield* group.entries)) assert.strictEqual(kind.size, 0)
      for (const name of ["nothing", "again"]) yield* group.disconnect(name)
      assert.deepStrictEqual([...(yield* group.sessions).keys()], [])
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
      assert.deepInclude(yield* failure(group.getPrompt("ask")), { _tag: "UnknownEntry", kind: "prompts", name: "ask" })
    }))

  it.scoped("accepts a session that the application has connected, and does not close it", () =>
    Effect.gen(function*() {
      const server = yield* serving(one)
      const session = yield* Client.make(server.connector)
      const group = yield* ClientSessionGroup.make()
      yield* group.add("one", session)
      assert.strictEqual(text(yield* group.callTool("a")), "a of one")
      yield* group.disconnect("one")
      assert.deepStrictEqual(yield* tools(group), [])
      yield* session.ping()
    }))

  it.scoped("follows a server whose lists change", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(one)
      yield* group.connect("one", server.connector)
      yield* server.register("new")
      yield* until(group, ["a", "new"])
      assert.strictEqual(text(yield* group.callTool("new")), "new")
    }))

  it.scoped("leaves a name with the server that had it first, when the list of another changes", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(two)
      yield* group.connect("one", (yield* serving(one)).connector)
      yield* group.connect("two", server.connector)
      yield* server.register("a")
      yield* server.register("c")
      yield* until(group, ["a", "b", "c"])
      assert.strictEqual(text(yield* group.callTool("a")), "a of one")
    }))

  it.scoped("loses only the entries of a server that ends", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(one)
      yield* group.connect("one", server.connector)
      yield* group.connect("two", (yield* serving(two)).connector)
      yield* server.end
      yield* until(group, ["b"])
      assert.strictEqual((yield* failure(group.callTool("a")))._tag, "UnknownEntry")
      assert.strictEqual(text(yield* group.callTool("b")), "b of two")
      // Its place is free again.
      yield* Effect.repeat(Effect.yieldNow(), {
        until: () => Effect.map(group.sessions, (sessions) => !sessions.has("one"))
      })
      yield* group.connect("one", (yield* serving(one)).connector)
    }))

  it.scoped("reconnects to a server as the schedule says", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const first = yield* serving(one)
      const current = yield* Ref.make(first.connector)
      let tries = 0
      const connector = Connector.make(
        "one",
        Effect.flatMap(Ref.get(current), ({ connect }) =>
          Effect.suspend(() => {
            tries++
            return connect
          }))
      )
      yield* group.connect("one", connector, { reconnect: Schedule.spaced("10 seconds") })
      yield* Ref.set(
        current,
        Connector.make(
          "nowhere",
          Effect.fail(new LocalError.TransportError({ reason: "Open", message: "Connection refused" }))
        )
      )
      yield* first.end
      yield* until(group, [])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(tries, 2)
      assert.deepStrictEqual(yield* tools(group), [])
      yield* Ref.set(current, (yield* serving(answering("a", "back"))).connector)
      yield* TestClock.adjust("10 seconds")
      yield* until(group, ["a"])
      assert.strictEqual(text(yield* group.callTool("a")), "back")
      assert.strictEqual(tries, 3)
    }))

  it.scoped("does not reconnect to a server that was disconnected", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const server = yield* serving(one)
      yield* group.connect("one", server.connector, { reconnect: Schedule.spaced("1 second") })
      yield* group.disconnect("one")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(server.conversations(), 0)
      assert.deepStrictEqual([...(yield* group.sessions).keys()], [])
    }))

  it.scoped("has nothing of a server when connecting was interrupted", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const { closed, connector, opened } = yield* hanging
      const connecting = yield* Effect.fork(group.connect("slow", connector))
      yield* Deferred.await(opened)
      yield* Fiber.interrupt(connecting)
      yield* Deferred.await(closed)
      yield* group.connect("slow", (yield* serving(one)).connector)
    }))

  it.scoped("interrupts connecting when the server is disconnected meanwhile", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const { connector, opened } = yield* hanging
      const connecting = yield* Effect.fork(group.connect("slow", connector))
      yield* Deferred.await(opened)
      yield* group.disconnect("slow")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(connecting)))
      yield* group.connect("slow", (yield* serving(one)).connector)
      assert.deepStrictEqual(yield* tools(group), ["a"])
    }))

  it.scoped("interrupts connecting when it closes meanwhile, or has closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const group = yield* Scope.extend(ClientSessionGroup.make(), scope)
      const { connector, opened } = yield* hanging
      const connecting = yield* Effect.fork(group.connect("slow", connector))
      yield* Deferred.await(opened)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(connecting)))
      const late = yield* Effect.fork(group.connect("slow", connector))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(late)))
    }))

  it.scoped("is a layer, which is built when its servers are connected", () =>
    Effect.gen(function*() {
      const { connector } = yield* serving(one)
      const layer = ClientSessionGroup.layer({}, (group) => group.connect("one", connector))
      const answer = yield* Effect.flatMap(
        ClientSessionGroup.ClientSessionGroup,
        (group) => group.callTool("a")
      ).pipe(Effect.provide(layer))
      assert.strictEqual(text(answer), "a of one")
    }))
})
