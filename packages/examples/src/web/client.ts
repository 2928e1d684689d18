/**
 * A client that calls the web handler in its own process: the handler takes the place of `fetch`, and no socket is opened.
 * The header that names the country is one that a platform would add.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import worker, { dispose } from "./handler.js"

const platform = Layer.succeed(FetchHttpClient.Fetch, (input, init) => worker.fetch(new Request(input, init)))

const program = Effect.gen(function*() {
  const client = yield* Client.make(Remote.connector("https://mcp.example.com/mcp", {
    headers: { "cf-ipcountry": "Norway" }
  }))
  const { content } = yield* client.callTool("hello", { name: "Ada" })
  yield* Console.log(content.map((block) => block.type === "text" ? block.text : "").join())
})

program.pipe(
  Effect.scoped,
  Effect.ensuring(Effect.promise(() => dispose())),
  Effect.provide(Layer.provide(FetchHttpClient.layer, platform)),
  NodeRuntime.runMain
)
