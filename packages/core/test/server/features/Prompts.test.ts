import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import type * as Prompts from "@effect-mcp/core/protocol/Prompts"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, Schema } from "effect"
import * as Modern from "../modern/Modern.js"
import { connect, logbook, serve, unchecked } from "../Serving.js"

const get = (peer: TestPeer, name: string, args?: unknown) =>
  peer.request("prompts/get", args === undefined ? { name } : { name, arguments: args })

const got = (peer: TestPeer, name: string, args?: unknown) => Effect.flatMap(get(peer, name, args), peer.expectResult)

const refusal = (peer: TestPeer, name: string, args?: unknown) =>
  Effect.flatMap(get(peer, name, args), peer.expectError)

const list = (peer: TestPeer, cursor?: string) =>
  Effect.flatMap(peer.request("prompts/list", cursor === undefined ? undefined : { cursor }), peer.expectResult)

const named = (...names: ReadonlyArray<string>) =>
  Layer.mergeAll(
    ...names.map((name) => McpServer.prompt(Prompt.make(name), () => Effect.succeed(name))) as [
      Layer.Layer<never, never, Registry>
    ]
  )

const said = (text: string) => ({ role: "user", content: { type: "text", text } })

const Review = Prompt.make("review", {
  title: "Review",
  description: "Asks for a review.",
  arguments: {
    code: Schema.String.annotations({ description: "What to review." }),
    depth: Schema.optionalWith(
      Schema.NumberFromString.pipe(Schema.int()).annotations({ title: "Depth", description: "How deep." }),
      { default: () => 1 }
    ),
    tone: Schema.optional(Schema.Literal("kind", "harsh"))
  },
  icons: [{ src: "https://example.com/icon.png" }],
  meta: { "example.com/a": 1 }
})
const ReviewLive = McpServer.prompt(Review, (parameters) => Effect.succeed(JSON.stringify(parameters)))

class Db extends Context.Tag("Db")<Db, string>() {}

describe("prompts/list", () => {
  it.scoped("continues from page to page, in the order of names", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const first = yield* list(peer)
      assert.deepStrictEqual(first.prompts, [{ name: "a" }, { name: "b" }])
      assert.deepStrictEqual(yield* list(peer, first.nextCursor as string), { prompts: [{ name: "c" }] })
      const error = yield* peer.expectError(yield* peer.request("prompts/list", { cursor: "none of ours" }))
      assert.strictEqual(error.code, -32602)
    }).pipe(Effect.provide(serve(named("c", "a", "b"), { limits: { pageSize: 2 } }))))

  for (const version of Version.legacy) {
    it.scoped(`sends at ${version} what that revision knows of a prompt`, () =>
      Effect.gen(function*() {
        const [prompt] = (yield* list(yield* connect(version))).prompts as ReadonlyArray<object>
        assert.deepStrictEqual(prompt, {
          name: "review",
          description: "Asks for a review.",
          arguments: [
            { name: "code", description: "What to review.", required: true },
            {
              name: "depth",
              ...(version < "2025-06-18" ? undefined : { title: "Depth" }),
              description: "How deep.",
              required: false
            },
            { name: "tone", required: false }
          ],
          ...(version < "2025-06-18" ? undefined : { title: "Review", _meta: { "example.com/a": 1 } }),
          ...(version < "2025-11-25" ? undefined : { icons: [{ src: "https://example.com/icon.png" }] })
        })
      }).pipe(Effect.provide(serve(ReviewLive))))
  }
})

