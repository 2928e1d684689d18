/**
 * The definition of the server of the behaviours: one of each feature.
 */
import * as Definition from "@effect-mcp/core/Definition"
import * as Prompt from "@effect-mcp/core/Prompt"
import { LoggingLevel } from "@effect-mcp/core/protocol/Logging"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import { Schema } from "effect"

export const info = { name: "behaviours", title: "Behaviours", version: "1.0.0" }

export const instructions = "Call anything."

/** The number of entries in a page of a list. */
export const PAGE = 6

/** Identifies a call: each test uses unique keys. */
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

export const Rich = Tool.make("rich", { description: "Returns content of every kind." })

export const Steps = Tool.make("steps", {
  description: "Reports progress a number of times.",
  parameters: { to: Schema.Int }
})

export const Hold = Tool.make("hold", {
  description: "Reports progress once, and waits until it is released or cancelled.",
  parameters: key
})

export const Poll = Tool.make("poll", {
  description: "Closes the stream of its response, if there is one, and waits until it is released.",
  parameters: key
})

export const Release = Tool.make("release", {
  description: "Releases the call that waits with this key.",
  parameters: key
})

export const Log = Tool.make("log", {
  description: "Logs once at each level, in this order.",
  parameters: { levels: Schema.Array(LoggingLevel) }
})

export const Die = Tool.make("die", { description: "Dies.", parameters: key })

export const Who = Tool.make("who", {
  description: "Returns the client's name and the revision.",
  success: Schema.Struct({ name: Schema.String, version: Schema.String, inSession: Schema.Boolean })
})

export const Count = Tool.make("count", { description: "Returns how often this client has called it." })

export const Kind = Schema.Literal("tool", "resource", "prompt")

export const Offer = Tool.make("offer", {
  description: "Adds a feature until it is withdrawn.",
  parameters: { kind: Kind, name: Schema.String }
})

export const Withdraw = Tool.make("withdraw", {
  description: "Removes a feature.",
  parameters: { name: Schema.String }
})

export const Crowd = Tool.make("crowd", {
  description: "Adds many tools as one change; without a name, removes them as one change.",
  parameters: { names: Schema.Array(Schema.String) }
})

export const Touch = Tool.make("touch", { description: "Changes the watched resource and the one that may be cached." })

export const Sample = Tool.make("sample", {
  description: "Requests a sample from the client's model.",
  parameters: { prompt: Schema.String }
})

export const Form = Tool.make("form", { description: "Elicits a form with defaults." })

/** The code around a question. */
export const Way = Schema.Literal(
  "plain",
  "catchAllCause",
  "exit",
  "option",
  "ignore",
  "retry",
  "timeout",
  "race",
  "uninterruptible",
  "uninterruptible and catchAllCause",
  "acquire",
  "forked",
  "forked in the scope",
  "concurrent",
  "one by one"
)

export const Ask = Tool.make("ask", {
  description: "Asks questions, acts, and returns the answers. It reports when it acts, and when its finalizers run.",
  parameters: { key: Schema.String, way: Way, questions: Schema.Array(Schema.String) }
})

export const Page = Tool.make("page", {
  description: "Elicits a URL, and notifies of its completion.",
  parameters: { id: Schema.String }
})

export const Roots = Tool.make("roots", { description: "Lists the roots of the client." })

export const Interview = Tool.make("interview", {
  description: "Asks in three rounds: for the roots, then for a sample, then for a form and a page together."
})

/** Over HTTP a modern client repeats the marked arguments in headers. */
const marked = (header: string, type: "string" | "integer") => ({ jsonSchema: { type, "x-mcp-header": header } })

export const Route = Tool.make("route", {
  description: "Returns the arguments and the headers that repeat them.",
  parameters: {
    region: Schema.String.annotations(marked("Region", "string")),
    priority: Schema.optional(Schema.Int.annotations(marked("Priority", "integer")))
  },
  success: Schema.Struct({ region: Schema.String, headers: Schema.Array(Schema.String) })
})

export const Large = Tool.make("large", {
  description: "Returns a text of this length.",
  parameters: { length: Schema.Int }
})

export const Text = Resource.make("text", { uri: "test://text", title: "Text", mimeType: "text/plain" })
export const Bytes = Resource.make("bytes", { uri: "test://bytes", mimeType: "application/octet-stream" })
export const Watched = Resource.make("watched", { uri: "test://watched", mimeType: "text/plain" })
/** Asks the client's user before it is read. */
export const Asked = Resource.make("asked", { uri: "test://asked", mimeType: "text/plain" })
/** May be cached. */
export const Kept = Resource.make("kept", { uri: "test://kept", mimeType: "text/plain" })

export const resources = [Asked, Bytes, Kept, Text, Watched]

export const Item = ResourceTemplate.make("item", {
  mimeType: "application/json"
})`test://items/${ResourceTemplate.param("id", Schema.NumberFromString.pipe(Schema.int()))}`

export const Plain = Prompt.make("plain", { description: "No arguments." })
export const Greet = Prompt.make("greet", {
  description: "Two arguments with completion: from literals, and from a function.",
  arguments: { name: Schema.String, tone: Schema.Literal("formal", "friendly") }
})

/** A request that has this in its `_meta` sees the secret features. */
export const SHOW = { "example.com/show": true }

export const Secret = Tool.make("secret", { description: "Returns what the middleware around it provides." })
export const SecretText = Resource.make("secret", { uri: "test://secret" })
export const SecretItem = ResourceTemplate.fromString("secret", "secret://{id}")
export const SecretPrompt = Prompt.make("secret")

export const AskFor = Prompt.make("ask", { description: "Asks the client's user for a name." })

export const prompts = [AskFor, Greet, Plain]

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
  Crowd,
  Touch,
  Sample,
  Form,
  Ask,
  Page,
  Roots,
  Interview,
  Route,
  Large
)
