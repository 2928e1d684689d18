/**
 * A conversation with the notes server, told as it happens: `node client.js [folder]`. The server is launched as a
 * subprocess and ends with this program.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Client, ClientError } from "@effect-mcp/client"
import { StdioClient } from "@effect-mcp/node"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { fileURLToPath } from "node:url"
import { Notes } from "./contract.js"
import * as Tell from "./Tell.js"

const folder = process.argv[2]

const program = Effect.gen(function*() {
  const stopped = yield* Deferred.make<string>()
  const server = StdioClient.connector({
    command: process.execPath,
    args: [fileURLToPath(new URL("server.js", import.meta.url)), ...(folder === undefined ? [] : [folder])],
    // What the server logs: never on standard output, which carries the protocol.
    stderr: (line) =>
      line.includes("stopped after") ? Effect.asVoid(Deferred.succeed(stopped, line)) : Tell.aside("server log", line)
  })

  yield* Effect.gen(function*() {
    const client = yield* Client.Client
    const notes = yield* Client.of(Notes)

    yield* Tell.heading("Connected")
    const { name, version } = client.serverInfo
    yield* Tell.received(`${name} ${version}, protocol ${client.version}`)

    yield* Tell.heading("What can it do?")
    yield* Tell.asked("tools/list")
    for (const tool of yield* Stream.runCollect(client.tools)) {
      yield* Tell.received(`${tool.name.padEnd(8)} ${tool.description ?? ""}`)
    }

    yield* Tell.heading("A typed call, with progress as it comes")
    yield* Tell.asked(`search { text: "effect", limit: 3 }`)
    const search = yield* notes.search({ text: "effect", limit: 3 }, { onProgress: Tell.progress })
    yield* Tell.received(`${search.found} lines in ${search.notes} notes${search.found === 0 ? "" : "; the first:"}`)
    for (const { line, note, text } of search.lines) yield* Tell.received(`${note}:${line}  ${text}`)

    const note = search.lines[0]?.note ?? "README.md"
    yield* Tell.heading("One result leads to the next call")
    yield* Tell.asked(`outline { note: "${note}" }`)
    const outline = yield* Effect.either(notes.outline({ note }))
    if (outline._tag === "Right") {
      for (const { level, line, title } of outline.right.headings.slice(0, 6)) {
        yield* Tell.received(`${String(line).padStart(4)}  ${"  ".repeat(level - 1)}${title}`)
      }
      yield* Tell.asked(`read { note: "${note}", lines: 3 }`)
      const page = yield* notes.read({ note, lines: 3 })
      yield* Tell.received(`lines ${page.from} to ${page.to} of ${page.of}`)
      for (const line of page.text.split("\n")) yield* Tell.received(`│ ${line}`)
    } else yield* Tell.failed(`${outline.left._tag}: ${outline.left.message}`)

    yield* Tell.heading("Cancelling is interrupting: the handler stops too")
    if (search.notes === 0) yield* Tell.received("the folder has no Markdown in it: nothing is slow enough to cancel")
    else {
      yield* Tell.asked(`search { text: "the", pauseMillis: 200 }, interrupted at the first sign of progress`)
      const begun = yield* Deferred.make<void>()
      const slow = yield* Effect.fork(notes.search({ text: "the", pauseMillis: 200 }, {
        onProgress: (progress) => Effect.zipRight(Tell.progress(progress), Deferred.succeed(begun, undefined))
      }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(slow)
      yield* Tell.received("no answer, and none is waited for")
      yield* Tell.aside("server log", yield* Deferred.await(stopped))
    }

    yield* Tell.heading("A failure that the tool declares is a typed error")
    yield* Tell.asked(`outline { note: "README.txt" }`)
    yield* notes.outline({ note: "README.txt" }).pipe(
      Effect.catchTag(
        "NoteNotFound",
        ({ didYouMean, note }) =>
          Tell.failed(`NoteNotFound: there is no "${note}"; did you mean ${didYouMean ?? "something else"}?`)
      )
    )

    yield* Tell.heading("Arguments that do not fit come back to be mended")
    yield* Tell.asked(`read { note: 7, lines: 1000 }, past the types`)
    const refused = yield* client.callTool("read", { note: 7, lines: 1000 })
    yield* Tell.failed(new ClientError.ToolError({ tool: "read", result: refused }).message)

    yield* Tell.heading("A tool that does not exist is the program's mistake")
    yield* Tell.asked("forget {}")
    yield* Effect.catchAll(client.callTool("forget", {}), (error) => Tell.failed(`${error._tag}: ${error.message}`))
  }).pipe(Effect.provide(Client.layer(server, { clientInfo: { name: "notes-client", version: "1.0.0" } })))

  yield* Tell.heading("Closed")
  yield* Tell.received("the scope has ended, and the server with it")
})

NodeRuntime.runMain(program)
