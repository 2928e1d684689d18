import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Resource from "@effect-mcp/core/Resource"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Effect, Layer, Schema } from "effect"
import { call, connect, internalError, logbook, result, serve, unchecked } from "../Serving.js"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}

const Search = Tool.make("search", {
  parameters: { q: Schema.NonEmptyString, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
  success: Schema.Struct({ hits: Schema.Array(Schema.String), limit: Schema.Int }),
  failure: NotFound
})
const SearchLive = McpServer.tool(
  Search,
  ({ limit, q }) => q === "nothing" ? Effect.fail(new NotFound({ q })) : Effect.succeed({ hits: [q], limit })
)

const PhotoLive = McpServer.tool(
  Tool.make("photo", { success: Schema.Struct({ taken: Schema.Date }) }),
  () =>
    Effect.succeed(
      ToolResult.image(new Uint8Array([1, 2, 3]), "image/png", { annotations: { audience: ["user"] } }).pipe(
        ToolResult.concat(ToolResult.text("A photo.")),
        ToolResult.withStructured({ taken: new Date(0) }),
        ToolResult.withMeta({ "example.com/id": 1 })
      )
    )
)

describe("tools/call", () => {
  it.scoped("gives rich content as it was made", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* result(peer, "photo"), {
        content: [
          { type: "image", data: "AQID", mimeType: "image/png", annotations: { audience: ["user"] } },
          { type: "text", text: "A photo." }
        ],
        structuredContent: { taken: "1970-01-01T00:00:00.000Z" },
        _meta: { "example.com/id": 1 }
      })
    }).pipe(Effect.provide(serve(PhotoLive))))

  it.scoped("accepts a call without arguments as one with empty arguments", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* result(peer, "now"), { content: [{ type: "text", text: "now" }] })
      assert.deepStrictEqual(yield* result(peer, "now", {}), { content: [{ type: "text", text: "now" }] })
      assert.deepStrictEqual((yield* result(peer, "search")).isError, true)
    }).pipe(
      Effect.provide(serve(Layer.merge(SearchLive, McpServer.tool(Tool.make("now"), () => Effect.succeed("now")))))
    ))

  it.scoped("gives the calling program an McpError, with its code", () =>
    Effect.gen(function*() {
      const errors: ReadonlyArray<readonly [McpError.McpError, object]> = [
        [new McpError.InvalidParams({ message: "no", data: { a: 1 } }), {
          code: -32602,
          message: "no",
          data: { a: 1 }
        }],
        [new McpError.InternalError({ message: "later" }), { code: -32603, message: "later" }],
        [new McpError.PeerError({ code: 7, message: "own" }), { code: 7, message: "own" }],
        [
          new McpError.ResourceNotFound({ uri: "file:///a" }),
          { code: -32002, message: "Resource not found: file:///a", data: { uri: "file:///a" } }
        ]
      ]
      for (const [error, told] of errors) {
        yield* Effect.gen(function*() {
          const peer = yield* connect()
          assert.deepStrictEqual<unknown>(yield* peer.expectError(yield* call(peer, "fail")), told)
        }).pipe(
          Effect.scoped,
          Effect.provide(serve(McpServer.tool(Tool.make("fail"), () => Effect.fail(error))))
        )
      }
    }))

  for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    it.scoped(`SHOULD give the model the places of wrong arguments, at ${version}`, () =>
      Effect.gen(function*() {
        const peer = yield* connect(version)
        const text =
          `Invalid arguments for tool "search": q: Expected string, actual 1; limit: Expected an integer, actual 1.5`
        assert.deepStrictEqual(yield* result(peer, "search", { q: 1, limit: 1.5 }), {
          content: [{ type: "text", text }],
          isError: true
        })
      }).pipe(Effect.provide(serve(SearchLive))))
  }

  it.effect("names at most ten wrong arguments, and repeats no long value", () => {
    const names = Array.from({ length: 30 }, (_, i) => `a${i}`)
    const tool = Tool.make("many", { parameters: Object.fromEntries(names.map((name) => [name, Schema.Number])) })
    return Effect.gen(function*() {
      const peer = yield* connect()
      const args = Object.fromEntries(names.map((name) => [name, "secret".repeat(20)]))
      const { content } = yield* result(peer, "many", args)
      const [{ text }] = content as [{ readonly text: string }]
      assert.lengthOf(text.split("; "), 10)
      assert.notInclude(text, "secret")
    }).pipe(Effect.scoped, Effect.provide(serve(McpServer.tool(tool, () => Effect.void))))
  })

  it.effect("gives the model the mistake, too, where an object cannot become the text that a union needs", () => {
    const { layer, lines } = logbook()
    const member = <K extends string, A, I>(kind: K, value: Schema.Schema<A, I>) =>
      Schema.Struct({ kind: Schema.Literal(kind), value })
    const tool = Tool.make("draw", {
      parameters: { shape: Schema.Union(member("dot", Schema.Number), member("day", Schema.Date)) }
    })
    const kind = { toString: 1, valueOf: 1 }
    return Effect.gen(function*() {
      const peer = yield* connect()
      const { content, isError } = yield* result(peer, "draw", { shape: { kind, value: 1 } })
      assert.isTrue(isError)
      assert.match(JSON.stringify(content), /Invalid arguments for tool \\"draw\\": /)
      const custom = yield* peer.expectError(yield* peer.request("x/draw", { shape: { kind } }))
      assert.strictEqual(custom.code, -32602)
      assert.deepStrictEqual(lines, [])
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(
        serve(Layer.merge(
          McpServer.tool(tool, () => Effect.void),
          MethodHandler.customRequest(
            "x/draw",
            { params: tool.parameters as Schema.Schema<any>, result: Schema.Struct({}) },
            () => Effect.succeed({})
          )
        )),
        layer
      ))
    )
  })

  it.effect("dies where a schema of the tool throws", () => {
    const { layer, lines } = logbook()
    const broken = Schema.transform(Schema.String, Schema.String, {
      decode: () => {
        throw new Error("a bug")
      },
      encode: (s) => s
    })
    const live = McpServer.tool(Tool.make("broken", { parameters: { a: broken } }), () => Effect.void)
    return Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual<unknown>(yield* result(peer, "broken", { a: "" }), internalError)
      assert.include(String(lines[0]?.cause), "a bug")
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(live), layer)))
  })

  it.scoped("refuses arguments that are not an object with a protocol error, at every revision", () =>
    Effect.gen(function*() {
      for (const version of ["2024-11-05", "2025-11-25"]) {
        const peer = yield* unchecked(version)
        for (const args of [1, "text", [], true]) {
          assert.strictEqual((yield* peer.expectError(yield* call(peer, "search", args))).code, -32602)
        }
      }
    }).pipe(Effect.provide(serve(SearchLive))))

  it.scoped("runs no handler with wrong arguments, also where an effect decodes them", () =>
    Effect.gen(function*() {
      let ran = 0
      const Slow = Schema.transformOrFail(Schema.String, Schema.String, {
        decode: (s) => Effect.as(Effect.yieldNow(), s),
        encode: Effect.succeed
      })
      const tool = Tool.make("slow", { parameters: { a: Slow.pipe(Schema.minLength(2)) } })
      const SlowLive = McpServer.tool(tool, ({ a }) => Effect.sync(() => `${a} ${++ran}`))
      yield* Effect.gen(function*() {
        for (const version of ["2025-11-25", "2025-06-18"]) {
          const peer = yield* connect(version)
          const id = yield* call(peer, "slow", { a: "x" })
          assert.strictEqual((yield* peer.expectResult(id)).isError, true)
        }
        assert.strictEqual(ran, 0)
        const peer = yield* connect()
        assert.deepStrictEqual((yield* result(peer, "slow", { a: "xx" })).content, [{ type: "text", text: "xx 1" }])
      }).pipe(Effect.provide(serve(SlowLive)))
    }))

  it.effect("is answered with \"Internal error\" when the handler returns a value of another type", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const give = (value: unknown, name: string) =>
        McpServer.tool(
          Tool.make(name, { success: Schema.Struct({ n: Schema.Int }) }),
          () => Effect.succeed(value as never)
        )
      const features = Layer.mergeAll(
        give({ n: "secret" }, "wrong"),
        give(undefined, "nothing"),
        give(new ToolResult.ToolResult([{ type: "video" } as never], { n: 1 }), "content"),
        give(new ToolResult.ToolResult([], { n: "secret" }), "structured"),
        McpServer.tool(Tool.make("undeclared"), () => Effect.fail("secret" as never)),
        McpServer.tool(Tool.make("unspeakable", { success: Schema.Unknown }), () => Effect.succeed({ n: 1n }))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const name of ["wrong", "nothing", "content", "structured", "undeclared", "unspeakable"]) {
          assert.deepStrictEqual<unknown>(yield* result(peer, name), internalError, name)
          const logged = lines.splice(0)
          assert.deepStrictEqual(logged.map(({ level }) => level), ["Error"], name)
          assert.include(logged[0]!.message, `The handler of tool "${name}" died`)
        }
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features), layer)))
    }))

  it.effect("reports the defect of a handler that also failed", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const fails = Effect.fail(new NotFound({ q: "x" }))
      const dies = Effect.dieMessage("a bug")
      const one = (name: string, handler: Effect.Effect<never, NotFound>) =>
        McpServer.tool(Tool.make(name, { failure: NotFound }), () => handler)
      const features = Layer.mergeAll(
        one("finalizer", Effect.ensuring(fails, dies)),
        one(
          "beside",
          Effect.zipRight(Effect.all([fails, Effect.uninterruptible(dies)], { concurrency: 2 }), Effect.never)
        ),
        one("defect", Effect.zipRight(dies, fails)),
        one("interrupted", Effect.all([fails, Effect.never], { concurrency: 2 }) as Effect.Effect<never, NotFound>)
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        for (const name of ["finalizer", "beside", "defect"]) {
          assert.deepStrictEqual<unknown>(yield* result(peer, name), internalError, name)
          assert.include(String(lines.splice(0)[0]?.cause), "a bug")
        }
        assert.strictEqual((yield* result(peer, "interrupted")).isError, true)
        assert.lengthOf(lines, 0)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features), layer)))
    }))

  it.effect("treats a handler that joins an interrupted fiber as a defect, not as cancelled", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const joins = McpServer.tool(Tool.make("joins"), () => Effect.interrupt)
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual<unknown>(yield* result(peer, "joins"), internalError)
        assert.lengthOf(lines, 1)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(joins), layer)))
    }))

  it.effect("SHOULD NOT embed resources where the server offers none: the operator is told once", () => {
    const { layer, lines } = logbook()
    const embeds = McpServer.tool(
      Tool.make("embeds"),
      () => Effect.succeed(ToolResult.resource({ uri: "file:///a", text: "A" }))
    )
    const A = McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A"))
    const callTwice = Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "embeds")
      yield* result(peer, "embeds")
    }).pipe(Effect.scoped)
    return Effect.gen(function*() {
      yield* callTwice.pipe(Effect.provide(Layer.provide(serve(Layer.merge(embeds, A)), layer)))
      assert.deepStrictEqual(lines, [])
      yield* callTwice.pipe(Effect.provide(Layer.provide(serve(embeds), layer)))
      assert.deepStrictEqual(lines.map(({ message }) => message), [
        `The handler of tool "embeds" embeds resources, and this server offers none: add a resource or a template`
      ])
    })
  })
})
