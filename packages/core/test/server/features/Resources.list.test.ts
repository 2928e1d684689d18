import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Encoding, Layer } from "effect"
import { connect, logbook, serve } from "../Serving.js"

const at = (uri: string, name = uri) => Resource.make(name, { uri })

const resources = (...uris: ReadonlyArray<string>): Layer.Layer<never, never, Registry> =>
  Layer.mergeAll(Layer.empty, ...uris.map((uri) => McpServer.resource(at(uri), Effect.succeed(uri))))

const id = ResourceTemplate.param("id")
const Note = ResourceTemplate.make("note")`note:///${id}`

/** A template that lists these. */
const listing = (
  list: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, InvalidParams>,
  template: ResourceTemplate.ResourceTemplate<string, any> = Note
) => McpServer.resourceTemplate(template, read, { list })

const read = () => Effect.succeed("a note")

const list = (peer: TestPeer, cursor?: string) =>
  Effect.flatMap(peer.request("resources/list", cursor === undefined ? undefined : { cursor }), peer.expectResult)

const page = (peer: TestPeer, cursor?: string) =>
  Effect.map(list(peer, cursor), ({ nextCursor, resources }) => ({
    uris: (resources as ReadonlyArray<{ readonly uri: string }>).map(({ uri }) => uri),
    nextCursor: nextCursor as string | undefined
  }))

const templates = (peer: TestPeer, cursor?: string) =>
  Effect.map(
    Effect.flatMap(
      peer.request("resources/templates/list", cursor === undefined ? undefined : { cursor }),
      peer.expectResult
    ),
    ({ nextCursor, resourceTemplates }) => ({
      templates: (resourceTemplates as ReadonlyArray<{ readonly uriTemplate: string }>).map(({ uriTemplate }) =>
        uriTemplate
      ),
      nextCursor: nextCursor as string | undefined
    })
  )

describe("resources/list", () => {
  it.scoped("is in the order of URIs, whatever the order of features", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* page(yield* connect()), {
        uris: ["a:///1", "b:///1", "b:///10", "b:///2"],
        nextCursor: undefined
      })
    }).pipe(Effect.provide(serve(resources("b:///2", "a:///1", "b:///10", "b:///1")))))

  it.scoped("gives listed resources the media type of their template, unless they have one", () =>
    Effect.gen(function*() {
      const { resources } = yield* list(yield* connect())
      const types = (resources as ReadonlyArray<any>).map(({ mimeType }) => mimeType)
      assert.deepStrictEqual(types, ["text/markdown", "text/plain"])
    }).pipe(Effect.provide(serve(listing(
      Effect.succeed([
        Resource.make("one", { uri: "note:///1" }),
        Resource.make("two", { uri: "note:///2", mimeType: "text/plain" })
      ]),
      ResourceTemplate.make("note", { mimeType: "text/markdown" })`note:///${id}`
    )))))

  it.scoped("is empty when there are templates only", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* list(peer), { resources: [] })
    }).pipe(Effect.provide(serve(McpServer.resourceTemplate(Note, () => Effect.succeed(""))))))

  it.scoped("refuses a cursor that it never gave", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const cursor of ["nonsense", " ", Encoding.encodeBase64Url("templates:a:///1")]) {
        const error = yield* peer.expectError(yield* peer.request("resources/list", { cursor }))
        assert.strictEqual(error.code, -32602)
      }
    }).pipe(Effect.provide(serve(resources("a:///1")))))

  for (const version of Version.legacy) {
    it.scoped(`sends at ${version} what that revision knows of a resource`, () =>
      Effect.gen(function*() {
        const [readme] = (yield* list(yield* connect(version))).resources as ReadonlyArray<object>
        assert.deepStrictEqual(readme, {
          uri: "file:///README.md",
          name: "readme",
          description: "Read it.",
          mimeType: "text/markdown",
          annotations: { audience: ["user"], priority: 1 },
          size: 7,
          ...(version < "2025-06-18" ? undefined : { title: "Read me", _meta: { "example.com/a": 1 } }),
          ...(version < "2025-11-25" ? undefined : { icons: [{ src: "https://example.com/icon.png" }] })
        })
      }).pipe(Effect.provide(serve(McpServer.resource(
        Resource.make("readme", {
          uri: "file:///README.md",
          title: "Read me",
          description: "Read it.",
          mimeType: "text/markdown",
          annotations: { audience: ["user"], priority: 1 },
          icons: [{ src: "https://example.com/icon.png" }],
          meta: { "example.com/a": 1 },
          size: 7
        }),
        Effect.succeed("# Read")
      )))))
  }
})