describe("prompts/get", () => {
  it.scoped("gives messages for the decoded arguments, with defaults for missing ones", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* got(peer, "review", { code: "x" }), {
        description: "Asks for a review.",
        messages: [said(`{"code":"x","depth":1}`)]
      })
      assert.deepStrictEqual(
        (yield* got(peer, "review", { code: "", depth: "3", tone: "kind", unknown: "ignored" })).messages,
        [said(`{"code":"","depth":3,"tone":"kind"}`)]
      )
    }).pipe(Effect.provide(serve(ReviewLive))))

  it.scoped("SHOULD refuse arguments that are missing or do not decode, and name them", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const wrong: ReadonlyArray<readonly [object | undefined, ReadonlyArray<string>]> = [
        [undefined, ["code"]],
        [{}, ["code"]],
        [{ code: "x", depth: "deep" }, ["depth"]],
        [{ code: "x", depth: "1.5" }, ["depth"]],
        [{ code: "x", tone: "loud" }, ["tone"]]
      ]
      for (const [args, paths] of wrong) {
        const error = yield* refusal(peer, "review", args)
        assert.strictEqual(error.code, -32602)
        assert.isTrue(error.message.startsWith(`Invalid arguments for prompt "review": ${paths[0]}: `), error.message)
        const { issues } = error.data as { readonly issues: ReadonlyArray<{ readonly path: string }> }
        assert.sameMembers([...new Set(issues.map(({ path }) => path))], [...paths])
      }
    }).pipe(Effect.provide(serve(ReviewLive))))

  it.scoped("MUST refuse arguments that are not strings", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked()
      for (const args of [{ code: 1 }, { code: null }, { code: ["x"] }, "x", ["x"], null]) {
        assert.strictEqual((yield* refusal(peer, "review", args)).code, -32602)
      }
    }).pipe(Effect.provide(serve(ReviewLive))))

  it.scoped("SHOULD refuse a name that no prompt has", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const name of ["revue", "constructor", ""]) {
        assert.deepStrictEqual(yield* refusal(peer, name), { code: -32602, message: `Unknown prompt: ${name}` })
      }
      assert.isBelow(JSON.stringify(yield* refusal(peer, "x".repeat(10_000))).length, 500)
    }).pipe(Effect.provide(serve(ReviewLive))))

  it.scoped("gives one message, several of both roles, or a whole result", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual((yield* got(peer, "one")).messages, [said("hi")])
      assert.deepStrictEqual((yield* got(peer, "several")).messages, [
        said("hi"),
        { role: "assistant", content: { type: "text", text: "hello" } },
        { role: "user", content: { type: "image", data: "AQ==", mimeType: "image/png" } }
      ])
      assert.deepStrictEqual((yield* got(peer, "none")).messages, [])
      assert.deepStrictEqual(yield* got(peer, "whole"), {
        description: "of its own",
        messages: [said("hi")],
        _meta: { "example.com/a": 1 }
      })
    }).pipe(Effect.provide(serve(Layer.mergeAll(
      McpServer.prompt(Prompt.make("one"), () => Effect.succeed("hi")),
      McpServer.prompt(Prompt.make("several"), () =>
        Effect.succeed([
          Prompt.user("hi"),
          Prompt.assistant("hello"),
          Prompt.user({ type: "image", data: "AQ==", mimeType: "image/png" })
        ])),
      McpServer.prompt(Prompt.make("none"), () => Effect.succeed([])),
      McpServer.prompt(Prompt.make("whole", { description: "another" }), () =>
        Effect.succeed({
          description: "of its own",
          messages: [Prompt.user("hi")],
          _meta: { "example.com/a": 1 }
        }))
    )))))

  it.scoped("sends what the client's revision knows: audio as text to the oldest", () =>
    Effect.gen(function*() {
      for (const [version, type] of [["2024-11-05", "text"], ["2025-03-26", "audio"]] as const) {
        const { messages } = yield* got(yield* connect(version), "sound")
        assert.strictEqual((messages as ReadonlyArray<{ content: { type: string } }>)[0]?.content.type, type)
      }
    }).pipe(Effect.provide(serve(McpServer.prompt(Prompt.make("sound"), () =>
      Effect.succeed([Prompt.user({ type: "audio", data: "AQ==", mimeType: "audio/wav" })]))))))

  it.effect("runs with the services of its feature and of the request; its failure is an error response", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      const released: Array<string> = []
      const features = Layer.mergeAll(
        McpServer.prompt(Prompt.make("db"), () =>
          Effect.gen(function*() {
            const { method } = yield* RequestContext
            yield* Effect.addFinalizer(() => Effect.sync(() => released.push(method)))
            return `${yield* Db} for ${method}`
          })),
        McpServer.prompt(Prompt.make("later"), () => new InternalError({ message: "later", data: 1 })),
        McpServer.prompt(Prompt.make("dead"), () => Effect.die(new Error("hunter2"))),
        McpServer.prompt(Prompt.make("thrown"), () => {
          throw new Error("hunter2")
        }),
        McpServer.prompt(Prompt.make("wrong"), () => Effect.succeed([{ role: "system" }] as never))
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual((yield* got(peer, "db")).messages, [said("db for prompts/get")])
        assert.deepStrictEqual(released, ["prompts/get"])
        assert.deepStrictEqual(yield* refusal(peer, "later"), { code: -32603, message: "later", data: 1 })
        assert.deepStrictEqual(lines, [])
        for (const name of ["dead", "thrown", "wrong"]) {
          assert.deepStrictEqual(yield* refusal(peer, name), { code: -32603, message: "Internal error" })
          assert.include(String(lines.splice(0)[0]?.cause), name === "wrong" ? "returned a value" : "hunter2")
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(serve(features), Layer.merge(layer, Layer.succeed(Db, "db"))))
      )
    }))
})

