import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Definition from "@effect-mcp/core/Definition"
import * as Tool from "@effect-mcp/core/Tool"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Effect, Fiber, Layer, Queue, Ref, Schedule, Schema, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { node, until } from "../Fixture.js"
import { pidsOf } from "../Processes.js"
import { suite } from "./Ways.js"

const program = (name: string) => createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`)

/** A folder that is removed when the scope closes. */
const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "effect-mcp-reference-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const text = (result: { readonly content: ReadonlyArray<object> }) =>
  (result.content[0] as { readonly text: string }).text

/** The elements of the stream from now on. */
const received = <A>(stream: Stream.Stream<A>): Effect.Effect<Queue.Dequeue<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<A>()
    const listening = yield* Effect.forkScoped(Stream.runForEach(stream, (one) => queue.offer(one)))
    yield* untilSuspended(listening)
    return queue
  })

suite("A client of Effect MCP and the official filesystem server", ({ isDirect, to }) => {
  const Content = Schema.Struct({ content: Schema.String })
  const Path = { path: Schema.String }
  const Files = Definition.make(
    Tool.make("read_text_file", { parameters: { ...Path, head: Schema.optional(Schema.Number) }, success: Content }),
    Tool.make("write_file", { parameters: { ...Path, content: Schema.String }, success: Content }),
    Tool.make("list_directory", { parameters: Path, success: Content }),
    Tool.make("create_directory", { parameters: Path, success: Content }),
    Tool.make("list_allowed_directories", { success: Content })
  )

  const launch = (
    folders: ReadonlyArray<string>,
    features: Layer.Layer<never, never, ClientFeatures.ClientFeatures> = Layer.empty
  ) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const connector = StdioClient.connector({
        command: node,
        args: [program("server-filesystem"), ...folders],
        stderr: (line) => Effect.sync(() => lines.push(line)).pipe(Effect.asVoid),
        closeTimeouts: { grace: "1 minute" }
      })
      const client = yield* Client.make(yield* to(connector, "secure-filesystem-server"), { features })
      const files = Client.of(client, Files)
      return { client, files, stderr: () => lines.join("\n") }
    })

  it.scopedLive("list the tools with their output schemas", () =>
    Effect.gen(function*() {
      const { client } = yield* launch([yield* folder])
      assert.strictEqual(client.serverInfo.name, "secure-filesystem-server")
      const tools = yield* all(client.tools)
      for (const name of Files.tools.keys()) {
        const tool = tools.find((tool) => tool.name === name)!
        assert.deepInclude(tool.outputSchema, { type: "object", required: ["content"] }, name)
      }
    }))

  it.scopedLive("write, read and list, with typed arguments and results", () =>
    Effect.gen(function*() {
      const home = yield* folder
      const { client, files } = yield* launch([home])
      yield* files.create_directory({ path: join(home, "notes") })
      yield* files.write_file({ path: join(home, "notes", "a.txt"), content: "one\nä€😀\nthree" })
      assert.strictEqual(readFileSync(join(home, "notes", "a.txt"), "utf8"), "one\nä€😀\nthree")
      assert.deepStrictEqual(yield* files.read_text_file({ path: join(home, "notes", "a.txt"), head: 2 }), {
        content: "one\nä€😀"
      })
      assert.deepStrictEqual(yield* files.list_directory({ path: home }), { content: "[DIR] notes" })
      const edited = yield* client.callTool("edit_file", {
        path: join(home, "notes", "a.txt"),
        edits: [{ oldText: "three", newText: "3" }]
      })
      assert.include(text(edited), "+3")
      const moved = { source: join(home, "notes", "a.txt"), destination: join(home, "b.txt") }
      yield* client.callTool("move_file", moved)
      assert.strictEqual(readFileSync(join(home, "b.txt"), "utf8"), "one\nä€😀\n3")
      const found = yield* client.callTool("search_files", { path: home, pattern: "*.txt" })
      assert.strictEqual(text(found), join(home, "b.txt"))
    }))

  it.scopedLive("transfer a file of a megabyte in both directions", () =>
    Effect.gen(function*() {
      const home = yield* folder
      const { files } = yield* launch([home])
      const content = "0123456789abcde\n".repeat(1 << 16)
      yield* files.write_file({ path: join(home, "large"), content })
      assert.strictEqual((yield* files.read_text_file({ path: join(home, "large") })).content, content)
    }))

  it.scopedLive("transfer bytes as images, audio and resources", () =>
    Effect.gen(function*() {
      const home = yield* folder
      const { client } = yield* launch([home])
      const bytes = Buffer.from([0, 1, 2, 255])
      for (const [name, type] of [["a.png", "image"], ["a.mp3", "audio"], ["a.bin", "resource"]] as const) {
        writeFileSync(join(home, name), bytes)
        const { content, structuredContent } = yield* client.callTool("read_media_file", { path: join(home, name) })
        assert.strictEqual(content[0]!.type, type)
        assert.deepStrictEqual<unknown>(structuredContent, { content })
        assert.include(JSON.stringify(content[0]), bytes.toString("base64"))
      }
    }))

  it.scopedLive("fail for a path outside of the folder, a missing file, a missing argument, and an unknown tool", () =>
    Effect.gen(function*() {
      const { client, files } = yield* launch([yield* folder])
      const outside = yield* Effect.flip(files.read_text_file({ path: "/etc/hostname" }))
      assert.strictEqual(outside._tag, "ToolError")
      assert.include(outside.message, "Access denied")
      const home = text(yield* client.callTool("list_allowed_directories")).split("\n")[1]!
      const missing = yield* client.callTool("read_text_file", { path: join(home, "none") })
      assert.isTrue(missing.isError)
      assert.include(text(missing), "ENOENT")
      assert.isTrue((yield* client.callTool("read_text_file")).isError)
      assert.isTrue((yield* client.callTool("forget")).isError)
      yield* client.ping()
    }))

  it.scopedLive("set the allowed folders by roots, before the first call and when they change", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* folder, yield* folder]
      const roots = yield* Ref.make([{ uri: pathToFileURL(first).href }])
      const changes = yield* Queue.unbounded<void>()
      const { files, stderr } = yield* launch(
        [],
        ClientFeatures.roots(Ref.get(roots), { changes: Stream.fromQueue(changes) })
      )
      const updated = (times: number) => until(() => stderr().split("Updated allowed directories").length > times)
      yield* updated(1)
      const allowed = Effect.map(files.list_allowed_directories(), ({ content }) => content.split("\n").slice(1))
      assert.deepStrictEqual(yield* allowed, [first])
      assert.include((yield* Effect.flip(files.list_directory({ path: second }))).message, "Access denied")
      yield* Ref.set(roots, [{ uri: pathToFileURL(second).href }])
      yield* changes.offer()
      yield* updated(2)
      assert.deepStrictEqual(yield* allowed, [second])
      mkdirSync(join(second, "inside"))
      assert.deepStrictEqual(yield* files.list_directory({ path: second }), { content: "[DIR] inside" })
    }))

  // A proxy starts without its upstream.
  if (isDirect) {
    it.scopedLive("close with the reason when no folder is allowed", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(launch(["/no/such/folder"]))
        assert.strictEqual(error._tag, "ConnectionClosed")
        assert.include(error.message, "exited with code 1")
        assert.include(error.message, "None of the specified directories are accessible")
      }))
  }
})

suite("A client of Effect MCP and the official memory server", ({ isDirect, to }) => {
  const Entity = Schema.Struct({
    name: Schema.String,
    entityType: Schema.String,
    observations: Schema.Array(Schema.String)
  })
  const Relation = Schema.Struct({ from: Schema.String, to: Schema.String, relationType: Schema.String })
  const Graph = Schema.Struct({ entities: Schema.Array(Entity), relations: Schema.Array(Relation) })
  const Entities = { entities: Schema.Array(Entity) }
  const Relations = { relations: Schema.Array(Relation) }
  const Memory = Definition.make(
    Tool.make("create_entities", { parameters: Entities, success: Schema.Struct(Entities) }),
    Tool.make("create_relations", { parameters: Relations, success: Schema.Struct(Relations) }),
    Tool.make("search_nodes", { parameters: { query: Schema.String }, success: Graph }),
    Tool.make("delete_entities", {
      parameters: { entityNames: Schema.Array(Schema.String) },
      success: Schema.Struct({ success: Schema.Boolean })
    }),
    Tool.make("read_graph", { success: Graph })
  )
  const ada = { name: "Ada", entityType: "person", observations: ["writes programs"] }
  const engine = { name: "Engine", entityType: "machine", observations: [] }

  const launching = (home: string, mark = randomUUID() as string) =>
    StdioClient.connector({
      command: node,
      args: [program("server-memory"), mark],
      env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") },
      stderr: "ignore",
      closeTimeouts: { grace: "1 minute" }
    })

  const typed = (client: ClientSessionService) => Effect.succeed(Client.of(client, Memory))

  it.scopedLive("create, relate, search and delete entities with typed arguments and results", () =>
    Effect.gen(function*() {
      const memory = yield* typed(yield* Client.make(yield* to(launching(yield* folder), "memory-server")))
      assert.deepStrictEqual(yield* memory.read_graph(), { entities: [], relations: [] })
      assert.deepStrictEqual(yield* memory.create_entities({ entities: [ada, engine] }), { entities: [ada, engine] })
      assert.deepStrictEqual(yield* memory.create_entities({ entities: [ada] }), { entities: [] })
      const programs = { from: "Ada", to: "Engine", relationType: "programs" }
      assert.deepStrictEqual(yield* memory.create_relations({ relations: [programs] }), { relations: [programs] })
      assert.deepStrictEqual(yield* memory.search_nodes({ query: "writes" }), {
        entities: [ada],
        relations: [programs]
      })
      assert.deepStrictEqual(yield* memory.delete_entities({ entityNames: ["Ada"] }), { success: true })
      assert.deepStrictEqual(yield* memory.read_graph(), { entities: [engine], relations: [] })
    }))

  it.scopedLive("fail for errors of a tool, and for invalid arguments", () =>
    Effect.gen(function*() {
      const client = yield* Client.make(yield* to(launching(yield* folder), "memory-server"))
      const observations = [{ entityName: "nobody", contents: ["x"] }]
      const unknown = yield* client.callTool("add_observations", { observations })
      assert.isTrue(unknown.isError)
      assert.include(text(unknown), "Entity with name nobody not found")
      const wrong = yield* client.callTool("add_observations", { observations: [{ entityName: 7 }] })
      assert.isTrue(wrong.isError)
      assert.include(text(wrong), "contents")
      yield* client.ping()
    }))

  it.scopedLive("notify subscribers of changes of the graph, until they unsubscribe", () =>
    Effect.gen(function*() {
      const client = yield* Client.make(yield* to(launching(yield* folder), "memory-server"))
      const memory = yield* typed(client)
      const updates = yield* received(client.resourceUpdates)
      const [graph] = yield* all(client.resources)
      assert.deepInclude(graph, { uri: "memory://knowledge-graph", mimeType: "application/json" })
      yield* memory.create_entities({ entities: [ada] })
      yield* client.subscribeResource(graph!.uri)
      yield* memory.create_entities({ entities: [engine] })
      assert.strictEqual(yield* updates.take, graph!.uri)
      const [read] = (yield* client.readResource(graph!.uri)).contents
      assert.deepStrictEqual(JSON.parse((read as { readonly text: string }).text), {
        entities: [ada, engine],
        relations: []
      })
      yield* client.unsubscribeResource(graph!.uri)
      yield* memory.delete_entities({ entityNames: ["Ada"] })
      yield* client.ping()
      assert.strictEqual(yield* updates.size, 0)
    }))

  // A group reconnects a proxy, and the proxy its upstream.
  if (isDirect) {
    it.scopedLive("reconnect in a group, and find the stored entities, when the server was killed", () =>
      Effect.gen(function*() {
        const mark = randomUUID()
        const group = yield* ClientSessionGroup.make({ nameHook: (name, { name: server }) => `${server}.${name}` })
        const has = (is: boolean) =>
          Stream.runHead(Stream.filter(group.changes, ({ tools }) => tools.has("memory.read_graph") === is))
        yield* group.connect("memory", launching(yield* folder, mark), { reconnect: Schedule.spaced("10 millis") })
        yield* group.callTool("memory.create_entities", { entities: [ada] })
        const gone = yield* Effect.fork(has(false))
        yield* Effect.yieldNow()
        const [pid] = pidsOf(mark)
        process.kill(pid!, "SIGKILL")
        yield* Fiber.join(gone)
        assert.strictEqual((yield* Effect.flip(group.callTool("memory.read_graph")))._tag, "UnknownEntry")
        yield* has(true)
        const graph = yield* group.callTool("memory.read_graph")
        assert.deepStrictEqual<unknown>(graph.structuredContent, { entities: [ada], relations: [] })
      }))
  }
})

describe("Official servers in one configuration", () => {
  const server = (name: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => ({
    command: node,
    args: [program(name), ...args],
    env
  })

  it.scopedLive("work by default when two are the same: two filesystem servers, two memory servers", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* folder, yield* folder]
      writeFileSync(join(first, "a"), "first")
      writeFileSync(join(second, "a"), "second")
      const memory = (home: string) => server("server-memory", [], { MEMORY_FILE_PATH: join(home, "memory.jsonl") })
      const servers = ConfiguredServers.layer({
        mcpServers: {
          "work files": server("server-filesystem", [first]),
          home: server("server-filesystem", [second]),
          notes: memory(first),
          "notes-2": memory(second),
          "notes-3": memory(second)
        }
      }, { stderr: "ignore" })
      yield* Effect.gen(function*() {
        const group = yield* ClientSessionGroup.ClientSessionGroup
        assert.strictEqual((yield* group.sessions).size, 5)
        const read = (name: string, folder: string) =>
          Effect.map(group.callTool(name, { path: join(folder, "a") }), text)
        assert.strictEqual(yield* read("read_text_file", first), "first")
        assert.strictEqual(yield* read("home_read_text_file", second), "second")
        assert.include(yield* read("read_text_file", second), "Access denied")
        const { resources, tools } = yield* group.entries
        for (const [name, { collision, server, value }] of tools) {
          const renamed = server === "home" || server.startsWith("notes-")
          assert.strictEqual(name, renamed ? `${server}_${value.name}` : value.name)
          assert.strictEqual(collision?.server, renamed ? server === "home" ? "work files" : "notes" : undefined)
        }
        const graph = "memory://knowledge-graph"
        assert.deepStrictEqual([...resources.keys()], [graph, `notes-2:${graph}`, `notes-3:${graph}`])
        yield* group.callTool("notes-2_create_entities", {
          entities: [{ name: "Ada", entityType: "person", observations: [] }]
        })
        for (const [uri, found] of [[graph, 0], [`notes-2:${graph}`, 1], [`notes-3:${graph}`, 1]] as const) {
          const [content] = (yield* group.readResource(uri)).contents
          const { entities } = JSON.parse((content as { readonly text: string }).text)
          assert.lengthOf(entities, found, uri)
        }
      }).pipe(Effect.provide(servers))
    }).pipe(Effect.provide(FetchHttpClient.layer)))
})
