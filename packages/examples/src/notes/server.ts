/**
 * A notes server on stdio: `node server.js [folder]`. Without a folder it serves the README and the docs of this repository.
 *
 * `contract` defines the tools, and `Library` reads the notes.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"
import { NoteNotFound, Outline, Read, Search } from "./contract.js"
import { Library } from "./Library.js"

const SearchLive = McpServer.tool(Search, ({ limit, pauseMillis, text }) =>
  Effect.gen(function*() {
    const library = yield* Library
    const session = yield* ServerSession.ServerSession
    const notes = yield* library.list
    const wanted = text.toLowerCase()
    const lines: Array<{ note: string; line: number; text: string }> = []
    // About twenty notifications of progress, for any number of notes.
    const step = Math.ceil(notes.length / 20)
    let found = 0
    let searched = 0
    return yield* Effect.gen(function*() {
      for (const note of notes) {
        for (const [index, line] of (yield* library.lines(note)).entries()) {
          if (!line.toLowerCase().includes(wanted)) continue
          found++
          if (lines.length < limit) lines.push({ note, line: index + 1, text: line.trim().slice(0, 200) })
        }
        searched++
        if (searched % step === 0 || searched === notes.length) {
          yield* session.progress(searched, { total: notes.length, message: note })
        }
        if (pauseMillis > 0) yield* Effect.sleep(pauseMillis)
      }
      return { lines, found, notes: notes.length }
    }).pipe(
      Effect.onInterrupt(() => Effect.logInfo(`search "${text}" stopped after ${searched} of ${notes.length} notes`))
    )
  }).pipe(Effect.orDie))

const linesOf = (note: string) =>
  Effect.gen(function*() {
    const library = yield* Library
    const notes = yield* library.list
    if (notes.includes(note)) return yield* Effect.orDie(library.lines(note))
    const wanted = note.toLowerCase().replace(/^.*\//, "").replace(/\.\w*$/, "")
    const didYouMean = notes.find((known) => wanted !== "" && known.toLowerCase().includes(wanted))
    return yield* new NoteNotFound({ note, ...(didYouMean === undefined ? {} : { didYouMean }) })
  })

const OutlineLive = McpServer.tool(Outline, ({ note }) =>
  Effect.map(linesOf(note), (lines) => {
    let fenced = false
    const headings = lines.flatMap((text, index) => {
      if (text.startsWith("```")) fenced = !fenced
      const heading = fenced ? null : /^(#{1,6})\s+(.*)$/.exec(text)
      return heading === null ? [] : [{ level: heading[1]!.length, title: heading[2]!.trim(), line: index + 1 }]
    })
    return { headings }
  }))

const ReadLive = McpServer.tool(Read, ({ from, lines: wanted, note }) =>
  Effect.map(linesOf(note), (lines) => {
    const start = Math.min(from, lines.length)
    const shown = lines.slice(start - 1, start - 1 + wanted)
    return { text: shown.join("\n"), from: start, to: start + shown.length - 1, of: lines.length }
  }))

const Server = McpServer.layer(
  { name: "notes", title: "Notes", version: "1.0.0" },
  Layer.mergeAll(SearchLive, OutlineLive, ReadLive),
  { instructions: "Search first, then outline or read the notes in the result." }
)

const folder = process.argv[2]
const LibraryLive = folder === undefined
  ? Library.Default({ folder: fileURLToPath(new URL("../../../..", import.meta.url)), only: ["README.md", "docs"] })
  : Library.Default({ folder })

StdioServer.layer.pipe(
  Layer.provide(Server),
  Layer.provide(LibraryLive),
  Layer.provide(NodeContext.layer),
  Layer.launch,
  StdioServer.runMain
)
