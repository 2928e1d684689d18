import { assert, describe, it } from "@effect/vitest"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import { Diagnostic } from "@effect-mcp/core/Diagnostic"
import type { TransportError } from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestClient from "@effect-mcp/testing/TestClient"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Chunk, Effect, Fiber, Option, Stream } from "effect"
import * as ListPages from "../../../src/client/session/ListPages.js"
import { legacyClient } from "../Scripts.js"

const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } })

/** Answers the next `tools/list`, which must have this cursor, with one tool, named after the page, and the next cursor. */
const page = (server: TestPeer.TestPeer, cursor: string | undefined, nextCursor: string | undefined) =>
  Effect.gen(function*() {
    const { id, params } = yield* server.expectRequest("tools/list")
    assert.deepStrictEqual(params, cursor === undefined ? undefined : { cursor })
    yield* server.send(Message.success(id, {
      tools: [tool(`after ${cursor ?? "nothing"}`)],
      ...(nextCursor === undefined ? undefined : { nextCursor })
    }))
  })

const names = (tools: Stream.Stream<{ readonly name: string }, unknown>) =>
  Effect.map(Stream.runCollect(tools), (all) => Chunk.toArray(all).map(({ name }) => name))

const lists: ReadonlyArray<{
  readonly method: string
  readonly entry: (name: string) => JsonObject
  readonly all: (client: ClientSessionService) => Stream.Stream<{ readonly name: string }, unknown>
  readonly page: (client: ClientSessionService) => Effect.Effect<object, unknown>
}> = [
  { method: "tools/list", entry: tool, all: ({ tools }) => tools, page: (client) => client.listTools() },
  {
    method: "resources/list",
    entry: (name) => ({ name, uri: `test:${name}` }),
    all: ({ resources }) => resources,
    page: (client) => client.listResources()
  },
  {
    method: "resources/templates/list",
    entry: (name) => ({ name, uriTemplate: `test:${name}/{id}` }),
    all: ({ resourceTemplates }) => resourceTemplates,
    page: (client) => client.listResourceTemplates()
  },
  {
    method: "prompts/list",
    entry: (name) => ({ name }),
    all: ({ prompts }) => prompts,
    page: (client) => client.listPrompts()
  }
]

