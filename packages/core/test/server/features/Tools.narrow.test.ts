import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { LegacyVersion } from "@effect-mcp/core/protocol/Version"
import * as Version from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Effect, Schema } from "effect"
import { call, connect, result, serve } from "../Serving.js"

const meta = { "example.com/id": 1 }

const Rich = Tool.make("rich", {
  title: "Rich",
  description: "Everything at once.",
  success: Schema.Struct({ n: Schema.Int }),
  annotations: { readOnlyHint: true },
  icons: [{ src: "https://example.com/icon.png" }],
  meta
})
const Numbers = Tool.make("numbers", { success: Schema.Array(Schema.Int) })
const Either = Tool.make("either", {
  success: Schema.Union(Schema.Struct({ a: Schema.Int }), Schema.Struct({ b: Schema.Int }))
})
const Maybe = Tool.make("maybe", { success: Schema.NullOr(Schema.Struct({ a: Schema.Int })) })

const annotations = { priority: 1, lastModified: "2025-01-01T00:00:00Z" }
const RichLive = McpServer.implement(Definition.make(Rich, Numbers, Either, Maybe), {
  rich: () =>
    Effect.gen(function*() {
      const context = yield* RequestContext
      yield* context.progress(1, { message: "rich" })
      return ToolResult.text("text", { annotations, meta }).pipe(
        ToolResult.concat(ToolResult.audio("AQ==", "audio/wav", { annotations })),
        ToolResult.concat(ToolResult.link({ uri: "file:///a", name: "a", title: "A", size: 3 })),
        ToolResult.concat(ToolResult.resource({ uri: "file:///a", text: "a" }, { meta })),
        ToolResult.withStructured({ n: 1 }),
        ToolResult.withMeta(meta)
      )
    }),
  numbers: () => Effect.succeed([1, 2]),
  either: () => Effect.succeed({ b: 1 }),
  maybe: () => Effect.succeed({ a: 1 })
})

interface Told {
  readonly tools: Record<string, object>
  readonly progress: object
  readonly rich: object
  readonly numbers: object
  readonly either: object
  readonly maybe: object
}

/** All that a client of a revision hears of these tools; the official schema of the revision has taken it. */
const told = (version: LegacyVersion) =>
  Effect.gen(function*() {
    const peer = yield* connect(version)
    const list = yield* peer.expectResult(yield* peer.request("tools/list"))
    const id = yield* call(peer, "rich", {}, 1)
    const progress = yield* peer.expectNotification("notifications/progress")
    return {
      tools: Object.fromEntries((list.tools as ReadonlyArray<{ name: string }>).map((tool) => [tool.name, tool])),
      progress,
      rich: yield* peer.expectResult(id),
      numbers: yield* result(peer, "numbers"),
      either: yield* result(peer, "either"),
      maybe: yield* result(peer, "maybe")
    } as unknown as Told
  }).pipe(Effect.scoped, Effect.provide(serve(RichLive)))

describe("A client receives only what its revision knows", () => {
  for (const version of Version.legacy) {
    it.effect(`at ${version}`, () =>
      Effect.gen(function*() {
        const { either, maybe, numbers, progress, rich, tools } = yield* told(version)
        const since = <A extends object>(came: string, what: A): A | undefined => version >= came ? what : undefined
        const older = version < "2025-06-18"

        assert.deepStrictEqual(tools.rich, {
          name: "rich",
          description: "Everything at once.",
          inputSchema: { type: "object", additionalProperties: false },
          ...since("2025-03-26", { annotations: { readOnlyHint: true } }),
          ...since("2025-06-18", {
            title: "Rich",
            outputSchema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
            _meta: meta
          }),
          ...since("2025-11-25", { icons: [{ src: "https://example.com/icon.png" }] })
        })
        assert.deepStrictEqual(progress, { progressToken: 1, progress: 1, ...since("2025-03-26", { message: "rich" }) })
        assert.deepStrictEqual(rich, {
          content: [
            {
              type: "text",
              text: "text",
              annotations: older ? { priority: 1 } : annotations,
              ...since("2025-06-18", { _meta: meta })
            },
            version < "2025-03-26"
              ? { type: "text", text: "[audio: audio/wav]", annotations: { priority: 1 } }
              : {
                type: "audio",
                data: "AQ==",
                mimeType: "audio/wav",
                annotations: older ? { priority: 1 } : annotations
              },
            older
              ? { type: "text", text: "[resource: a] file:///a" }
              : { type: "resource_link", uri: "file:///a", name: "a", title: "A", size: 3 },
            { type: "resource", resource: { uri: "file:///a", text: "a" }, ...since("2025-06-18", { _meta: meta }) }
          ],
          ...since("2025-06-18", { structuredContent: { n: 1 } }),
          _meta: meta
        })

        // Structured content of a legacy revision is an object: any other value is the member of an object.
        const numbersSchema = { type: "array", items: { type: "integer" } }
        const object = { type: "object", required: ["a"], properties: { a: { type: "integer" } } }
        for (
          const [name, schema] of [["numbers", numbersSchema], ["maybe", {
            anyOf: [object, { type: "null" }]
          }]] as const
        ) {
          const outputSchema = { type: "object", properties: { result: schema }, required: ["result"] }
          assert.deepStrictEqual(
            (tools[name] as { readonly outputSchema?: object }).outputSchema,
            since("2025-06-18", outputSchema)
          )
        }
        assert.deepStrictEqual(numbers, {
          content: [{ type: "text", text: "[1,2]" }],
          ...since("2025-06-18", { structuredContent: { result: [1, 2] } })
        })
        assert.deepStrictEqual(maybe, {
          content: [{ type: "text", text: `{"a":1}` }],
          ...since("2025-06-18", { structuredContent: { result: { a: 1 } } })
        })
        assert.deepStrictEqual("outputSchema" in tools.either!, !older)
        assert.deepStrictEqual(either, {
          content: [{ type: "text", text: `{"b":1}` }],
          ...since("2025-06-18", { structuredContent: { b: 1 } })
        })
      }))
  }
})
