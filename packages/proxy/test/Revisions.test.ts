/**
 * What a proxy sends to a client and to an upstream is valid in the revision of whoever receives it. The official schemas check both
 * wires.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Effect, Layer, Schema } from "effect"
import { all, proxied } from "./Setting.js"

/** A tool whose handler asks the client. */
const asks = <A>(
  name: string,
  ask: (session: ServerSession["Type"]) => Effect.Effect<A, { readonly message: string }>
) =>
  McpServer.tool(
    Tool.make(name, { success: Schema.String }),
    () =>
      Effect.flatMap(ServerSession, (session) =>
        Effect.match(ask(session), {
          onFailure: ({ message }) => `failed: ${message}`,
          onSuccess: (answer) => JSON.stringify(answer)
        }))
  )

const form = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1, maxLength: 10, default: "Ada" },
    mail: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    share: { type: "number", default: 1 },
    agrees: { type: "boolean", default: false },
    color: { type: "string", enum: ["red", "blue"] },
    size: { type: "string", oneOf: [{ const: "s", title: "small" }, { const: "l", title: "large" }] },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 0, maxItems: 2 }
  },
  required: ["name"]
} as const

const weather = { name: "weather", description: "Weather", inputSchema: { type: "object" as const } }

const questions = Layer.mergeAll(
  asks("form", (session) => session.elicit({ message: "Who?", requestedSchema: form as never })),
  asks("page", (session) => session.elicit({ message: "Open", url: "https://example.com/", elicitationId: "e-1" })),
  asks("sample", (session) =>
    session.createMessage({
      messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
      maxTokens: 10,
      systemPrompt: "Be brief.",
      temperature: 0.5,
      stopSequences: ["."],
      modelPreferences: { hints: [{ name: "small" }], speedPriority: 1 }
    })),
  asks("use", (session) =>
    session.createMessage({
      messages: [
        { role: "user", content: [{ type: "text", text: "Weather?" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "weather", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", toolUseId: "1", content: [{ type: "text", text: "sunny" }] }]
        }
      ],
      maxTokens: 10,
      tools: [weather],
      toolChoice: { mode: "auto" }
    })),
  asks("roots", (session) => session.listRoots)
)

const pixel = "iVBORw0KGgo="
const icons = [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" as const }]
const annotations = { audience: ["user" as const], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" }

const id = ResourceTemplate.param("id")

const results = Layer.mergeAll(
  McpServer.tool(
    Tool.make("blocks", { title: "Blocks", description: "All kinds", icons, annotations: { readOnlyHint: true } }),
    () =>
      Effect.succeed(
        ToolResult.text("text", { annotations }).pipe(
          ToolResult.concat(ToolResult.image(pixel, "image/png")),
          ToolResult.concat(ToolResult.audio(pixel, "audio/wav")),
          ToolResult.concat(ToolResult.link({ uri: "file:///a", name: "a", title: "A", size: 3, icons, annotations })),
          ToolResult.concat(ToolResult.resource({ uri: "file:///a", text: "a", mimeType: "text/plain" })),
          ToolResult.withMeta({ "example.com/trace": "t" })
        ) as never
      )
  ),
  McpServer.tool(
    Tool.make("structured", { success: Schema.Struct({ n: Schema.Number }) }),
    () => Effect.succeed({ n: 1 })
  ),
  McpServer.tool(Tool.make("list", { success: Schema.Array(Schema.Number) }), () => Effect.succeed([1, 2])),
  McpServer.tool(Tool.make("fails", { failure: Schema.String }), () => Effect.fail("no")),
  McpServer.resource(
    Resource.make("a", { uri: "file:///a", title: "A", mimeType: "text/plain", size: 1, icons, annotations }),
    Effect.succeed("a")
  ),
  McpServer.resourceTemplate(
    ResourceTemplate.make("note", { title: "Note", icons })`note:///${id}`,
    () => Effect.succeed("a note"),
    { complete: { id: () => Effect.succeed(["1", "2"]) } }
  ),
  McpServer.prompt(
    Prompt.make("greet", { title: "Greet", icons, arguments: { name: Schema.String } }),
    ({ name }) => Effect.succeed(`Hello, ${name}`)
  )
)

/** A list of texts is an answer from 2025-11-25 on. */
const answersOf = (isLatest: boolean) =>
  Layer.mergeAll(
    ClientFeatures.elicitation(() =>
      Effect.succeed({ action: "accept" as const, content: isLatest ? { name: "Ada", tags: ["a"] } : { name: "Ada" } })
    ),
    ClientFeatures.urlElicitation(() => Effect.succeed("accept")),
    ClientFeatures.sampling(
      () =>
        Effect.succeed({ role: "assistant", model: "m", content: { type: "text", text: "Hi" }, stopReason: "endTurn" }),
      { tools: true, context: true }
    ),
    ClientFeatures.roots(Effect.succeed([{ uri: "file:///home", name: "home" }]))
  )

for (const client of Version.all) {
  for (const upstream of Version.all) {
    describe(`A proxy from ${client} to ${upstream}`, () => {
      it.scopedLive("sends valid questions and answers", () =>
        Effect.gen(function*() {
          const isLatest = [client, upstream].every((one) => Version.isAtLeast(one, "2025-11-25"))
          const features = answersOf(isLatest)
          const session = yield* proxied(questions, { client: [client], upstream: [upstream], features })
          const failed: Array<unknown> = []
          for (const tool of ["form", "page", "sample", "use", "roots"]) {
            const result = yield* session.callTool(tool)
            const [first] = result.content
            const text = first?.type === "text" ? first.text : ""
            if (text.startsWith("failed: ")) failed.push([tool, text])
          }
          // A revision may lack what is asked; then the server is told so, and sends nothing.
          for (const [, text] of failed as ReadonlyArray<readonly [string, string]>) {
            assert.match(text, /lacks a required|no "|Method not found/)
          }
          if (isLatest) assert.deepStrictEqual(failed, [])
        }))

      it.scopedLive("sends valid lists and results", () =>
        Effect.gen(function*() {
          const session = yield* proxied(results, { client: [client], upstream: [upstream] })
          assert.lengthOf(yield* all(session.tools), 4)
          assert.lengthOf(yield* all(session.resources), 1)
          assert.lengthOf(yield* all(session.resourceTemplates), 1)
          assert.lengthOf(yield* all(session.prompts), 1)
          const called: Array<JsonObject> = []
          for (const tool of ["blocks", "structured", "list", "fails"]) {
            called.push((yield* session.callTool(tool)) as never)
          }
          assert.deepStrictEqual(called.map(({ isError }) => isError === true), [false, false, false, true])
          yield* session.readResource("file:///a")
          yield* session.readResource("note:///1")
          yield* session.getPrompt("greet", { name: "Ada" })
        }))
    })
  }
}
