/**
 * A server of notes over standard streams: it searches them, and has the client's model summarize them one after another, with
 * progress. The calendar server has a tool of the same name.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const notes = [
  { title: "Oslo", text: "The talk is on Friday. The train leaves at seven." },
  { title: "Bergen", text: "It rains. Take the boat to the island." }
]

const Search = Tool.make("search", {
  description: "Finds notes by a word in their title or text.",
  parameters: { q: Schema.String },
  success: Schema.Struct({ titles: Schema.Array(Schema.String) }),
  annotations: { readOnlyHint: true }
})

const Summarize = Tool.make("summarize", {
  description: "Summarizes all notes.",
  success: Schema.Struct({ summaries: Schema.Array(Schema.String) }),
  annotations: { readOnlyHint: true }
})

const SearchLive = McpServer.tool(Search, ({ q }) =>
  Effect.succeed({
    titles: notes.filter(({ text, title }) => `${title} ${text}`.includes(q)).map(({ title }) => title)
  }))

const SummarizeLive = McpServer.tool(Summarize, () =>
  Effect.gen(function*() {
    const session = yield* ServerSession.ServerSession
    const summaries = yield* Effect.forEach(notes, ({ text, title }, index) =>
      Effect.gen(function*() {
        yield* session.progress(index + 1, { total: notes.length, message: `summarizing ${title}` })
        const { content } = yield* session.createMessage({
          systemPrompt: "Summarize in one sentence.",
          messages: [{ role: "user", content: { type: "text", text } }],
          modelPreferences: { hints: [{ name: "small" }], speedPriority: 1 },
          maxTokens: 50
        })
        return "text" in content ? content.text : "(no text)"
      }))
    return { summaries }
  }))

StdioServer.layer.pipe(
  Layer.provide(McpServer.layer({ name: "notes", version: "1.0.0" }, Layer.merge(SearchLive, SummarizeLive))),
  Layer.launch,
  StdioServer.runMain
)
