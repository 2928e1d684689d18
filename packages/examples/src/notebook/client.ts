/**
 * Two clients of one notebook: one launches it and speaks 2025-11-25 on stdio, the other 2026-07-28 over HTTP. Both run the
 * same program.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { Notebook } from "./contract.js"

const program = Effect.gen(function*() {
  const client = yield* Client.Client
  const notebook = Client.of(yield* Client.Client, Notebook)
  const { version } = client
  const say = (text: string) => Console.log(`${version}: ${text}`)
  for (const title of ["tea", "team", version]) {
    yield* notebook.add({ title, text: `a note with ${title.length} letters` }).pipe(
      Effect.zipRight(say(`added ${title}`)),
      Effect.catchTag("TitleTaken", ({ message }) => say(message))
    )
  }
  yield* say(`found ${(yield* notebook.search({ word: "letters" })).titles.join(", ")}`)
  yield* say(`mine ${(yield* notebook.mine()).titles.join(", ")}`)
  const { values } = yield* client.complete({ type: "ref/prompt", name: "summarize" }, { name: "title", value: "te" })
  yield* say(`completes ${values.join(", ")}`)
  yield* say(`lists ${yield* Stream.runCount(client.resources)} resources`)
  const { contents } = yield* notebook.templates.note({ title: "team" })
  yield* say(`reads ${contents.map((one) => "text" in one ? one.text : "bytes").join()}`)
  const { messages } = yield* notebook.prompts.summarize({ title: "tea" })
  yield* say(`prompts ${JSON.stringify(messages[0]?.content)}`)
  yield* say((yield* Effect.flip(notebook.templates.note({ title: "none" }))).message)
})

const both = Effect.gen(function*() {
  const url = yield* Deferred.make<string>()
  const launched = StdioClient.connector({
    command: process.execPath,
    args: [fileURLToPath(new URL("server.js", import.meta.url))],
    stderr: (line) => {
      const [, address] = /^the notebook is at (.*)/.exec(line) ?? []
      return address === undefined ? Effect.void : Deferred.succeed(url, address)
    }
  })
  const overHttp = Effect.flatMap(
    Deferred.await(url),
    (url) => Effect.provide(program, Client.layer(Remote.connector(url), { versions: ["2026-07-28"] }))
  )
  yield* Effect.zipRight(program, overHttp).pipe(Effect.provide(Client.layer(launched, { versions: ["2025-11-25"] })))
})

both.pipe(Effect.provide(NodeHttpClient.layerUndici), NodeRuntime.runMain)
