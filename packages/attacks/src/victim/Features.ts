/**
 * What the attacked server offers: at least one feature of each kind, with handlers that cost nothing themselves.
 * The handlers of some tools never end by themselves, or answer as much as the call says.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Echo = Tool.make("echo", { parameters: { text: Schema.String }, success: Schema.Struct({ text: Schema.String }) })
const Wait = Tool.make("wait")
const Big = Tool.make("big", { parameters: { megabytes: Schema.Int } })
const Flood = Tool.make("flood", { parameters: { times: Schema.Int } })
const Emit = Tool.make("emit")
const Elicit = Tool.make("elicit")
const Endless = Tool.make("endless")
const Choose = Tool.make("choose", {
  parameters: {
    mode: Schema.Literal("a", "b", "c"),
    pattern: Schema.optional(Schema.String.pipe(Schema.pattern(/^[a-z]{1,20}$/))),
    deep: Schema.optional(Schema.Array(Schema.Struct({ n: Schema.Number })))
  }
})

const path = ResourceTemplate.param("path")
const id = ResourceTemplate.param("id")
const File = ResourceTemplate.make("file")`test://files/${path}/parts/${id}`
const Note = Resource.make("note", { uri: "test://note", mimeType: "text/plain" })

const Greeting = Prompt.make("greeting", { arguments: { name: Schema.String } })

const features = Layer.mergeAll(
  McpServer.tool(Echo, ({ text }) => Effect.succeed({ text })),
  McpServer.tool(Wait, () => Effect.never),
  McpServer.tool(Big, ({ megabytes }) => Effect.succeed("x".repeat(megabytes * 1_000_000))),
  McpServer.tool(
    Flood,
    ({ times }) =>
      Effect.flatMap(ServerSession, (session) =>
        Effect.asVoid(Effect.forEach(
          Array.from({ length: times }, (_, n) => n),
          (n) => session.log("info", { n, text: "x".repeat(1000) }),
          { discard: true }
        )))
  ),
  McpServer.tool(
    Emit,
    () => Effect.flatMap(ServerSession, (session) => Effect.forever(session.log("info", "x".repeat(1000))))
  ),
  McpServer.tool(
    Elicit,
    () =>
      Effect.flatMap(
        ServerSession,
        (session) =>
          Effect.asVoid(session.elicit({ message: "your name", schema: Schema.Struct({ name: Schema.String }) }))
      )
  ),
  McpServer.tool(Endless, () =>
    Effect.flatMap(
      ServerSession,
      (session) => Effect.forever(session.elicit({ message: `again ${Math.random()}`, schema: Schema.Struct({}) }))
    )),
  McpServer.tool(Choose, ({ mode }) => Effect.succeed(mode)),
  McpServer.resource(Note, Effect.succeed("a note")),
  McpServer.resourceTemplate(File, ({ id, path }) => Effect.succeed(`${path} ${id}`), {
    complete: { path: (value) => Effect.succeed([`${value}1`]) }
  }),
  McpServer.prompt(Greeting, ({ name }) => Effect.succeed(`Hello, ${name}`), {
    complete: { name: (value) => Effect.succeed(["Ada", "Alan"].filter((one) => one.startsWith(value))) }
  })
)

/** `maxInFlight` is how many requests of one client run at once. */
export const server = (maxInFlight: number | undefined) =>
  McpServer.layer({ name: "victim", version: "1.0.0" }, features, {
    limits: { maxInFlight, elicitationTimeout: "4 seconds" }
  })
