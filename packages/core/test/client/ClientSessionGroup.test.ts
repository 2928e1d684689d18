import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import * as LocalError from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Array as Arr, Deferred, Effect, Exit, Fiber, Layer, Ref, Schedule, Scope, Stream, TestClock } from "effect"
import { answering, one, serving, text, tools, two, until } from "./Groups.js"
import { failure, legacyClient } from "./Scripts.js"

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

  it.scoped("gives a slow reader of the changes the newest entries, and keeps few older ones for it", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const started = yield* Deferred.make<void>()
      const mayGoOn = yield* Deferred.make<void>()
      const reading = yield* group.changes.pipe(
        Stream.tap(() => Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(mayGoOn))),
        Stream.takeUntil(({ tools }) => tools.has("last")),
        Stream.runCount,
        Effect.fork
      )
      yield* Deferred.await(started)
      const { connector } = yield* serving(one)
      for (let n = 0; n < 20; n++) {
        yield* group.connect("one", connector)
        yield* group.disconnect("one")
      }
      yield* group.connect("two", (yield* serving(answering("last", "last"))).connector)
      yield* Deferred.succeed(mayGoOn, undefined)
      assert.isAtMost(yield* Fiber.join(reading), 20)
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
      assert.deepInclude(yield* failure(group.callTool("a")), { _tag: "UnknownEntry", kind: "tools", entry: "a" })
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

  it.scoped("reads the lists again when that failed, until it succeeds", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const { client, server } = yield* legacyClient({ capabilities: { tools: { listChanged: true } } })
      const answer = (answer: JsonObject) =>
        Effect.flatMap(
          server.expectRequest("tools/list"),
          ({ id }) => server.send({ jsonrpc: "2.0", id, ...answer } as unknown as Message.Message)
        )
      const tool = (name: string) => ({ result: { tools: [{ name, inputSchema: { type: "object" } }] } })
      const adding = yield* Effect.fork(group.add("one", client))
      yield* answer(tool("a"))
      yield* Fiber.join(adding)
      yield* server.notify("notifications/tools/list_changed")
      yield* answer({ error: { code: -32603, message: "busy" } })
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(yield* tools(group), ["a"])
      yield* TestClock.adjust("1 millis")
      yield* answer(tool("b"))
      yield* until(group, ["b"])
    }))

  /** Connects, and ends it by `end` after so many steps of other fibers. */
  const interleaved = (
    steps: number,
    end: (group: ClientSessionGroup.ClientSessionGroupService, scope: Scope.CloseableScope) => Effect.Effect<unknown>
  ) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const group = yield* Scope.extend(ClientSessionGroup.make(), scope)
      const server = yield* serving(one)
      const connecting = yield* Effect.fork(group.connect("one", server.connector))
      for (let n = 0; n < steps; n++) yield* Effect.yieldNow()
      yield* end(group, scope)
      for (let n = 0; n < 5000 && connecting.unsafePoll() === null; n++) yield* Effect.yieldNow()
      assert.isNotNull(connecting.unsafePoll(), `${steps} steps: connect has not ended`)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(server.conversations(), 0, `${steps} steps`)
    }).pipe(Effect.scoped)

  it.effect(
    "always ends a connect that is met by a disconnect",
    () =>
      Effect.forEach(
        Arr.range(0, 149),
        (steps) => interleaved(steps, (group) => Effect.ignore(group.disconnect("one")))
      ),
    60_000
  )

  it.effect(
    "always ends a connect that is met by the closing of its scope",
    () => Effect.forEach(Arr.range(0, 149), (steps) => interleaved(steps, (_, scope) => Scope.close(scope, Exit.void))),
    60_000
  )

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
