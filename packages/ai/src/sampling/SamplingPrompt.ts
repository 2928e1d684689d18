/**
 * Converts the messages and the tools of a sampling request to a prompt and a toolkit of `@effect/ai`, for `ModelSampling`. Tool results
 * become a tool message. In `@effect/ai` a tool result is one JSON value, so the images of tool results become a user message after the
 * tool message. Each tool gets a name that models accept. `SamplingAnswer` converts these names back to the names of the server.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { CreateMessageParams } from "@effect-mcp/core/protocol/Sampling"
import type { SamplingContent, ToolResultContent } from "@effect-mcp/core/protocol/SamplingContent"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import * as ModelNames from "../list/ModelNames.js"
import * as ModelSchema from "../ModelSchema.js"
import * as Conversion from "../schema/Conversion.js"
import * as Inlining from "../schema/Inlining.js"
import * as ModelMedia from "../text/ModelMedia.js"
import * as ModelName from "../text/ModelName.js"
import { quoted, wellFormed } from "../text/ModelText.js"
import * as RemoteDescription from "../toolkit/RemoteDescription.js"
import * as ToolOutput from "../ToolOutput.js"

/** Converts names of tools between the server and the model. */
export interface Names {
  readonly forModel: (name: string) => string
  readonly forServer: (name: string) => string
  /**
   * Converts the arguments that the model has written to the form that the server expects. `name` is the name of the tool for the model.
   */
  readonly argumentsOf: (name: string, args: JsonObject) => JsonObject
}

export const names = (tools: ReadonlyArray<Tools.Tool> = [], dialect: ModelSchema.Dialect = "json-schema"): Names => {
  const assigned = ModelNames.assign(tools.map(({ name }) => ({ key: name, wanted: name })))
  const originals = new Map([...assigned].map(([original, name]) => [name, original]))
  return {
    forModel: (name) => assigned.get(name) ?? ModelName.legal(name),
    forServer: (name) => originals.get(name) ?? name,
    argumentsOf: (name, args) => {
      const used = tools.find((tool) => tool.name === originals.get(name))
      return used === undefined || dialect !== "openai-strict" ? args : ModelSchema.withoutNulls(args, used.inputSchema)
    }
  }
}

/** Makes a toolkit of the tools of a request. `Left` is a sentence about a tool that the model cannot use. */
export const toolkit = (
  tools: ReadonlyArray<Tools.Tool>,
  { forModel }: Names,
  dialect: ModelSchema.Dialect
): Either.Either<Toolkit.WithHandler<Record<string, AiTool.Any>>, string> => {
  const budget = Inlining.budget(tools.length)
  return Either.map(
    Either.all(tools.map((tool) =>
      Either.mapBoth(Conversion.make(tool.inputSchema, dialect, budget), {
        onLeft: (reason) => `The tool ${quoted(tool.name)} ${reason}`,
        onRight: ({ schema }) =>
          AiTool.make(forModel(tool.name), {
            description: tool.description ?? tool.title ?? tool.name,
            success: Schema.Unknown
          })
            .setParameters(RemoteDescription.parameters(schema))
            .annotateContext(RemoteDescription.annotations(tool)) as unknown as AiTool.Any
      })
    )),
    (made) => ({
      tools: Object.fromEntries(made.map((tool) => [tool.name, tool])),
      // The server that has sent the request runs the tools, so this handler is never called.
      handle: () => Effect.dieMessage("A tool of a sampling request is not run by the client")
    })
  )
}

export const make = (
  { messages, systemPrompt }: Pick<CreateMessageParams, "messages" | "systemPrompt">,
  { forModel }: Names,
  context: string = ""
): Prompt.Prompt => {
  const system = wellFormed([systemPrompt ?? "", context].filter((text) => text !== "").join("\n\n"))
  const used = new Map<string, string>()
  return Prompt.fromMessages([
    ...(system === "" ? [] : [Prompt.systemMessage({ content: system })]),
    ...messages.flatMap(({ content, role }): ReadonlyArray<Prompt.Message> => {
      const blocks = Array.isArray(content) ? content as ReadonlyArray<SamplingContent> : [content as SamplingContent]
      for (const block of blocks) if (block.type === "tool_use") used.set(block.id, forModel(block.name))
      const results = blocks.filter((block) => block.type === "tool_result")
      if (results.length > 0) return toolMessages(results, used)
      return role === "user"
        ? [Prompt.userMessage({ content: blocks.flatMap(userParts) })]
        : [Prompt.assistantMessage({ content: blocks.flatMap((block) => assistantParts(block, forModel)) })]
    })
  ])
}

const userParts = (block: SamplingContent): ReadonlyArray<Prompt.TextPart | Prompt.FilePart> =>
  block.type === "text"
    ? [Prompt.textPart({ text: wellFormed(block.text) })]
    : block.type === "image" || block.type === "audio"
    ? [media(block)]
    : []

/** Returns an image or audio as a file, or a text that says why the model does not get the file. */
const media = ({ data, mimeType, type }: Extract<SamplingContent, { readonly type: "image" | "audio" }>) => {
  const read = ModelMedia.make(data, mimeType)
  return Either.match(read.data, {
    onLeft: (reason) => Prompt.textPart({ text: wellFormed(`[${type}: ${read.mimeType}, left out: ${reason}]`) }),
    onRight: (base64) => file({ data: base64, mimeType: read.mimeType })
  })
}

/** Returns a file with its data as bytes. Some providers would take a text for the id of a file. */
const file = ({ data, mimeType }: { readonly data: string; readonly mimeType: string }): Prompt.FilePart =>
  Prompt.filePart({ mediaType: mimeType, data: Either.getOrElse(Encoding.decodeBase64(data), () => data) })

const assistantParts = (
  block: SamplingContent,
  forModel: Names["forModel"]
): ReadonlyArray<Prompt.AssistantMessagePart> =>
  block.type === "tool_use"
    ? [Prompt.toolCallPart({ id: block.id, name: forModel(block.name), params: block.input, providerExecuted: false })]
    : userParts(block)

const toolMessages = (
  results: ReadonlyArray<ToolResultContent>,
  used: ReadonlyMap<string, string>
): ReadonlyArray<Prompt.Message> => {
  const outputs = results.map((result) => ({
    id: result.toolUseId,
    name: used.get(result.toolUseId) ?? "tool",
    output: ToolOutput.make(result)
  }))
  const files = outputs.flatMap(({ name, output }) =>
    output.parts.flatMap((part) =>
      part.type === "text"
        ? []
        : [
          Prompt.textPart({ text: `The ${part.type} of the tool "${name}":` }),
          file(part)
        ]
    )
  )
  return [
    Prompt.toolMessage({
      content: outputs.map(({ id, name, output }) =>
        Prompt.toolResultPart({
          id,
          name,
          isFailure: output.isError,
          result: ToolOutput.value(output),
          providerExecuted: false
        })
      )
    }),
    ...(files.length === 0 ? [] : [Prompt.userMessage({ content: files })])
  ]
}
