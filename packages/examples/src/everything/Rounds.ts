/**
 * Tools and a prompt that ask before they answer. The same handlers serve every revision: up to 2025-11-25 the server sends
 * requests to the client, and from 2026-07-28 on the client sends its request again with the answers.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import { type AskError, ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const name = Ask.elicit({ message: "What is your name?", schema: Schema.Struct({ name: Schema.String }) })
const color = Ask.elicit({ message: "What is your favorite color?", schema: Schema.Struct({ color: Schema.String }) })
const confirmation = Ask.elicit({ message: "Please confirm", schema: Schema.Struct({ ok: Schema.Boolean }) })
const topic = Ask.elicit({
  message: "What context should the prompt use?",
  schema: Schema.Struct({ context: Schema.String })
})
const sample = (text: string, maxTokens: number) =>
  Ask.sample({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens })

/** The content of a form, or what the person did instead. */
const content = <A>(answer: Ask.Elicited<A>): A | string => answer.action === "accept" ? answer.content : answer.action

const ask = <const Q extends Readonly<Record<string, Ask.Question<any>>>>(questions: Q) =>
  Effect.flatMap(ServerSession, (session) => session.ask(questions))

const asking = (
  suffix: string,
  description: string,
  handler: Effect.Effect<unknown, AskError, ServerSession>
) =>
  McpServer.tool(
    Tool.make(`test_input_required_result_${suffix}`, { description }),
    () => Effect.map(handler, (answer) => typeof answer === "string" ? answer : JSON.stringify(answer))
  )

export const layer = Layer.mergeAll(
  asking(
    "elicitation",
    "Asks for a name.",
    Effect.map(
      ask({ user_name: name }),
      ({ user_name }) => user_name.action === "accept" ? `Hello, ${user_name.content.name}!` : "Hello!"
    )
  ),
  asking("sampling", "Asks the model.", ask({ capital_question: sample("What is the capital of France?", 100) })),
  asking("list_roots", "Asks for the roots.", ask({ client_roots: Ask.roots })),
  asking(
    "request_state",
    "Asks for a confirmation.",
    Effect.map(ask({ confirm: confirmation }), ({ confirm }) => `state-ok: ${JSON.stringify(content(confirm))}`)
  ),
  asking(
    "multiple_inputs",
    "Asks three things at once.",
    ask({ user_name: name, greeting: sample("Say hello", 50), client_roots: Ask.roots })
  ),
  asking(
    "multi_round",
    "Asks two things, one after the other.",
    Effect.gen(function*() {
      const { step1 } = yield* ask({ step1: name })
      const { step2 } = yield* ask({ step2: color })
      return { ...step1, ...step2 }
    })
  ),
  asking("tampered_state", "Asks for a confirmation.", ask({ confirm: confirmation })),
  asking(
    "capabilities",
    "Asks what the client can answer.",
    Effect.flatMap(
      ServerSession,
      (session): Effect.Effect<unknown, AskError, ServerSession> =>
        session.client.supports({ sampling: {} })
          ? ask({ question: sample("What can you do?", 20) })
          : session.client.supports({ elicitation: {} })
          ? ask({ question: name })
          : Effect.succeed("The client can answer nothing.")
    )
  ),
  McpServer.prompt(
    Prompt.make("test_input_required_result_prompt", { description: "Asks which context the prompt uses." }),
    () => Effect.map(ask({ user_context: topic }), ({ user_context }) => JSON.stringify(content(user_context)))
  )
)
