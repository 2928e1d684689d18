/**
 * A client of the gateway, in both eras: lists what the gateway and its upstream have, and calls a tool of each. The progress
 * of the upstream arrives here.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Chunk from "effect/Chunk"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"

const program = Effect.gen(function*() {
  const client = yield* Client.Client
  const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(client.tools))
  yield* Console.log(
    `${client.serverInfo.name}, protocol ${client.version}: ${tools.map(({ name }) => name).join(", ")}`
  )
  const hello = yield* client.callTool("hello")
  yield* Console.log(`  ${hello.content.map((block) => block.type === "text" ? block.text : "").join()}`)
  let steps = 0
  const { structuredContent } = yield* client.callTool("find_in_notes", { text: "effect", limit: 1 }, {
    onProgress: () => Effect.sync(() => steps++)
  })
  const { lines } = structuredContent as { readonly lines: ReadonlyArray<unknown> }
  yield* Console.log(`  found ${lines.length} line, with ${steps > 0 ? "progress" : "no progress"} of the upstream`)
})

const inRevision = (version: Version.Version) =>
  Effect.provide(
    program,
    Client.layer(
      StdioClient.connector({
        command: process.execPath,
        args: [fileURLToPath(new URL("server.js", import.meta.url))]
      }),
      { versions: [version] }
    )
  )

NodeRuntime.runMain(Effect.zipRight(inRevision("2025-11-25"), inRevision("2026-07-28")))
