/**
 * Tools that ask the client's side while they run: its model, the person in front of it, the folders it works in. How a
 * question travels, and whether the client can be asked at all, is not their business.
 */
import * as Tool from "@effect-mcp/definition/Tool"
import * as McpServer from "@effect-mcp/server/McpServer"
import type { AskError } from "@effect-mcp/server/ServerSession"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import { Effect, Layer, Schema } from "effect"

const Sampling = Tool.make("test_sampling", {
  description: "Has the client's model answer a prompt.",
  parameters: { prompt: Schema.String }
})
const Elicitation = Tool.make("test_elicitation", {
  description: "Has a person fill in a form.",
  parameters: { message: Schema.String }
})
const Defaults = Tool.make("test_elicitation_sep1034_defaults", {
  description: "Has a person fill in a form that is filled in already."
})
const Enums = Tool.make("test_elicitation_sep1330_enums", {
  description: "Has a person choose, one of several and several of many, with titles and without."
})
const OpenPage = Tool.make("test_elicitation_url", {
  description: "Has a person open a page, and says when they are done there."
})
const Roots = Tool.make("test_list_roots", { description: "Lists the folders that the client works in." })

// A form is a schema. Titles, descriptions and defaults come from its annotations.
const User = Schema.Struct({
  username: Schema.String.annotations({ description: "User's response" }),
  email: Schema.String.annotations({ description: "User's email address" })
})

const Profile = Schema.Struct({
  name: Schema.optionalWith(Schema.String, { default: () => "John Doe" }),
  age: Schema.optionalWith(Schema.Int, { default: () => 30 }),
  score: Schema.optionalWith(Schema.Number, { default: () => 95.5 }),
  status: Schema.optionalWith(Schema.Literal("active", "inactive", "pending"), { default: () => "active" as const }),
  verified: Schema.optionalWith(Schema.Boolean, { default: () => true })
})

const options = ["option1", "option2", "option3"]
const titled = ["value1", "value2", "value3"].map((one, n) => ({ const: one, title: `Option ${n + 1}` }))

const answered = (result: { readonly action: string; readonly content?: unknown }): string =>
  `Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`

const asking = <A>(
  ask: (session: ServerSession["Type"]) => Effect.Effect<A, AskError>
): Effect.Effect<A, AskError, ServerSession> => Effect.flatMap(ServerSession, ask)

export const layer = Layer.mergeAll(
  McpServer.tool(Sampling, ({ prompt }) =>
    asking((session) =>
      Effect.map(
        session.createMessage({
          messages: [{ role: "user", content: { type: "text", text: prompt } }],
          maxTokens: 100
        }),
        ({ content }) => `LLM response: ${"text" in content ? content.text : JSON.stringify(content)}`
      )
    )),
  McpServer.tool(
    Elicitation,
    ({ message }) => asking((session) => Effect.map(session.elicit({ message, schema: User }), answered))
  ),
  McpServer.tool(
    Defaults,
    () => asking((session) => Effect.map(session.elicit({ message: "Is this you?", schema: Profile }), answered))
  ),
  // Fields may be described as they stand on the wire, too: here, every shape that a choice can have.
  McpServer.tool(Enums, () =>
    asking((session) =>
      Effect.map(
        session.elicit({
          message: "Choose",
          requestedSchema: {
            type: "object",
            properties: {
              untitledSingle: { type: "string", enum: options },
              titledSingle: { type: "string", oneOf: titled },
              legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option 1", "Option 2"] },
              untitledMulti: { type: "array", items: { type: "string", enum: options } },
              titledMulti: { type: "array", items: { anyOf: titled } }
            }
          }
        }),
        answered
      )
    )),
  McpServer.tool(OpenPage, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const elicitationId = `page-${session.id}`
      const action = yield* session.elicitUrl({
        message: "Please sign in",
        url: "https://example.com/sign-in",
        elicitationId
      })
      if (action === "accept") yield* session.elicitationComplete(elicitationId)
      return `The person chose to ${action}`
    })),
  McpServer.tool(
    Roots,
    () =>
      asking((session) =>
        Effect.map(session.listRoots, (roots) => roots.map(({ name, uri }) => `${name ?? "?"}: ${uri}`).join("\n"))
      )
  )
)
