/**
 * The definition of the notes server: three tools over a folder of Markdown files. The server implements it and the client
 * calls it; the compiler checks both against this file.
 */
import * as Definition from "@effect-mcp/core/Definition"
import * as Tool from "@effect-mcp/core/Tool"
import * as Schema from "effect/Schema"

/** The note does not exist. The model reads this error, with a note of a similar name. */
export class NoteNotFound extends Schema.TaggedError<NoteNotFound>()("NoteNotFound", {
  note: Schema.String,
  didYouMean: Schema.optional(Schema.String)
}) {}

const note = Schema.String.annotations({ description: "The path of a note, as in the result of search" })

export const Search = Tool.make("search", {
  title: "Search the notes",
  description: "Finds the lines of all notes that contain a text, ignoring case. Reports progress.",
  parameters: {
    text: Schema.NonEmptyString.annotations({ description: "The text to search for" }),
    limit: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 100)), { default: () => 10 }).annotations({
      description: "The maximum number of lines in the result"
    }),
    pauseMillis: Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 1000)), { default: () => 0 }).annotations({
      description: "Milliseconds to wait after each note"
    })
  },
  success: Schema.Struct({
    lines: Schema.Array(Schema.Struct({ note: Schema.String, line: Schema.Int, text: Schema.String })),
    /** The number of all lines with the text; `lines` has at most `limit` of them. */
    found: Schema.Int,
    notes: Schema.Int
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Outline = Tool.make("outline", {
  title: "Outline a note",
  description: "The headings of a note, with their line numbers.",
  parameters: { note },
  success: Schema.Struct({
    headings: Schema.Array(Schema.Struct({ level: Schema.Int, title: Schema.String, line: Schema.Int }))
  }),
  failure: NoteNotFound,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Read = Tool.make("read", {
  title: "Read a note",
  description: "Up to 200 lines of a note, from a given line on.",
  parameters: {
    note,
    from: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => 1 }),
    lines: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 200)), { default: () => 40 })
  },
  success: Schema.Struct({
    text: Schema.String,
    from: Schema.Int,
    to: Schema.Int,
    /** The number of lines of the note. */
    of: Schema.Int
  }),
  failure: NoteNotFound,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Notes = Definition.make(Search, Outline, Read)