describe("The list of a template", () => {
  it.scoped("is sorted among the other resources by URI", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual((yield* page(peer)).uris, ["a:///1", "note:///1", "note:///2", "z:///1"])
    }).pipe(Effect.provide(serve(Layer.merge(
      resources("z:///1", "a:///1"),
      listing(Effect.succeed([at("note:///2"), at("note:///1")]))
    )))))

  it.scoped("is cut into pages with them", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const seen: Array<ReadonlyArray<string>> = []
      let cursor: string | undefined
      do {
        const { nextCursor, uris } = yield* page(peer, cursor)
        seen.push(uris)
        cursor = nextCursor
      } while (cursor !== undefined)
      assert.deepStrictEqual(seen, [["a:///1", "note:///1"], ["note:///2", "tale:///1"], ["z:///1"]])
      assert.strictEqual(
        (yield* peer.expectError(yield* peer.request("resources/list", { cursor: "no" }))).code,
        -32602
      )
    }).pipe(Effect.provide(serve(
      Layer.mergeAll(
        listing(Effect.succeed([at("tale:///1")]), ResourceTemplate.make("tale")`tale:///${id}`),
        resources("z:///1", "a:///1"),
        listing(Effect.succeed([at("note:///2"), at("note:///1")]))
      ),
      { limits: { pageSize: 2 } }
    ))))

  it.effect("runs for each page, and continues after the last one", () =>
    Effect.gen(function*() {
      let notes = ["note:///1", "note:///2", "note:///3"]
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const first = yield* page(peer)
        assert.deepStrictEqual(first.uris, ["note:///1", "note:///2"])
        notes = ["note:///0", "note:///1", "note:///3", "note:///4"]
        assert.deepStrictEqual(yield* page(peer, first.nextCursor), {
          uris: ["note:///3", "note:///4"],
          nextCursor: undefined
        })
        assert.deepStrictEqual((yield* page(peer)).uris, ["note:///0", "note:///1"])
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(listing(Effect.sync(() => notes.map((uri) => at(uri)))), { limits: { pageSize: 2 } }))
      )
    }))

  it.scoped("contains a resource once that is also registered by itself, as registered", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual((yield* list(peer)).resources, [{ uri: "note:///1", name: "the first" }])
    }).pipe(Effect.provide(serve(Layer.merge(
      listing(Effect.succeed([at("note:///1", "one of many")])),
      McpServer.resource(at("note:///1", "the first"), Effect.succeed("1"))
    )))))

  it.scoped("runs with the services of its feature, for every client", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual((yield* page(peer)).uris, ["note:///a", "note:///resources-list", "tale:///b"])
    }).pipe(Effect.provide(serve(Layer.merge(
      Layer.provide(
        McpServer.resourceTemplate(Note, read, {
          list: Effect.gen(function*() {
            const { method } = yield* RequestContext
            return [at(`note:///${yield* Shelf}`), at(`note:///${method.replace("/", "-")}`)]
          })
        }),
        Layer.succeed(Shelf, "a")
      ),
      Layer.provide(
        McpServer.resourceTemplate(ResourceTemplate.make("tale")`tale:///${id}`, read, {
          list: Effect.map(Shelf, (shelf) => [at(`tale:///${shelf}`)])
        }),
        Layer.succeed(Shelf, "b")
      )
    )))))

  it.effect("fails the request when it fails, without its cause", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      let outcome: Effect.Effect<ReadonlyArray<Resource.Resource.Any>, InvalidParams> = Effect.succeed([])
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        outcome = Effect.fail(new InvalidParams({ message: "not now" }))
        assert.deepStrictEqual(yield* peer.expectError(yield* peer.request("resources/list")), {
          code: -32602,
          message: "not now"
        })
        outcome = Effect.die(new Error("hunter2"))
        assert.deepStrictEqual(yield* peer.expectError(yield* peer.request("resources/list")), {
          code: -32603,
          message: "Internal error"
        })
        assert.strictEqual(lines.filter(({ level }) => level === "Error").length, 1)
        outcome = Effect.succeed([at("note:///1")])
        assert.deepStrictEqual((yield* page(peer)).uris, ["note:///1"])
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(serve(listing(Effect.suspend(() => outcome))), layer))
      )
    }))
})

class Shelf extends Context.Tag("Shelf")<Shelf, string>() {}

describe("resources/templates/list", () => {
  it.scoped("continues from page to page, in the order of templates", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const first = yield* templates(peer)
      assert.deepStrictEqual(first.templates, ["a:///{id}", "b:///{id}"])
      assert.deepStrictEqual(yield* templates(peer, first.nextCursor), {
        templates: ["c:///{+id}"],
        nextCursor: undefined
      })
      const foreign = Encoding.encodeBase64Url("resources:a:///{id}")
      const error = yield* peer.expectError(yield* peer.request("resources/templates/list", { cursor: foreign }))
      assert.strictEqual(error.code, -32602)
    }).pipe(Effect.provide(serve(
      Layer.mergeAll(
        ...["c:///{+id}", "a:///{id}", "b:///{id}"].map((template) =>
          McpServer.resourceTemplate(ResourceTemplate.fromString(template, template), () => Effect.succeed(""))
        ) as [Layer.Layer<never, never, Registry>]
      ),
      { limits: { pageSize: 2 } }
    ))))

  it.scoped("is empty when there are resources only", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* templates(yield* connect())).templates, [])
    }).pipe(Effect.provide(serve(resources("a:///1")))))

  it.scoped("sends all facts of a template, to each client what its revision knows", () =>
    Effect.gen(function*() {
      const full = {
        name: "note",
        uriTemplate: "note:///{id}",
        title: "Note",
        description: "A note.",
        mimeType: "text/plain",
        annotations: { priority: 0 },
        icons: [{ src: "https://example.com/icon.png" }]
      }
      const { icons: _, ...untilJune } = full
      const { title: __, ...oldest } = untilJune
      for (
        const [version, expected] of [["2024-11-05", oldest], ["2025-06-18", untilJune], ["2025-11-25", full]] as const
      ) {
        const peer = yield* connect(version)
        const { resourceTemplates } = yield* peer.expectResult(yield* peer.request("resources/templates/list"))
        assert.deepStrictEqual(resourceTemplates, [expected])
      }
    }).pipe(Effect.provide(serve(McpServer.resourceTemplate(
      ResourceTemplate.make("note", {
        title: "Note",
        description: "A note.",
        mimeType: "text/plain",
        annotations: { priority: 0 },
        icons: [{ src: "https://example.com/icon.png" }]
      })`note:///${id}`,
      () => Effect.succeed("")
    )))))
})
