/**
 * What the server of the behaviours promises: one of everything that a server can do, as values that its client, and any
 * other program that calls it, know too.
 */
import * as Definition from "@effect-mcp/definition/Definition"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import * as ResourceTemplate from "@effect-mcp/definition/ResourceTemplate"
import * as Tool from "@effect-mcp/definition/Tool"
import { LoggingLevel } from "@effect-mcp/protocol/Logging"
import { Schema } from "effect"

export const info = { name: "behaviours", title: "Behaviours", version: "1.0.0" }

export const instructions = "Call anything."

/** How many entries a page of its lists holds. */
export const PAGE = 4

/** Names the handler that is meant: each test has keys of its own. */
const key = { key: Schema.String }

export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", { limit: Schema.Number }) {}

export const Add = Tool.make("add", {
  title: "Add",
  description: "Adds two numbers that are not too large.",
  parameters: { a: Schema.Number, b: Schema.optionalWith(Schema.Number, { default: () => 1 }) },
  success: Schema.Struct({ sum: Schema.Number }),
  failure: TooLarge,
  annotations: { readOnlyHint: true }
})

export const Rich = Tool.make("rich", { description: "Answers with a block of every kind." })

export const Steps = Tool.make("steps", {
  description: "Says how far it is as often as it is reports to, and ends.",
  parameters: { to: Schema.Int }
})

export const Hold = Tool.make("hold", {
  description: "Says once that it has begun, and waits until it is released or stopped.",
  parameters: key
})

export const Poll = Tool.make("poll", {
  description: "Ends the stream that its answer would travel on, where there is one, and waits until it is released.",
  parameters: key
})

export const Release = Tool.make("release", { description: "Lets go on what waits under a key.", parameters: key })

export const Log = Tool.make("log", {
  description: "Logs once at each of these levels, in this order.",
  parameters: { levels: Schema.Array(LoggingLevel) }
})

export const Die = Tool.make("die", { description: "Has a bug.", parameters: key })

export const Who = Tool.make("who", {
  description: "Says who asks, in which revision.",
  success: Schema.Struct({ name: Schema.String, version: Schema.String, inSession: Schema.Boolean })
})

export const Count = Tool.make("count", { description: "Says how often this client has called it." })

export const Kind = Schema.Literal("tool", "resource", "prompt")

export const Offer = Tool.make("offer", {
  description: "Offers something more, until it is withdrawn.",
  parameters: { kind: Kind, name: Schema.String }
})

export const Withdraw = Tool.make("withdraw", {
  description: "Offers it no more.",
  parameters: { name: Schema.String }
})

export const Touch = Tool.make("touch", { description: "Changes the watched resource." })

export const Sample = Tool.make("sample", {
  description: "Has the client's model answer.",
  parameters: { prompt: Schema.String }
})

export const Form = Tool.make("form", { description: "Has a person fill in a form that is filled in in part." })

export const Page = Tool.make("page", {
  description: "Has a person open a page, and says that they are done there.",
  parameters: { id: Schema.String }
})

export const Roots = Tool.make("roots", { description: "Lists the folders that the client works in." })

export const Text = Resource.make("text", { uri: "test://text", title: "Text", mimeType: "text/plain" })
export const Bytes = Resource.make("bytes", { uri: "test://bytes", mimeType: "application/octet-stream" })
export const Watched = Resource.make("watched", { uri: "test://watched", mimeType: "text/plain" })

export const Item = ResourceTemplate.make("item", {
  mimeType: "application/json"
})`test://items/${ResourceTemplate.param("id", Schema.NumberFromString.pipe(Schema.int()))}`

export const Plain = Prompt.make("plain", { description: "No arguments." })
export const Greet = Prompt.make("greet", {
  description: "Two arguments, one that completes itself and one that is completed.",
  arguments: { name: Schema.String, tone: Schema.Literal("formal", "friendly") }
})

export const Tools = Definition.make(
  Add,
  Rich,
  Steps,
  Hold,
  Poll,
  Release,
  Log,
  Die,
  Who,
  Count,
  Offer,
  Withdraw,
  Touch,
  Sample,
  Form,
  Page,
  Roots
)
