import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import { InvalidParams, ResourceNotFound } from "@effect-mcp/core/protocol/McpError"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Registry from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, Schema } from "effect"
import * as Resources from "../../../src/server/features/Resources.js"
import { connect, logbook, serve, unchecked } from "../Serving.js"

const read = (peer: TestPeer, uri: string) => peer.request("resources/read", { uri })

const contents = (peer: TestPeer, uri: string) =>
  Effect.map(Effect.flatMap(read(peer, uri), peer.expectResult), ({ contents }) => contents)

const text = (peer: TestPeer, uri: string) =>
  Effect.map(
    contents(peer, uri),
    (all) => (all as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text).join()
  )

const refusal = (peer: TestPeer, uri: string) => Effect.flatMap(read(peer, uri), peer.expectError)

const at = (uri: string, contents: Resource.Contents, mimeType?: string) =>
  McpServer.resource(Resource.make(uri, { uri, mimeType }), Effect.succeed(contents))

class Db extends Context.Tag("Db")<Db, string>() {}

describe("resources/read", () => {
  it.scoped("MUST give bytes in base64", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* contents(peer, "file:///a"), [{
        uri: "file:///a",
        mimeType: "image/png",
        blob: "AQL/"
      }])
    }).pipe(Effect.provide(serve(at("file:///a", new Uint8Array([1, 2, 255]), "image/png")))))

  it.scoped("gives contents with URIs and media types of their own, one or many or none", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const one = { uri: "file:///x/1", text: "1", mimeType: "text/plain", _meta: { "example.com/a": 1 } }
      const two = { uri: "file:///x/2", blob: "AQ==" }
      assert.deepStrictEqual(yield* contents(peer, "file:///one"), [one])
      assert.deepStrictEqual(yield* contents(peer, "file:///many"), [one, two])
      assert.deepStrictEqual(yield* contents(peer, "file:///none"), [])
    }).pipe(Effect.provide(serve(Layer.mergeAll(
      at("file:///one", { uri: "file:///x/1", text: "1", mimeType: "text/plain", _meta: { "example.com/a": 1 } }),
      at("file:///many", [
        { uri: "file:///x/1", text: "1", mimeType: "text/plain", _meta: { "example.com/a": 1 } },
        { uri: "file:///x/2", blob: "AQ==" }
      ]),
      at("file:///none", [])
    )))))

  it.scoped("reads anew each time, with the services of the feature and of the request", () =>
    Effect.gen(function*() {
      let reads = 0
      const released: Array<number> = []
      const live = McpServer.resource(
        Resource.make("counted", { uri: "db:///count" }),
        Effect.gen(function*() {
          const { method } = yield* RequestContext
          yield* ServerSession
          const n = ++reads
          yield* Effect.addFinalizer(() => Effect.sync(() => released.push(n)))
          return `${yield* Db}: ${n} of ${method}`
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.strictEqual(yield* text(peer, "db:///count"), "db: 1 of resources/read")
        assert.deepStrictEqual(released, [1])
        assert.strictEqual(yield* text(peer, "db:///count"), "db: 2 of resources/read")
      }).pipe(Effect.provide(Layer.provide(serve(live), Layer.succeed(Db, "db"))))
    }))

  it.scoped("SHOULD answer -32002 for an unknown URI, and name it", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked()
      for (const uri of ["file:///b", "file:///A", "file:///a/", "file:///a?x=1", "constructor", ""]) {
        assert.deepStrictEqual(yield* refusal(peer, uri), {
          code: -32002,
          message: `Resource not found: ${uri}`,
          data: { uri }
        })
      }
    }).pipe(Effect.provide(serve(at("file:///a", "A")))))

  it.scoped("does not repeat more of a URI than a person would read", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const method of ["resources/read", "resources/subscribe"]) {
        const error = yield* peer.expectError(yield* peer.request(method, { uri: `file:///${"x".repeat(100_000)}` }))
        assert.strictEqual(error.code, -32002)
        assert.isBelow(JSON.stringify(error).length, 500)
      }
    }).pipe(Effect.provide(serve(at("file:///a", "A")))))

  it.effect("fails as the reader fails; the client learns only \"Internal error\" of one that dies", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const failing = (name: string, effect: Effect.Effect<string, InvalidParams | ResourceNotFound>) =>
        McpServer.resource(Resource.make(name, { uri: `file:///${name}` }), effect)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* refusal(peer, "file:///refused"), {
          code: -32602,
          message: "not now",
          data: { why: 1 }
        })
        assert.deepStrictEqual(yield* refusal(peer, "file:///gone"), {
          code: -32002,
          message: "Resource not found: file:///elsewhere",
          data: { uri: "file:///elsewhere" }
        })
        assert.deepStrictEqual(lines, [])
        assert.deepStrictEqual(yield* refusal(peer, "file:///dead"), { code: -32603, message: "Internal error" })
        assert.include(String(lines[0]?.cause), "hunter2")
        // Not what a reader may give, and found out before it leaves.
        assert.deepStrictEqual(yield* refusal(peer, "file:///wrong"), { code: -32603, message: "Internal error" })
        assert.include(String(lines[1]?.cause), `"resources/read" returned a value that is not a result of the method`)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(
          serve(Layer.mergeAll(
            failing("refused", Effect.fail(new InvalidParams({ message: "not now", data: { why: 1 } }))),
            failing("gone", Effect.fail(new ResourceNotFound({ uri: "file:///elsewhere" }))),
            failing("dead", Effect.die(new Error("hunter2"))),
            failing("wrong", Effect.succeed([{ uri: 1 }] as never))
          )),
          layer
        ))
      )
    }))

  for (const version of Version.legacy) {
    it.scoped(`sends at ${version} what that revision knows of contents`, () =>
      Effect.gen(function*() {
        const peer = yield* connect(version)
        assert.deepStrictEqual(yield* contents(peer, "file:///a"), [
          version < "2025-06-18"
            ? { uri: "file:///a", text: "A" }
            : { uri: "file:///a", text: "A", _meta: { "example.com/a": 1 } }
        ])
      }).pipe(Effect.provide(serve(at("file:///a", { uri: "file:///a", text: "A", _meta: { "example.com/a": 1 } })))))
  }
})

