/**
 * A client of the notes server that prints each step: `node client.js [folder]`. It launches the server as a subprocess,
 * which ends when the scope of the client closes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientError from "@effect-mcp/core/ClientError"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { Notes } from "./contract.js"
import * as Output from "./Output.js"

const folder = process.argv[2]

const program = Effect.gen(function*() {
  const stopped = yield* Deferred.make<string>()
  const server = StdioClient.connector({
    command: process.execPath,
    args: [fileURLToPath(new URL("server.js", import.meta.url)), ...(folder === undefined ? [] : [folder])],
    // The server logs to stderr, because its standard output carries the protocol.
    stderr: (line) =>
      line.includes("stopped after") ? Effect.asVoid(Deferred.succeed(stopped, line)) : Output.serverLog(line)
  })

  yield* Effect.gen(function*() {
    const client = yield* Client.Client
    const notes = Client.of(yield* Client.Client, Notes)

    yield* Output.heading("Connected")
    const { name, version } = client.serverInfo
    yield* Output.received(`${name} ${version}, protocol ${client.version} of the ${client.era} era`)

    yield* Output.heading("The tools of the server")
    yield* Output.sent("tools/list")
    for (const tool of yield* Stream.runCollect(client.tools)) {
      yield* Output.received(`${tool.name.padEnd(8)} ${tool.description ?? ""}`)
    }

    yield* Output.heading("A typed call with progress")
    yield* Output.sent(`search { text: "effect", limit: 3 }`)
    const search = yield* notes.search({ text: "effect", limit: 3 }, { onProgress: Output.progress })
    yield* Output.received(`${search.found} lines in ${search.notes} notes${search.found === 0 ? "" : "; the first:"}`)
    for (const { line, note, text } of search.lines) yield* Output.received(`${note}:${line}  ${text}`)

    const note = search.lines[0]?.note ?? "README.md"
    yield* Output.heading("The result of one call is the argument of the next")
    yield* Output.sent(`outline { note: "${note}" }`)
    const outline = yield* Effect.either(notes.outline({ note }))
    if (outline._tag === "Right") {
      for (const { level, line, title } of outline.right.headings.slice(0, 6)) {
        yield* Output.received(`${String(line).padStart(4)}  ${"  ".repeat(level - 1)}${title}`)
      }
      yield* Output.sent(`read { note: "${note}", lines: 3 }`)
      const page = yield* notes.read({ note, lines: 3 })
      yield* Output.received(`lines ${page.from} to ${page.to} of ${page.of}`)
      for (const line of page.text.split("\n")) yield* Output.received(`│ ${line}`)
    } else yield* Output.failed(`${outline.left._tag}: ${outline.left.message}`)

    yield* Output.heading("Interrupting a call cancels it, and interrupts the handler")
    if (search.notes === 0) yield* Output.received("the folder has no Markdown files: no call is slow enough to cancel")
    else {
      yield* Output.sent(`search { text: "the", pauseMillis: 200 }, interrupted at the first progress`)
      const begun = yield* Deferred.make<void>()
      const slow = yield* Effect.fork(notes.search({ text: "the", pauseMillis: 200 }, {
        onProgress: (progress) => Effect.zipRight(Output.progress(progress), Deferred.succeed(begun, undefined))
      }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(slow)
      yield* Output.received("no response: the client does not wait for one")
      yield* Output.serverLog(yield* Deferred.await(stopped))
    }

    yield* Output.heading("A declared failure of a tool is a typed error")
    yield* Output.sent(`outline { note: "README.txt" }`)
    yield* notes.outline({ note: "README.txt" }).pipe(
      Effect.catchTag(
        "NoteNotFound",
        ({ didYouMean, note }) =>
          Output.failed(`NoteNotFound: there is no "${note}"; did you mean ${didYouMean ?? "something else"}?`)
      )
    )

    yield* Output.heading("The server returns invalid arguments as a tool error")
    yield* Output.sent(`read { note: 7, lines: 1000 }, without types`)
    const refused = yield* client.callTool("read", { note: 7, lines: 1000 })
    yield* Output.failed(new ClientError.ToolError({ tool: "read", result: refused }).message)

    yield* Output.heading("A call of an unknown tool is an error of the protocol")
    yield* Output.sent("forget {}")
    yield* Effect.catchAll(client.callTool("forget", {}), (error) => Output.failed(`${error._tag}: ${error.message}`))
  }).pipe(Effect.provide(Client.layer(server, { clientInfo: { name: "notes-client", version: "1.0.0" } })))

  yield* Output.heading("Closed")
  yield* Output.received("the scope has closed, and the server has ended")
})

NodeRuntime.runMain(program)
