/**
 * The command `inspect`, which prints a description of a server and tables of its tools, prompts and resources. With a name it prints
 * everything about one entry, including its schemas. The command reads every page of every list. `Cli` runs the command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { propertiesOf, typesOf } from "../ArgumentWords.js"
import * as CommandClient from "../CommandClient.js"
import { json, lines, type OutputService, paint, type Styled } from "../CommandOutput.js"
import { table } from "../ContentText.js"
import { jsonText } from "../Escape.js"
import * as Suggestion from "../Suggestion.js"

const all = <A>(has: unknown, entries: Stream.Stream<A, ClientError>): Effect.Effect<ReadonlyArray<A>, ClientError> =>
  has === undefined ? Effect.succeed([]) : StreamArrays.collect(entries)

/** Returns everything that the server lists. */
export const inventory = (client: ClientSessionService) => {
  const { prompts, resources, tools } = client.serverCapabilities
  return Effect.all({
    tools: all(tools, client.tools),
    resources: all(resources, client.resources),
    resourceTemplates: all(resources, client.resourceTemplates),
    prompts: all(prompts, client.prompts)
  })
}

/** Returns the parameters of a tool as a signature: `city: string, days?: integer`. */
const signature = (schema: JsonObject): string => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.entries(propertiesOf(schema)).map(([name, property]) =>
    `${name}${required.includes(name) ? "" : "?"}: ${typesOf(property).join(" | ") || "any"}`
  ).join(", ")
}

const overview = (
  { era, instructions, serverCapabilities, serverInfo, version }: ClientSessionService,
  lists: Effect.Effect.Success<ReturnType<typeof inventory>>,
  { width }: OutputService
): Styled => {
  const section = (title: string, rows: ReadonlyArray<readonly [string, string | undefined]>) =>
    rows.length === 0
      ? []
      : [
        "",
        paint("bold", `${title} (${rows.length})`),
        table(rows.map(([name, text]) => [name, text ?? ""]), width)
      ]
  return lines([
    [
      paint("bold", serverInfo.title ?? serverInfo.name),
      ` ${serverInfo.version}, revision ${version} (${era})`
    ],
    `Capabilities: ${Object.keys(serverCapabilities).join(", ") || "none"}`,
    ...(instructions === undefined ? [] : ["", instructions]),
    ...section(
      "Tools",
      lists.tools.map(({ description, inputSchema, name, title }) => [
        `${name}(${signature(inputSchema as JsonObject)})`,
        description ?? title
      ])
    ),
    ...section("Resources", lists.resources.map(({ description, name, uri }) => [uri, description ?? name])),
    ...section(
      "Resource templates",
      lists.resourceTemplates.map(({ description, name, uriTemplate }) => [uriTemplate, description ?? name])
    ),
    ...section(
      "Prompts",
      lists.prompts.map(({ arguments: args = [], description, name }) => [
        `${name}(${args.map(({ name, required }) => `${name}${required === true ? "" : "?"}`).join(", ")})`,
        description
      ])
    )
  ])
}

export const command = (after: ReadonlyArray<string>) =>
  Command.make("inspect", {
    ...CommandClient.options,
    words: Args.text({ name: "server and entry" }).pipe(
      Args.withDescription("The server, unless its command line comes after --, and the name or URI of one entry"),
      Args.between(0, 2)
    )
  }, ({ words, ...given }) =>
    CommandClient.use(given, words, after, ({ client, output, words: [entry] }) =>
      Effect.gen(function*() {
        const lists = yield* inventory(client)
        const { era, instructions, serverCapabilities, serverInfo, version } = client
        if (entry === undefined) {
          const value = { serverInfo, version, era, capabilities: serverCapabilities, instructions, ...lists }
          return yield* output.result(value, overview(client, lists, output))
        }
        const found = [
          ...lists.tools.filter(({ name }) =>
            name === entry
          ),
          ...lists.prompts.filter(({ name }) => name === entry),
          ...lists.resources.filter(({ name, uri }) => uri === entry || name === entry),
          ...lists.resourceTemplates.filter(({ name, uriTemplate }) => uriTemplate === entry || name === entry)
        ]
        if (found.length === 0) {
          return yield* Suggestion.unknown(
            (word) => `The server lists nothing that is called "${word}"`,
            entry,
            [...lists.tools, ...lists.prompts, ...lists.resources, ...lists.resourceTemplates].map(({ name }) => name),
            () => ""
          )
        }
        yield* Effect.forEach(found, (one) => output.result(one, json(jsonText(one, 2))), { discard: true })
      }))).pipe(Command.withDescription("Shows a server and its tools, prompts and resources"))
