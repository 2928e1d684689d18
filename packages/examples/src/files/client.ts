/**
 * A client of the files server that confirms one deletion and declines another, in both eras: with the handshake of
 * 2025-11-25, and without one, as of 2026-07-28. The program is the same for both.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { Files } from "./contract.js"

/** Answers the questions of the server in place of a person, who keeps reports. */
const Person = ClientFeatures.elicitation(({ message }) => {
  const action = message.includes("report") ? "decline" : "accept"
  return Effect.as(
    Console.log(`  ? ${message} ${action}`),
    action === "accept" ? { action, content: {} } : { action }
  )
})

const program = Effect.gen(function*() {
  const { serverInfo: { name }, version } = yield* Client.Client
  const files = Client.of(yield* Client.Client, Files)
  yield* Console.log(`\n${name}, protocol ${version}`)
  for (const file of ["draft.txt", "report.txt", "letter.txt"]) {
    yield* files.delete({ file }).pipe(
      Effect.flatMap(({ deleted }) => Console.log(`  ← ${deleted ? "deleted" : "kept"} ${file}`)),
      Effect.catchTag("FileNotFound", ({ file }) => Console.log(`  ✗ there is no ${file}`))
    )
  }
  const left = yield* files.list()
  yield* Console.log(`  ← left in ${version}: ${left.files.join(", ")}`)
})

const inRevision = (version: Version.Version) => {
  let runs = 0
  const server = StdioClient.connector({
    command: process.execPath,
    args: [fileURLToPath(new URL("server.js", import.meta.url))],
    stderr: (line) => Effect.sync(() => line.includes("begins to delete draft.txt") ? runs++ : undefined)
  })
  return program.pipe(
    Effect.provide(Client.layer(server, { features: Person, versions: [version] })),
    Effect.zipRight(
      Effect.suspend(() => Console.log(`  the handler of draft.txt ran ${runs === 1 ? "once" : "twice"}`))
    )
  )
}

NodeRuntime.runMain(Effect.zipRight(inRevision("2025-11-25"), inRevision("2026-07-28")))
