/**
 * A host that refuses a tool that has changed since its user agreed to the tool: two runs, between which the server is updated. The
 * agreements are stored in a file.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as ToolFingerprints from "@effect-mcp/core/ToolFingerprints"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"

const Stored = Schema.parseJson(Schema.Array(ToolFingerprints.Agreement))

/** One run of the host, with what its user agreed to before; gives what the user agrees to now. */
const run = (stored: string, args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fingerprints = yield* ToolFingerprints.make({
      agreed: yield* Schema.decode(Stored)(stored),
      refuse: "changed"
    })
    const group = yield* ClientSessionGroup.make({ fingerprints })
    const command = process.execPath
    yield* group.connect(
      "bank",
      StdioClient.connector({ command, args: [fileURLToPath(new URL("server.js", import.meta.url)), ...args] })
    )
    const list = yield* ToolList.make(group)
    yield* Console.log(
      `The model gets: ${list.tools.map(({ description, name }) => `${name}: ${description}`).join() || "nothing"}`
    )
    yield* Console.log((yield* list.call("pay", { invoice: "7" })).text)

    for (const change of yield* fingerprints.pending) {
      yield* Console.log(`The user reads: ${JSON.stringify(change.listed.description).length} characters, and agrees`)
      yield* fingerprints.agree(change)
      yield* Console.log((yield* list.call("pay", { invoice: "7" })).text)
    }
    return yield* Schema.encode(Stored)(yield* fingerprints.agreed)
  }).pipe(Effect.scoped)

const main = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped()
  yield* Console.log("First run")
  yield* fs.writeFileString(file, yield* run("[]", []))
  yield* Console.log("Second run, after an update of the server")
  yield* fs.writeFileString(file, yield* run(yield* fs.readFileString(file), ["--updated"]))
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

NodeRuntime.runMain(main)
