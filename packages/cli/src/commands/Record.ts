/**
 * The command `record`, which writes the messages between a host and a server to a file. `Replay` of the testing package plays this file in
 * tests. The file does not have the secrets that `Redaction` finds. `PassThrough` passes the messages between host and server. `Cli` runs
 * the command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Message from "@effect-mcp/core/Message"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as Transcript from "@effect-mcp/testing/Transcript"
import * as Effect from "effect/Effect"
import { refused } from "../CommandFailure.js"
import { paint, say } from "../CommandOutput.js"
import { fit, line } from "../Escape.js"
import * as PassThrough from "../PassThrough.js"
import * as Places from "../Places.js"

const MAX_QUOTE = 80

/** How many characters a recording may have. */
const MAX_SIZE = 64 * 1024 * 1024

const note = (text: string) => say(process.stderr, paint("dim", text))

/**
 * Adds each message to the transcript, until the recording is full. Later messages are left out, because a replay needs the first messages.
 */
const watcher = (transcript: Transcript.Transcript): PassThrough.Watcher => {
  let size = 0
  let isFull = false
  return {
    say: note,
    see: (direction, given, text) => {
      const message = Message.fromUnknown(given)
      if (Message.isMalformed(message)) {
        return note(`Not recorded, because it is not a message: "${fit(line(Redaction.text(text)), MAX_QUOTE)}"`)
      }
      if (isFull) return
      size += text.length
      isFull = size > MAX_SIZE || transcript.entries.length === Transcript.LIMIT
      if (isFull) return note("The recording is full: later messages are not recorded")
      transcript.add({ from: direction === "sent" ? "client" : "server", message })
    }
  }
}

const save = (path: string, transcript: Transcript.Transcript) =>
  Effect.gen(function*() {
    if (transcript.entries.length === 0) return note(`Nothing was recorded, and ${path} stays as it is`)
    const files = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(Transcript.toJson(transcript), ({ message }) => refused(message))
    yield* Places.written(path, files.writeFileString(path, text))
    note(`Recorded to ${path}: ${transcript.entries.length} messages`)
  })

export const command = (after: ReadonlyArray<string>) =>
  Command.make("record", {
    port: PassThrough.port,
    file: Args.file({ name: "file", exists: "either" }).pipe(
      Args.withDescription("The file for the recording; it is replaced")
    ),
    words: PassThrough.url
  }, ({ file, port, words: [url] }) =>
    Effect.gen(function*() {
      yield* Places.writable(file)
      const transcript = Transcript.make()
      const passing = Effect.scoped(PassThrough.run(after, url, port, watcher(transcript)))
      // The file is written even if the host ends the command by a signal.
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.exit(restore(passing)), (exit) => Effect.zipRight(save(file, transcript), exit))
      )
    })).pipe(
      Command.withDescription("Records a conversation between a host and a server, for tests that replay it")
    )
