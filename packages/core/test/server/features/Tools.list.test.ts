import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Registry from "@effect-mcp/core/Registry"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Encoding, Layer } from "effect"
import * as Tools from "../../../src/server/features/Tools.js"
import { connect, names, serve } from "../Serving.js"

const tools = (...names: ReadonlyArray<string>) =>
  names.map((name) => McpServer.tool(Tool.make(name), () => Effect.void))
    .reduce((all, one) => Layer.merge(all, one))

const list = (peer: TestPeer, cursor?: string) =>
  Effect.flatMap(peer.request("tools/list", cursor === undefined ? undefined : { cursor }), peer.expectResult)

/** The names on a page, and where the next one begins. */
const page = (peer: TestPeer, cursor?: string) =>
  Effect.map(list(peer, cursor), ({ nextCursor, tools }) => ({
    names: (tools as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name),
    nextCursor: nextCursor as string | undefined
  }))

const cursorAfter = (name: string) => Encoding.encodeBase64Url(`tools:${name}`)

describe("tools/list", () => {
  it.scoped("is in the order of names, whatever the order of features", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* names(yield* connect()), ["B", "a", "a10", "a2", "ä"])
    }).pipe(Effect.provide(serve(tools("a2", "ä", "a", "B", "a10")))))

  it.scoped("is one page when everything fits on one", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* page(peer), { names: ["a", "b"], nextCursor: undefined })
      assert.notProperty(yield* list(peer), "nextCursor")
    }).pipe(Effect.provide(serve(tools("a", "b"), { limits: { pageSize: 2 } }))))

  it.scoped("continues from page to page, each tool once", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const first = yield* page(peer)
      const second = yield* page(peer, first.nextCursor)
      const third = yield* page(peer, second.nextCursor)
      assert.deepStrictEqual([first, second, third].map(({ names }) => names), [["a", "b"], ["c", "d"], ["e"]])
      assert.isUndefined(third.nextCursor)
      assert.deepStrictEqual(yield* page(peer), first)
    }).pipe(Effect.provide(serve(tools("a", "b", "c", "d", "e"), { limits: { pageSize: 2 } }))))

  for (const pageSize of [0, -1, NaN, 0.5, 1.9]) {
    it.scoped(`holds at least one tool on a page of ${pageSize}`, () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        const first = yield* page(peer)
        assert.deepStrictEqual(first.names, ["a"])
        assert.deepStrictEqual(yield* page(peer, first.nextCursor), { names: ["b"], nextCursor: undefined })
      }).pipe(Effect.provide(serve(tools("a", "b"), { limits: { pageSize } }))))
  }

  it.scoped("begins with the first page for an empty cursor, which is none", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* list(peer, ""), yield* list(peer))
    }).pipe(Effect.provide(serve(tools("a")))))

  it.scoped("SHOULD refuse a cursor that it never gave, with -32602", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const foreign = [
        " ",
        "2",
        "not base64!",
        Encoding.encodeBase64Url("prompts:a"),
        Encoding.encodeBase64Url("a")
      ]
      for (const cursor of foreign) {
        const error = yield* peer.expectError(yield* peer.request("tools/list", { cursor }))
        assert.deepStrictEqual(error, {
          code: -32602,
          message: "Invalid params: the cursor does not belong to this list"
        })
      }
    }).pipe(Effect.provide(serve(tools("a", "b"), { limits: { pageSize: 1 } }))))

  it.scoped("accepts the cursors of another instance of the server", () =>
    Effect.gen(function*() {
      const first = yield* Effect.flatMap(connect(), page).pipe(
        Effect.scoped,
        Effect.provide(serve(tools("a", "b"), { limits: { pageSize: 1 } }))
      )
      const peer = yield* connect()
      assert.deepStrictEqual((yield* page(peer, first.nextCursor)).names, ["b"])
    }).pipe(Effect.provide(serve(tools("a", "b"), { limits: { pageSize: 1 } }))))

  it.scoped("neither repeats nor hides a tool when others are added or removed between two pages", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const register = (name: string) => registry.tools.register(registered(name))
      yield* Effect.forEach(["b", "c", "d", "e"], register)
      const read = reader(registry, 2)
      const first = yield* read()
      yield* Effect.scoped(Effect.gen(function*() {
        yield* register("a")
        yield* register("bb")
        assert.deepStrictEqual((yield* read(first.nextCursor)).names, ["d", "e"])
      }))
      assert.deepStrictEqual((yield* read(first.nextCursor)).names, ["d", "e"])
      assert.deepStrictEqual((yield* read(cursorAfter("cc"))).names, ["d", "e"])
      assert.deepStrictEqual(yield* read(cursorAfter("z")), { names: [], nextCursor: undefined })
    }))

  it.scoped("makes a page once, and anew when a tool was added or removed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const register = (name: string) => registry.tools.register(registered(name))
      yield* Effect.forEach(["a", "b", "c"], register)
      const { raw } = reader(registry, 2)
      const first = yield* raw()
      const second = yield* raw(first.nextCursor)
      assert.strictEqual(yield* raw(), first)
      assert.strictEqual(yield* raw(first.nextCursor), second)
      yield* Effect.scoped(register("d"))
      assert.notStrictEqual(yield* raw(), first)
      assert.deepStrictEqual(yield* raw(), first)
    }))

  it.scoped("sends a page in the form of each client's revision, every time", () =>
    Effect.gen(function*() {
      const peers = yield* Effect.forEach(Version.legacy, (version) => connect(version))
      for (const _ of [1, 2]) {
        for (const [i, peer] of peers.entries()) {
          const { tools } = (yield* list(peer)) as { tools: ReadonlyArray<object> }
          assert.strictEqual("title" in tools[0]!, Version.legacy[i]! >= "2025-06-18")
        }
      }
    }).pipe(Effect.provide(serve(McpServer.tool(Tool.make("a", { title: "A" }), () => Effect.void)))))

  it.scoped("encodes a page once for all clients of a revision", () =>
    Effect.gen(function*() {
      // Without a wire, what is said twice is the same object.
      const page = Effect.flatMap(InProcess.connector, (connector) =>
        Effect.flatMap(
          Client.make(connector, { versions: ["2024-11-05"] }),
          (client) => client.request("tools/list")
        ))
      assert.strictEqual(yield* page, yield* page)
    }).pipe(Effect.provide(serve(McpServer.tool(Tool.make("a", { title: "A" }), () => Effect.void)))))

  it.scoped("caches the pages of the list only, whatever cursors a client makes up", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* Effect.forEach(["a", "c", "e"], (name) => registry.tools.register(registered(name)))
      const { raw } = reader(registry, 2)
      // These begin where no page of the list does: worked out each time, and forgotten.
      for (const made of ["a", "aa", "aaa", "b"]) {
        const page = yield* raw(cursorAfter(made))
        assert.deepStrictEqual(page, yield* raw(cursorAfter(made)))
        assert.notStrictEqual(page, yield* raw(cursorAfter(made)))
      }
      // These begin where one does, and are that one.
      const last = yield* raw(cursorAfter("c"))
      for (const made of ["cc", "ccc", "d"]) assert.strictEqual(yield* raw(cursorAfter(made)), last)
    }))

  it.effect("is known, and empty, after the last tool was removed", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      yield* Effect.scoped(registry.tools.register(registered("a")))
      assert.deepStrictEqual(yield* reader(registry, 2)(), { names: [], nextCursor: undefined })
    }))
})

const registered = (name: string): Registry.RegisteredTool => ({
  advertised: Tool.make(name).advertised,
  context: undefined as never,
  call: () => Effect.never
})

/** Reads pages as the route makes them. */
const reader = (registry: Registry.RegistryService, pageSize: number) => {
  const route = Tools.routes(registry, { pageSize, tasks: undefined, report: () => Effect.void }).find(({ method }) =>
    method === "tools/list"
  )!
  const raw = (cursor?: string) =>
    route.serve({ cursor }, undefined as never, undefined).effect as Effect.Effect<
      { readonly tools: ReadonlyArray<{ readonly name: string }>; readonly nextCursor?: string }
    >
  const read = (cursor?: string) =>
    Effect.map(raw(cursor), ({ nextCursor, tools }) => ({ names: tools.map(({ name }) => name), nextCursor }))
  return Object.assign(read, { raw })
}
