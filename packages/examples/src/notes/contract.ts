/**
 * What the notes server promises: three tools over a folder of Markdown. The server keeps it, the client calls it, and both
 * are checked against this file.
 */
import { Definition, Tool } from "@effect-mcp/definition"
import { Schema } from "effect"

/** There is no such note. The model reads this, with a guess at what was meant. */
export class NoteNotFound extends Schema.TaggedError<NoteNotFound>()("NoteNotFound", {
  note: Schema.String,
  didYouMean: Schema.optional(Schema.String)
}) {}

const note = Schema.String.annotations({ description: "The path of a note, as search and outline give it" })

export const Search = Tool.make("search", {
  title: "Search the notes",
  description: "Finds the lines that contain a text, whatever its case, in all notes. Says how far it is.",
  parameters: {
    text: Schema.NonEmptyString.annotations({ description: "What to look for" }),
    limit: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 100)), { default: () => 10 }).annotations({
      description: "How many lines to give at most"
    }),
    pauseMillis: Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 1000)), { default: () => 0 }).annotations({
      description: "How long to rest after each note, to go easy on a slow disk"
    })
  },
  success: Schema.Struct({
    lines: Schema.Array(Schema.Struct({ note: Schema.String, line: Schema.Int, text: Schema.String })),
    /** How many lines there are in all; more than are given when the limit was reached. */
    found: Schema.Int,
    notes: Schema.Int
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Outline = Tool.make("outline", {
  title: "Outline a note",
  description: "The headings of a note, with the lines they stand on.",
  parameters: { note },
  success: Schema.Struct({
    headings: Schema.Array(Schema.Struct({ level: Schema.Int, title: Schema.String, line: Schema.Int }))
  }),
  failure: NoteNotFound,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Read = Tool.make("read", {
  title: "Read a note",
  description: "The lines of a note, from one on, at most 200 at a time.",
  parameters: {
    note,
    from: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => 1 }),
    lines: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 200)), { default: () => 40 })
  },
  success: Schema.Struct({
    text: Schema.String,
    from: Schema.Int,
    to: Schema.Int,
    /** How many lines the note has. */
    of: Schema.Int
  }),
  failure: NoteNotFound,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
})

export const Notes = Definition.make(Search, Outline, Read)
