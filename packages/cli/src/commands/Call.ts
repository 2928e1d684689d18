/**
 * The commands that send one request: `call` calls a tool, `read` reads a resource, `prompt` gets a prompt, `complete` completes an
 * argument, and `ping` tests the connection. `ArgumentWords` reads arguments, `TerminalQuestions` asks the user for missing arguments.
 * `Cli` runs the commands. `Tasks` uses functions of this module to find tools, to read arguments and to show results.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { CallToolOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ContentBlock } from "@effect-mcp/core/protocol/Content"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import { join } from "node:path"
import * as ArgumentWords from "../ArgumentWords.js"
import * as CommandClient from "../CommandClient.js"
import { type Failure, refused, usage } from "../CommandFailure.js"
import { json, lines, type OutputService, paint } from "../CommandOutput.js"
import { ofBlock, ofResource } from "../ContentText.js"
import { jsonText } from "../Escape.js"
import * as Places from "../Places.js"
import * as Suggestion from "../Suggestion.js"
import * as TerminalQuestions from "../TerminalQuestions.js"

const words = (name: string, more?: string) =>
  Args.text({ name }).pipe(
    Args.withDescription(`The server, unless its command line comes after --${more === undefined ? "" : `; ${more}`}`),
    Args.repeated
  )

const out = Options.directory("out").pipe(
  Options.withDescription("A folder for the bytes of images, audio and blobs; the command makes it if it is missing"),
  Options.optional
)

const WIDTH = 24

/** Shows the progress of a call: as a bar, or as a number when the server does not send the total. */
export const progressOf = (output: OutputService): Pick<CallToolOptions, "onProgress"> => ({
  onProgress: ({ message = "", progress, total }) => {
    const share = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total))
    const filled = Math.round((share ?? 0) * WIDTH)
    const bar = share === undefined
      ? String(progress)
      : `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${Math.round(share * 100)} %`
    return output.status(`${bar} ${message}`)
  }
})

/**
 * The extensions of files by their media types, only for files that programs show and do not run. A file of another media type gets the
 * extension `bin`, so that nobody runs it by mistake.
 */
const EXTENSIONS: Readonly<Record<string, string>> = {
  ...{
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp"
  },
  ...{
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/ogg": "ogg",
    "audio/flac": "flac"
  },
  ...{ "audio/aac": "aac", "audio/mp4": "m4a", "audio/webm": "weba", "video/mp4": "mp4", "video/webm": "webm" },
  ...{
    "application/pdf": "pdf",
    "application/json": "json",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/markdown": "md"
  },
  ...{ "application/zip": "zip", "application/gzip": "gz" }
}

const extensionOf = (mimeType = ""): string => {
  const type = mimeType.split(";")[0]!.trim().toLowerCase()
  return Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type]! : "bin"
}

const MAX_FILES = 1000

/** Writes the bytes to a new file, and returns its path. When a file with the name exists, tries another name, up to `MAX_FILES` names. */
const writeNew = (
  folder: string,
  index: number,
  type: string | undefined,
  bytes: Uint8Array,
  count = 1
): Effect.Effect<string, Failure, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = join(folder, `${index}${count === 1 ? "" : `-${count}`}.${extensionOf(type)}`)
    // With this flag the write fails when a file or a link exists.
    return yield* Effect.as(files.writeFile(path, bytes, { flag: "wx" }), path)
  }).pipe(Effect.catchAll((error) =>
    error._tag === "SystemError" && error.reason === "AlreadyExists" && count < MAX_FILES
      ? writeNew(folder, index, type, bytes, count + 1)
      : Places.written(folder, Effect.fail(error))
  ))

/** Writes images, audio and blobs to files in the folder, and prints the paths. Does nothing without a folder. */
const save = (folder: Option.Option<string>, blocks: ReadonlyArray<ContentBlock>, output: OutputService) =>
  Effect.gen(function*() {
    if (Option.isNone(folder)) return
    for (const [index, block] of blocks.entries()) {
      const [data, type] = block.type === "image" || block.type === "audio"
        ? [block.data, block.mimeType]
        : block.type === "resource" && "blob" in block.resource
        ? [block.resource.blob, block.resource.mimeType]
        : []
      if (data === undefined) continue
      const path = yield* writeNew(folder.value, index + 1, type, Buffer.from(data, "base64"))
      yield* output.note(`Written to ${path}`)
    }
  })

/** Prints the result of a tool. Fails with `refused` when the result has `isError`. */
export const showResult = (result: CallToolResult, folder: Option.Option<string>, output: OutputService) =>
  Effect.gen(function*() {
    const { content = [], isError, structuredContent } = result
    const text = content.map(ofBlock).join("\n")
    const shown = structuredContent !== undefined && content.every(({ type }) => type === "text")
      ? json(jsonText(structuredContent, 2))
      : text
    yield* output.result(result, isError === true ? paint("red", text) : shown)
    yield* save(folder, content, output)
    if (isError === true) return yield* refused("The tool reported an error")
  })

const named = <A extends { readonly name: string }>(
  kind: string,
  word: string | undefined,
  entries: Stream.Stream<A, ClientError>
) =>
  Effect.gen(function*() {
    if (word === undefined) return yield* usage(`Name the ${kind}; \`inspect\` lists the ${kind}s of a server`)
    const all = yield* StreamArrays.collect(entries)
    return all.find(({ name }) => name === word) ??
      (yield* Suggestion.unknown(
        (word) => `The server has no ${kind} "${word}"`,
        word,
        all.map(({ name }) => name),
        Suggestion.itHas
      ))
  })

/** Returns the tool with this name. Fails with `usage` when the server does not list the tool. */
export const findTool = (client: ClientSessionService, name: string | undefined) => named("tool", name, client.tools)