describe("An empty cursor", () => {
  for (const version of Version.all) {
    const isCursor = Version.isModern(version)
    it.scoped(`ends every list up to 2025-11-25, and leads to a page from 2026-07-28 on: ${version}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* TestClient.make({ version })
        for (const { all, entry, method, page } of lists) {
          const key = method === "resources/templates/list" ? "resourceTemplates" : method.split("/")[0]!
          const answer = (cursor: string | undefined, name: string, nextCursor?: string) =>
            Effect.gen(function*() {
              const { id, params } = yield* server.expectRequest(method)
              assert.strictEqual(params?.cursor, cursor)
              const stamp = isCursor ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : undefined
              yield* server.send(Message.success(id, {
                [key]: [entry(name)],
                ...(nextCursor === undefined ? undefined : { nextCursor }),
                ...stamp
              }))
            })
          const reading = yield* Effect.fork(names(all(client)))
          yield* answer(undefined, "first", "1")
          yield* answer("1", "second", "")
          if (isCursor) yield* answer("", "third")
          const expected = ["first", "second", ...(isCursor ? ["third"] : [])]
          assert.deepStrictEqual(yield* Fiber.join(reading), expected)
          const one = yield* Effect.fork(page(client))
          yield* answer(undefined, "first", "")
          assert.strictEqual("nextCursor" in (yield* Fiber.join(one)), isCursor)
        }
      }))
  }
})

describe("All tools", () => {
  it.scoped("are read page by page, until there is no cursor", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const reading = yield* Effect.fork(names(client.tools))
      yield* page(server, undefined, "1")
      yield* page(server, "1", "2")
      yield* page(server, "2", undefined)
      assert.deepStrictEqual(yield* Fiber.join(reading), ["after nothing", "after 1", "after 2"])
    }))

  it.scoped("are read from the beginning each time", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      for (const _ of [1, 2]) {
        const reading = yield* Effect.fork(names(client.tools))
        yield* page(server, undefined, "same")
        yield* page(server, "same", undefined)
        assert.lengthOf(yield* Fiber.join(reading), 2)
      }
    }))

  it.scoped("may come in pages of which some are empty", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const reading = yield* Effect.fork(names(client.tools))
      const { id } = yield* server.expectRequest("tools/list")
      yield* server.send(Message.success(id, { tools: [], nextCursor: "more" }))
      yield* page(server, "more", undefined)
      assert.deepStrictEqual(yield* Fiber.join(reading), ["after more"])
    }))

  it.scoped("are not requested before the reader wants them", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const reading = yield* Effect.fork(names(Stream.take(client.tools, 1)))
      yield* page(server, undefined, "never asked for")
      assert.deepStrictEqual(yield* Fiber.join(reading), ["after nothing"])
    }))

  const refused = (cursors: ReadonlyArray<string | undefined>) =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const seen: Array<string> = []
      const reading = yield* Effect.fork(Effect.flip(
        Stream.runForEach(client.tools, ({ name }) => Effect.sync(() => seen.push(name)))
      ))
      for (const [at, cursor] of cursors.slice(0, -1).entries()) yield* page(server, cursor, cursors[at + 1])
      const error = yield* Fiber.join(reading)
      assert.strictEqual((error as TransportError).reason, "Decode")
      assert.lengthOf(seen, cursors.length - 1)
      return error.message
    })

  it.scoped("end, with a diagnostic, when a cursor comes again", () =>
    Effect.gen(function*() {
      for (const cursors of [[undefined, "a", "a"], [undefined, "a", "b", "a"]]) {
        const { client, server } = yield* legacyClient()
        const reported = yield* Effect.fork(Stream.runHead(client.diagnostics))
        const reading = yield* Effect.fork(names(client.tools))
        for (const [at, cursor] of cursors.slice(0, -1).entries()) yield* page(server, cursor, cursors[at + 1])
        assert.lengthOf(yield* Fiber.join(reading), cursors.length - 1)
        assert.deepStrictEqual(
          yield* Fiber.join(reported),
          Option.some(Diagnostic.Mended({
            method: "tools/list",
            count: 1,
            places: [{
              path: "nextCursor",
              message: "is a cursor that the server has sent before; the client ends the list here"
            }]
          }))
        )
        yield* server.expectSilence
      }
    }))

  it.scoped("fail, after the entries that came, when there are more than 64 pages", () =>
    Effect.gen(function*() {
      assert.strictEqual(ListPages.MAX_PAGES, 64)
      const cursors = [undefined, ...Array.from({ length: 64 }, (_, n) => String(n))]
      assert.strictEqual(
        yield* refused(cursors),
        "The result of \"tools/list\" is not valid: there are more than 64 pages. `listTools` reads one page at a time"
      )
    }))

  for (
    const [what, tool, fit] of [
      ["values", { name: "wide", inputSchema: { type: "object" }, _meta: { many: Array(100_000).fill(0) } }, 4],
      ["characters", { name: "long", description: "x".repeat(3 * 1024 * 1024), inputSchema: { type: "object" } }, 5]
    ] as const
  ) {
    it.scoped(`fail, after the entries that fit, when all pages together have too many ${what}`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* legacyClient({ oracle: false })
        let seen = 0
        const reading = yield* Effect.fork(Effect.flip(
          Stream.runForEach(client.tools, () => Effect.sync(() => seen++))
        ))
        for (let cursor = 0; cursor <= fit; cursor += 2) {
          const { id } = yield* server.expectRequest("tools/list")
          yield* server.send(Message.success(id, { tools: [tool, tool] as any, nextCursor: `${cursor}` }))
        }
        const error = yield* Fiber.join(reading)
        assert.strictEqual(seen, fit)
        assert.include(
          error.message,
          `so the entries after the first ${fit} are left out. \`listTools\` reads one page at a time`
        )
        yield* server.expectSilence
      }))
  }

  it.scoped("may come in 64 pages", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const reading = yield* Effect.fork(names(client.tools))
      const cursors = [undefined, ...Array.from({ length: 63 }, (_, n) => String(n))]
      for (const [at, cursor] of cursors.entries()) yield* page(server, cursor, cursors[at + 1])
      assert.lengthOf(yield* Fiber.join(reading), 64)
    }))

  it.scoped("fail with the page that fails", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const fails = (answer: (id: Message.RequestId) => Message.Message) =>
        Effect.gen(function*() {
          const reading = yield* Effect.fork(Effect.flip(names(client.tools)))
          yield* page(server, undefined, "stale")
          const { id } = yield* server.expectRequest("tools/list")
          yield* server.send(answer(id))
          return yield* Fiber.join(reading)
        })
      const stale = yield* fails((id) => Message.failure(id, { code: -32602, message: "Invalid cursor" }))
      assert.deepInclude(stale as object, { _tag: "InvalidParams", message: "Invalid cursor" })
      const broken = yield* fails((id) => Message.success(id, { tools: 7 } as JsonObject))
      assert.deepInclude(broken as object, { _tag: "TransportError", reason: "Decode" })
    }))

  it.scoped("are cancelled when the reader is interrupted", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const reading = yield* Effect.fork(names(client.tools))
      yield* page(server, undefined, "next")
      const { id } = yield* server.expectRequest("tools/list")
      yield* Fiber.interrupt(reading)
      assert.strictEqual((yield* server.expectNotification("notifications/cancelled")).requestId, id)
    }))
})
