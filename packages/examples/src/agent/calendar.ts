/**
 * A server of a calendar over standard streams. It is made of a toolkit of `@effect/ai`: one tool that asks the user before it
 * books, one that never answers, and one whose name the notes server uses, too.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as ServerToolkit from "@effect-mcp/ai/ServerToolkit"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

class Taken extends Schema.TaggedError<Taken>()("Taken", { day: Schema.String, by: Schema.String }) {}

const Calendar = Toolkit.make(
  Tool.make("search", {
    description: "Finds entries of the calendar by a word.",
    parameters: { q: Schema.String },
    success: Schema.Array(Schema.String)
  }).annotate(Tool.Readonly, true),
  Tool.make("book", {
    description: "Books a day, when the user agrees.",
    parameters: { day: Schema.String },
    success: Schema.String,
    failure: Taken,
    dependencies: [ServerSession.ServerSession]
  }),
  Tool.make("sync", { description: "Waits for the calendar of the office." })
)

const Note = Schema.Struct({ note: Schema.String })

const CalendarLive = Calendar.toLayer({
  search: ({ q }) => Effect.succeed(["Friday: talk in Oslo", "Monday: dentist"].filter((entry) => entry.includes(q))),
  book: ({ day }) =>
    Effect.gen(function*() {
      if (day === "Friday") return yield* new Taken({ day, by: "the talk in Oslo" })
      const session = yield* ServerSession.ServerSession
      const answer = yield* Effect.orDie(session.elicit({ message: `A note for ${day}?`, schema: Note }))
      return answer.action === "accept" ? `booked ${day}: ${answer.content.note}` : `${day} stays free`
    }),
  sync: () => Effect.never
})

const Features = ServerToolkit.layer(Calendar).pipe(Layer.provide(CalendarLive))

StdioServer.layer.pipe(
  Layer.provide(McpServer.layer({ name: "calendar", version: "1.0.0" }, Features)),
  Layer.launch,
  StdioServer.runMain
)