/**
 * Returns the arguments that the words give. At a terminal, asks the user for required arguments that are missing. The time for the answers
 * does not count against `--timeout`. Fails with `usage` when a required argument is missing.
 */
export const argumentsOf = (
  schema: JsonObject,
  words: ReadonlyArray<string>,
  { output, time }: Pick<CommandClient.Context, "output" | "time">
) =>
  time.stop(Effect.gen(function*() {
    const given = yield* ArgumentWords.toObject(words, schema)
    const args = output.interactive ? yield* TerminalQuestions.complete(schema, given, "required", output) : given
    yield* ArgumentWords.requireAll(schema, args)
    return args
  }))

const call = (after: ReadonlyArray<string>) =>
  Command.make("call", {
    ...CommandClient.options,
    out,
    words: words(
      "server, tool and arguments",
      "the tool, then name=text, name:=JSON, one JSON object, or - for standard input"
    )
  }, ({ out, words, ...given }) =>
    CommandClient.use(given, words, after, ({ client, output, time, words: [name, ...rest] }) =>
      Effect.gen(function*() {
        const tool = yield* findTool(client, name)
        const args = yield* argumentsOf(tool.inputSchema as JsonObject, rest, { output, time })
        if (Option.isSome(out)) {
          yield* Places.folder(out.value)
        }
        const result = yield* Effect.ensuring(client.callTool(tool.name, args, progressOf(output)), output.status())
        yield* showResult(result, out, output)
      }))).pipe(Command.withDescription("Calls a tool"))

const read = (after: ReadonlyArray<string>) =>
  Command.make(
    "read",
    { ...CommandClient.options, out, words: words("server and uri", "the URI of the resource") },
    ({ out, words, ...given }) =>
      CommandClient.use(given, words, after, ({ client, output, words: [uri] }) =>
        Effect.gen(function*() {
          if (uri === undefined) {
            return yield* usage("Give the URI of the resource; `inspect` lists the resources of a server")
          }
          if (Option.isSome(out)) yield* Places.folder(out.value)
          const result = yield* Effect.ensuring(client.readResource(uri, progressOf(output)), output.status())
          yield* output.result(result, result.contents.map(ofResource).join("\n"))
          yield* save(out, result.contents.map((resource) => ({ type: "resource", resource })), output)
        }))
  ).pipe(Command.withDescription("Reads a resource"))

const prompt = (after: ReadonlyArray<string>) =>
  Command.make(
    "prompt",
    { ...CommandClient.options, words: words("server, prompt and arguments", "the prompt, then name=text") },
    ({ words, ...given }) =>
      CommandClient.use(given, words, after, ({ client, output, time, words: [name, ...rest] }) =>
        Effect.gen(function*() {
          const { arguments: known = [], name: found } = yield* named("prompt", name, client.prompts)
          const schema: JsonObject = {
            properties: Object.fromEntries(known.map(({ description, name }) => [
              name,
              { type: "string", ...(description === undefined ? undefined : { description }) }
            ])),
            required: known.filter(({ required }) =>
              required === true
            ).map(({ name }) =>
              name
            )
          }
          const args = yield* argumentsOf(schema, rest, { output, time })
          const strings = Object.fromEntries(
            Object.entries(args).map((
              [key, value]
            ) => [key, typeof value === "string" ? value : JSON.stringify(value, undefined, 2)])
          )
          const result = yield* client.getPrompt(found, strings)
          const texts = result.messages.map(({ content, role }) => [paint("bold", `${role}:`), ` ${ofBlock(content)}`])
          yield* output.result(result, lines(texts))
        }))
  ).pipe(Command.withDescription("Gets a prompt"))

const complete = (after: ReadonlyArray<string>) =>
  Command.make("complete", {
    ...CommandClient.options,
    words: words(
      "server, reference and argument",
      "the name of a prompt or a URI template, name=beginning, then name=value of others"
    )
  }, ({ words, ...given }) =>
    CommandClient.use(given, words, after, ({ client, output, words: [reference, argument = "", ...rest] }) =>
      Effect.gen(function*() {
        const at = argument.indexOf("=")
        if (reference === undefined || at < 1) {
          return yield* usage(
            "Give a prompt or a URI template, and the name of an argument with the beginning of its value: name=text"
          )
        }
        const others = yield* ArgumentWords.toObject(rest, {})
        const ref = /[:{]/.test(reference)
          ? { type: "ref/resource" as const, uri: reference }
          : { type: "ref/prompt" as const, name: reference }
        const suggestions = yield* client.complete(
          ref,
          { name: argument.slice(0, at), value: argument.slice(at + 1) },
          {
            others: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]))
          }
        )
        yield* output.result(suggestions, suggestions.values.join("\n"))
      }))).pipe(Command.withDescription("Suggests values of an argument of a prompt or a URI template"))

const ping = (after: ReadonlyArray<string>) =>
  Command.make(
    "ping",
    { ...CommandClient.options, words: words("server") },
    ({ words, ...given }) =>
      CommandClient.use(given, words, after, ({ client, output }) =>
        Effect.gen(function*() {
          // Revision 2026-07-28 has no ping. A list is the cheapest request that every server answers.
          const question = client.era === "legacy" ? client.ping() : client.listTools({ cache: false })
          const [time] = yield* Effect.timed(question)
          const milliseconds = Math.round(Duration.toMillis(time))
          yield* output.result(
            { milliseconds, version: client.version },
            `${client.serverInfo.name} answered in ${milliseconds} ms`
          )
        }))
  ).pipe(Command.withDescription("Asks whether a server answers"))

export const commands = (after: ReadonlyArray<string>) =>
  [call(after), read(after), prompt(after), complete(after), ping(after)] as const
