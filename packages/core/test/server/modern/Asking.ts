/** Tools that ask, and clients that answer them. */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect, Schema } from "effect"
import { call } from "./Modern.js"

export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** A tool without parameters that may ask. */
export const asking = (handler: Effect.Effect<unknown, any, any>, name = "ask") =>
  McpServer.tool(
    Tool.make(name, { parameters: { n: Schema.optional(Schema.Number) } }),
    () =>
      Effect.map(handler, (value) => JSON.stringify(value) ?? "nothing") as Effect.Effect<string, never, ServerSession>
  )

export const session = ServerSession

export const confirm = (message: string) => Effect.flatMap(session, ({ ask }) => ask({ sure: Ask.confirm(message) }))

export const Name = Schema.Struct({ name: Schema.String })

export const elicit = (message: string) => Effect.flatMap(session, (one) => one.elicit({ message, schema: Name }))

export interface Required {
  readonly resultType: "input_required"
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: JsonObject }>>
  readonly requestState: string
}

/** Calls the tool, with answers and state if there are any. */
export const ask = (peer: TestPeer, params: JsonObject = {}, declared: JsonObject = capabilities) =>
  Effect.map(
    call(peer, "ask", params, { capabilities: declared }),
    (result) => result as unknown as Required & JsonObject
  )

export const accept = { action: "accept", content: {} }

export const named = (name: string) => ({ action: "accept", content: { name } })

/** The parameters of the next round, with the same response to every question. */
export const retry = (
  { inputRequests, requestState }: Required,
  response: (key: string) => JsonObject = () => accept
) => ({
  requestState,
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response(key)]))
})

export const questions = ({ inputRequests }: Required) =>
  Object.values(inputRequests).map(({ params }) => params.message as string)