describe("A template", () => {
  const year = ResourceTemplate.param("year", Schema.NumberFromString.pipe(Schema.int()))
  const Plan = ResourceTemplate.make("plan", { mimeType: "text/plain" })`notes:///${year}/${
    ResourceTemplate.param("name")
  }`
  const PlanLive = McpServer.resourceTemplate(
    Plan,
    ({ name, year }, uri) => Effect.succeed(`${name} of ${year + 1} at ${uri}`)
  )

  it.scoped("is read with its decoded parameters and the URI that they were found in", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* contents(peer, "notes:///2024/plan"), [{
        uri: "notes:///2024/plan",
        mimeType: "text/plain",
        text: "plan of 2025 at notes:///2024/plan"
      }])
    }).pipe(Effect.provide(serve(PlanLive))))

  it.scoped("decodes percent-encoding once, within one parameter", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.strictEqual(
        yield* text(peer, "notes:///1/a%20b%2Fc%2525"),
        "a b/c%25 of 2 at notes:///1/a%20b%2Fc%2525"
      )
      assert.strictEqual((yield* refusal(yield* unchecked(), "notes:///1/%zz")).code, -32002)
      for (const uri of ["notes:///1/a/b", "notes:///1"]) {
        assert.strictEqual((yield* refusal(peer, uri)).code, -32002)
      }
    }).pipe(Effect.provide(serve(PlanLive))))

  it.scoped("has no resource at a URI whose parameters do not decode", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const uri of ["notes:///soon/plan", "notes:///1.5/plan"]) {
        assert.deepStrictEqual(yield* refusal(peer, uri), {
          code: -32002,
          message: `Resource not found: ${uri}`,
          data: { uri }
        })
      }
    }).pipe(Effect.provide(serve(PlanLive))))

  it.scoped("leaves a URI to a resource that is registered at it", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.strictEqual(yield* text(peer, "notes:///2024/plan"), "exactly")
      assert.strictEqual(yield* text(peer, "notes:///2024/b"), "b of 2025 at notes:///2024/b")
    }).pipe(Effect.provide(serve(Layer.merge(PlanLive, at("notes:///2024/plan", "exactly"))))))

  const says = (template: string, parameters?: Schema.Struct.Fields) =>
    McpServer.resourceTemplate(
      ResourceTemplate.fromString(template, template, { parameters }),
      () => Effect.succeed(template)
    )
  const many = ["file:///{+path}", "file:///docs/{name}", "file:///docs/{name}.md", "file:///docs/{+path}"]

  for (const order of [many, [...many].reverse(), [many[2]!, many[0]!, many[3]!, many[1]!]]) {
    it.scoped(`that is most specific is read, also registered in the order ${order.join(" ")}`, () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        assert.strictEqual(yield* text(peer, "file:///docs/a.md"), "file:///docs/{name}.md")
        assert.strictEqual(yield* text(peer, "file:///docs/a/b.txt"), "file:///docs/{+path}")
        assert.strictEqual(yield* text(peer, "file:///other"), "file:///{+path}")
        // Two that fit equally well: in the order of the list.
        assert.strictEqual(yield* text(peer, "file:///docs/a"), "file:///docs/{+path}")
      }).pipe(Effect.provide(serve(
        Layer.mergeAll(...order.map((template) => says(template)) as [Layer.Layer<never, never, Registry.Registry>])
      ))))
  }

  it.scoped("leaves a URI to the next template when its parameters do not decode", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.strictEqual(yield* text(peer, "note:///id-7"), "note:///id-{n}")
      assert.strictEqual(yield* text(peer, "note:///id-x"), "note:///{name}")
      assert.strictEqual((yield* refusal(peer, "note:///name")).code, -32002)
    }).pipe(Effect.provide(serve(Layer.merge(
      says("note:///{name}", { name: Schema.String.pipe(Schema.startsWith("id-")) }),
      says("note:///id-{n}", { n: Schema.NumberFromString })
    )))))

  it.effect("that fails does not leave the URI to another, and each runs with the services of its feature", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const reader = (template: string, db: string) =>
        Layer.provide(
          McpServer.resourceTemplate(ResourceTemplate.fromString(template, template), (_, uri) =>
            Effect.gen(function*() {
              asked.push(yield* Db)
              yield* RequestContext
              return uri.endsWith("gone") ? yield* new ResourceNotFound({ uri }) : "found"
            })),
          Layer.succeed(Db, db)
        )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.strictEqual(yield* text(peer, "note:///x-1"), "found")
        assert.strictEqual((yield* refusal(peer, "note:///x-gone")).code, -32002)
        assert.deepStrictEqual(asked, ["close", "close"])
        assert.strictEqual(yield* text(peer, "note:///y"), "found")
        assert.deepStrictEqual(asked, ["close", "close", "far"])
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(Layer.merge(reader("note:///{id}", "far"), reader("note:///x-{id}", "close"))))
      )
    }))
})

describe("A URI is known", () => {
  it.scoped("when a resource has it, or a template matches it", () =>
    Effect.gen(function*() {
      const registry = yield* Registry.make
      const id = ResourceTemplate.param("id", Schema.NumberFromString)
      yield* Layer.build(Layer.provide(
        Layer.merge(
          at("file:///a", "A"),
          McpServer.resourceTemplate(ResourceTemplate.make("note")`note:///${id}`, () => Effect.succeed(""))
        ),
        Layer.succeed(Registry.Registry, registry)
      ))
      for (
        const [uri, isKnown] of [["file:///a", true], ["file:///b", false], ["note:///1", true], [
          "note:///",
          true
        ]] as const
      ) {
        assert.strictEqual(Resources.isKnown(registry, uri), isKnown, uri)
      }
    }))
})
