/**
 * What the notebook offers, for its server and its client:
 * tools, notes as resources with completed titles, and a prompt.
 */
import * as Definition from "@effect-mcp/core/Definition"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

export class TitleTaken extends Schema.TaggedError<TitleTaken>()("TitleTaken", { title: Schema.String }) {
  override readonly message = `There is a note "${this.title}": choose another title`
}

const Titles = Schema.Struct({ titles: Schema.Array(Schema.String) })

export const Notebook = Definition.make(
  Tool.make("add", {
    description: "Adds a note.",
    parameters: { title: Schema.NonEmptyString, text: Schema.String },
    failure: TitleTaken
  }),
  Tool.make("search", {
    description: "The titles of the notes with a word in title or text.",
    parameters: { word: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
    success: Titles,
    annotations: { readOnlyHint: true }
  }),
  Tool.make("mine", { description: "The notes that this session has added.", success: Titles }),
  ResourceTemplate.make("note", { mimeType: "text/plain" })`note:///${ResourceTemplate.param("title")}`,
  Prompt.make("summarize", { arguments: { title: Schema.String } })
)
