/**
 * A host without a window: it starts the weather server and does what a host does around a view. It gives the model its tools,
 * reads the view, and calls a tool for it. Then a client that shows no views calls the same tool.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as AppsClient from "@effect-mcp/extensions/AppsClient"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Console, Effect, Stream } from "effect"
import { fileURLToPath } from "node:url"

const server = fileURLToPath(new URL("server.js", import.meta.url))
const weather = StdioClient.connector({ command: process.execPath, args: [server] })

const host = (version: Version.Version) =>
  Effect.gen(function*() {
    const client = yield* Client.make(weather, { versions: [version], extensions: [AppsClient.extension] })
    const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(client.tools))
    const forModel = tools.filter(AppsClient.isForModel)
    yield* Console.log(`${version}: the model gets ${forModel.map(({ name }) => name).join(", ")}`)

    for (const tool of forModel) {
      const result = yield* client.callTool(tool.name, { city: "Bergen" })
      yield* Console.log("  the model reads", result.content)
      const view = yield* Effect.flatten(AppsClient.view(client, tool))
      const [first] = view.html.split("\n")
      yield* Console.log(`  the view ${view.uri} begins ${first} and shows`, result.structuredContent)
      yield* Console.log(`  its policy: ${AppsClient.contentSecurityPolicy(view)}`)
    }

    // What a view requests of its host, which checks whether the view may call the tool.
    const call = (name: string) => AppsClient.callTool(client, tools, { name, arguments: { city: "Bergen", from: 3 } })
    yield* Console.log("  the user presses the button:", (yield* call("later")).structuredContent)
    yield* Console.log(`  the view calls what it must not: ${(yield* Effect.flip(call("delete"))).message}`)
  }).pipe(Effect.scoped)

const withoutViews = Effect.gen(function*() {
  const client = yield* Client.make(weather)
  const names = Chunk.map(yield* Stream.runCollect(client.tools), ({ name }) => name)
  const { content } = yield* client.callTool("forecast", { city: "Bergen" })
  yield* Console.log(`a client without views gets ${Chunk.join(names, ", ")}:`, content)
}).pipe(Effect.scoped)

Effect.forEach(["2025-11-25", "2026-07-28"] as const, host).pipe(
  Effect.zipRight(withoutViews),
  NodeRuntime.runMain
)