describe("The content that a handler returns", () => {
  const image = (data: string, mimeType: string) => ({ type: "image", data, mimeType }) as const
  const live = (content: Prompts.PromptMessage["content"]) =>
    Layer.merge(
      McpServer.prompt(Prompt.make("show"), () => Effect.succeed([Prompt.user("Look:"), Prompt.user(content)])),
      McpServer.resource(
        Resource.make("raw", { uri: "file:///raw" }),
        Effect.succeed({ uri: "file:///raw", blob: "no base64" })
      )
    )

  for (
    const [content, why] of [
      [image("no base64", "image/png"), "message 1: the data of the image is not base64"],
      [image("AAAA", "png"), "message 1: the media type is not a type and a subtype"],
      [{ type: "audio", data: "!", mimeType: "audio/wav" }, "message 1: the data of the audio is not base64"]
    ] as const
  ) {
    it.effect(`MUST be base64 with a valid media type: ${why}`, () => {
      const { layer, lines } = logbook()
      return Effect.gen(function*() {
        const peer = yield* connect()
        const error = yield* peer.expectError(yield* peer.request("prompts/get", { name: "show" }))
        assert.deepStrictEqual(error, { code: -32603, message: "Internal error" })
        assert.include(String(lines[0]?.cause), why)
        const modern = yield* Modern.error(yield* Modern.connect, "prompts/get", { name: "show" })
        assert.deepStrictEqual(modern, { code: -32603, message: "Internal error" })
        assert.include(String(lines[1]?.cause), why)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(live(content)), layer)))
    })
  }

  it.effect("MUST be base64 in the blob of a resource", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const peer = yield* connect()
      const error = yield* peer.expectError(yield* peer.request("resources/read", { uri: "file:///raw" }))
      assert.deepStrictEqual(error, { code: -32603, message: "Internal error" })
      assert.include(String(lines[0]?.cause), "content 0: the blob of the resource is not base64")
      const modern = yield* Modern.error(yield* Modern.connect, "resources/read", { uri: "file:///raw" })
      assert.deepStrictEqual(modern, { code: -32603, message: "Internal error" })
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(live(image("AAAA", "image/png"))), layer)))
  })

  it.scoped("is sent as it is when it is valid", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const { messages } = yield* peer.expectResult(yield* peer.request("prompts/get", { name: "show" }))
      assert.deepStrictEqual((messages as ReadonlyArray<unknown>)[1], Prompt.user(image("AAAA", "image/png")))
    }).pipe(Effect.provide(serve(live(image("AAAA", "image/png"))))))
})
