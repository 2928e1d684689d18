/**
 * A client that prints what the handlers of its server log, first from `info` on and then from `debug` on, in both eras. It
 * knows nothing of the server but the name of a tool.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"

const server = StdioClient.connector({
  command: process.execPath,
  args: [fileURLToPath(new URL("server.js", import.meta.url))]
})

const features = ClientFeatures.logging(({ data, level }) => Console.log(`  ${level}: ${JSON.stringify(data)}`))

const program = Effect.gen(function*() {
  const client = yield* Client.Client
  yield* Console.log(`\nlogs, protocol ${client.version}`)
  for (const level of ["info", "debug"] as const) {
    yield* client.setLoggingLevel(level)
    const { structuredContent } = yield* client.callTool("import", { rows: ["1", "two"] })
    yield* Console.log(`  imported with ${level}: ${JSON.stringify(structuredContent)}`)
  }
})

const inRevision = (version: Version.Version) =>
  Effect.provide(program, Client.layer(server, { features, versions: [version] }))

NodeRuntime.runMain(Effect.zipRight(inRevision("2025-11-25"), inRevision("2026-07-28")))
