/**
 * The commands that send one request: `call` a tool, `read` a resource, get a `prompt`, `complete` an argument, and `ping`.
 * `ArgumentWords` reads arguments, `TerminalQuestions` asks the user for those that are missing.
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
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import * as ArgumentWords from "../ArgumentWords.js"
import * as CommandClient from "../CommandClient.js"
import { refused, usage } from "../CommandFailure.js"
import { lines, type OutputService, paint } from "../CommandOutput.js"
import { ofBlock, ofResource } from "../ContentText.js"
import { jsonText } from "../Escape.js"
import * as TerminalQuestions from "../TerminalQuestions.js"

const words = (name: string, more?: string) =>
  Args.text({ name }).pipe(
    Args.withDescription(`The server, unless it stands after --${more === undefined ? "" : `; ${more}`}`),
    Args.repeated
  )

const out = Options.directory("out").pipe(
  Options.withDescription("A folder for the bytes of images, audio and blobs"),
  Options.optional
)

const WIDTH = 24

/** Shows the progress of a call as a bar. */
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

const extensionOf = (mimeType: string | undefined): string => /^[\w.-]+\/([\w.-]+)/.exec(mimeType ?? "")?.[1] ?? "bin"

/** Writes what is not text to files, and says where. */
const save = (folder: Option.Option<string>, blocks: ReadonlyArray<ContentBlock>, output: OutputService) =>
  Effect.gen(function*() {
    if (Option.isNone(folder)) return
    const files = yield* FileSystem.FileSystem
    for (const [index, block] of blocks.entries()) {
      const [data, type] = block.type === "image" || block.type === "audio"
        ? [block.data, block.mimeType]
        : block.type === "resource" && "blob" in block.resource
        ? [block.resource.blob, block.resource.mimeType]
        : []
      if (data === undefined) continue
      const path = join(folder.value, `${index + 1}.${extensionOf(type)}`)
      yield* Effect.mapError(files.writeFile(path, Buffer.from(data, "base64")), (error) => refused(error.message))
      yield* output.note(`Written to ${path}`)
    }
  })

/** Prints the result of a tool; one with `isError` fails the command. */
export const showResult = (result: CallToolResult, folder: Option.Option<string>, output: OutputService) =>
  Effect.gen(function*() {
    const { content = [], isError, structuredContent } = result
    const text = content.map(ofBlock).join("\n")
    const shown = structuredContent !== undefined && content.every(({ type }) => type === "text")
      ? jsonText(structuredContent, 2)
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
    const all = Chunk.toReadonlyArray(yield* Stream.runCollect(entries))
    return all.find(({ name }) => name === word) ??
      (yield* ArgumentWords.unknown(kind, word, all.map(({ name }) => name)))
  })

/** The tool of this name. */
export const findTool = (client: ClientSessionService, name: string | undefined) => named("tool", name, client.tools)

/** The arguments that words give, with the user's answers for required ones that the words leave out. */
export const argumentsOf = (schema: JsonObject, words: ReadonlyArray<string>, output: OutputService) =>
  Effect.gen(function*() {
    const given = yield* ArgumentWords.toObject(words, schema)
    const args = output.interactive ? yield* TerminalQuestions.complete(schema, given, "required", output) : given
    yield* ArgumentWords.requireAll(schema, args)
    return args
  })

const call = (after: ReadonlyArray<string>) =>
  Command.make("call", {
    ...CommandClient.options,
    out,
    words: words(
      "server, tool and arguments",
      "the tool, then name=text, name:=JSON, one JSON object, or - for standard input"
    )
  }, ({ out, words, ...given }) =>
    CommandClient.use(given, words, after, ({ client, output, words: [name, ...rest] }) =>
      Effect.gen(function*() {
        const tool = yield* findTool(client, name)
        const args = yield* argumentsOf(tool.inputSchema as JsonObject, rest, output)
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
      CommandClient.use(given, words, after, ({ client, output, words: [name, ...rest] }) =>
        Effect.gen(function*() {
          const { arguments: known = [], name: found } = yield* named("prompt", name, client.prompts)
          const schema: JsonObject = {
            properties: Object.fromEntries(known.map(({ description, name }) => [
              name,
              { type: "string", ...(description === undefined ? undefined : { description }) }
            ])),
            required: known.filter(({ required }) => required === true).map(({ name }) => name)
          }
          const args = yield* argumentsOf(schema, rest, output)
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
          return yield* usage("Give a prompt or a URI template, and the argument with its beginning: name=text")
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
          // 2026-07-28 has no ping: a list is the cheapest question that a server must answer.
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
