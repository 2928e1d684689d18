/**
 * Runs the server in a process of its own, and the client twice in each era: once to begin a film, once to collect it. All
 * that the two runs of a client share is a file with the id of the task.
 */
import * as Command from "@effect/platform/Command"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"

const program = (name: string, ...args: ReadonlyArray<string>) =>
  Command.make(process.execPath, fileURLToPath(new URL(name, import.meta.url)), ...args)

const demo = Effect.gen(function*() {
  const server = yield* Command.start(program("server.js"))
  const lines = Stream.splitLines(Stream.decodeText(server.stdout))
  const addresses = Stream.filterMap(lines, (line) => Option.fromNullable(/^the server is at (.*)/.exec(line)?.[1]))
  const url = Option.getOrThrow(yield* Stream.runHead(addresses))
  const files = yield* FileSystem.FileSystem
  const directory = yield* files.makeTempDirectoryScoped()
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    for (const command of ["start", "collect"]) {
      const client = program("client.js", command, url, revision, `${directory}/${revision}`)
      yield* Console.log((yield* Command.string(client)).trim())
    }
  }
})

demo.pipe(Effect.scoped, Effect.provide(NodeContext.layer), NodeRuntime.runMain)
