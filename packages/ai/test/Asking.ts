/**
 * A server whose tool asks the client's model, for the tests of sampling, and short forms of messages and of the answers of a
 * scripted model.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, type Layer, Schema } from "effect"
import * as ScriptedModel from "./ScriptedModel.js"
import { client, type eras } from "./Serving.js"

/** A tool that asks the client's model to continue these messages, and gives the answer or the error as JSON. */
const Ask = Tool.make("ask", {
  parameters: { params: Schema.Unknown },
  success: Schema.Struct({ answer: Schema.optional(Schema.Unknown), error: Schema.optional(Schema.Unknown) })
})
export const AskLive = McpServer.tool(Ask, ({ params }) =>
  Effect.gen(function*() {
    const session = yield* ServerSession.ServerSession
    return yield* session.createMessage(params as CreateMessageParams).pipe(
      Effect.map((answer): { answer?: unknown; error?: unknown } => ({ answer })),
      Effect.catchTags({
        InternalError: ({ message }) => Effect.succeed({ error: message }),
        InvalidParams: ({ message }) => Effect.succeed({ error: message }),
        PeerError: ({ code, message }) => Effect.succeed({ error: { code, message } })
      })
    )
  }))

export const user = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } })

type Versions = (typeof eras)[number][1]

/** Runs `ask` at a client with this feature. */
export const ask = <E, R>(
  features: Layer.Layer<never, E, R>,
  params: Partial<CreateMessageParams>,
  versions: Versions = ["2025-11-25"]
) =>
  Effect.gen(function*() {
    const session = yield* client(AskLive, { versions, client: { features } })
    const result = yield* session.callTool("ask", { params: { messages: [user("Hi")], maxTokens: 100, ...params } })
    return result.structuredContent as { readonly answer?: CreateMessageResult; readonly error?: unknown }
  })

export const say = (text: string, reason: Parameters<typeof ScriptedModel.finish>[0] = "stop", tokens?: number) => [
  ScriptedModel.text(text),
  ScriptedModel.finish(reason, tokens)
]
