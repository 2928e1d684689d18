/**
 * Tools that send requests to the client while they run: sampling, elicitation, roots.
 *
 * The server sends the requests as the transport and the revision require, and fails requests that the client does not support.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import { type AskError, ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Sampling = Tool.make("test_sampling", {
  description: "Samples an answer to a prompt from the client's model.",
  parameters: { prompt: Schema.String }
})
const Elicitation = Tool.make("test_elicitation", {
  description: "Elicits a form from the user.",
  parameters: { message: Schema.String }
})
const Defaults = Tool.make("test_elicitation_sep1034_defaults", {
  description: "Elicits a form in which every field has a default."
})
const Enums = Tool.make("test_elicitation_sep1330_enums", {
  description: "Elicits single and multiple choices, with and without titles."
})
const OpenPage = Tool.make("test_elicitation_url", {
  description: "Asks the user to open a URL, and notifies the client of its completion."
})
const Roots = Tool.make("test_list_roots", { description: "Lists the roots of the client." })

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

const describe = (result: { readonly action: string; readonly content?: unknown }): string =>
  `Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`

const withSession = <A>(
  ask: (session: ServerSession["Type"]) => Effect.Effect<A, AskError>
): Effect.Effect<A, AskError, ServerSession> => Effect.flatMap(ServerSession, ask)

export const layer = Layer.mergeAll(
  McpServer.tool(Sampling, ({ prompt }) =>
    withSession((session) =>
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
    ({ message }) => withSession((session) => Effect.map(session.elicit({ message, schema: User }), describe))
  ),
  McpServer.tool(
    Defaults,
    () => withSession((session) => Effect.map(session.elicit({ message: "Is this you?", schema: Profile }), describe))
  ),
  // A form can also be given as JSON Schema: here with every kind of choice.
  McpServer.tool(Enums, () =>
    withSession((session) =>
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
        describe
      )
    )),
  McpServer.tool(OpenPage, () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      const elicitationId = `page-${session.id}`
      const action = yield* session.elicit({
        message: "Please sign in",
        url: "https://example.com/sign-in",
        elicitationId
      })
      if (action === "accept") yield* session.elicitationComplete(elicitationId)
      return `The action of the user: ${action}`
    })),
  McpServer.tool(
    Roots,
    () =>
      withSession((session) =>
        Effect.map(session.listRoots, (roots) => roots.map(({ name, uri }) => `${name ?? "?"}: ${uri}`).join("\n"))
      )
  )
)
