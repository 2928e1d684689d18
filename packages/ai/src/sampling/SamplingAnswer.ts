/**
 * Converts the response of a language model to the answer for the server, for `ModelSampling`. The answer has text, images, audio, uses of
 * tools, and the reason why the response has ended. The request of the server has `maxTokens` and may have stop sequences. This module cuts
 * the text by these limits, even if the model did not get them. When the model fails, `failure` makes the error for the server.
 */
import type { AiError } from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import type { SamplingContent } from "@effect-mcp/core/protocol/SamplingContent"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import type { Names } from "./SamplingPrompt.js"

const reasons: Partial<Record<Response.FinishReason, string>> = {
  "stop": "endTurn",
  "length": "maxTokens",
  "tool-calls": "toolUse",
  "content-filter": "contentFilter"
}

export const make = (
  response: LanguageModel.GenerateTextResponse<any>,
  params: Pick<CreateMessageParams, "maxTokens" | "stopSequences">,
  names: Names,
  model: string
): CreateMessageResult => {
  const parts = response.content as ReadonlyArray<Response.Part<any>>
  const all = joined(parts.flatMap((part) => blockOf(part, names)))
  const { content, isCut } = cutAtSequence(all, (params.stopSequences ?? []).filter((text) => text !== ""))
  const short = cutAtTokens(content, response.usage.outputTokens, params.maxTokens)
  const stopReason = isCut
    ? "stopSequence"
    : short.isCut
    ? "maxTokens"
    : content.some(({ type }) => type === "tool_use")
    ? "toolUse"
    : reasons[response.finishReason]
  const [only = { type: "text", text: "" } as const, ...others] = short.content
  return {
    role: "assistant",
    content: others.length === 0 ? only : short.content,
    model: modelOf(parts) ?? model,
    ...(stopReason === undefined ? undefined : { stopReason })
  }
}

const blockOf = (part: Response.Part<any>, { argumentsOf, forServer }: Names): ReadonlyArray<SamplingContent> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }]
    case "file": {
      const type = /^(image|audio)\//.exec(part.mediaType)?.[1] as "image" | "audio" | undefined
      return type === undefined ? [] : [{ type, data: Encoding.encodeBase64(part.data), mimeType: part.mediaType }]
    }
    case "tool-call":
      return part.providerExecuted
        ? []
        : [{
          type: "tool_use",
          id: part.id,
          name: forServer(part.name),
          input: argumentsOf(part.name, part.params as {})
        }]
    default:
      return []
  }
}

/** Joins texts that follow each other directly. */
const joined = (blocks: ReadonlyArray<SamplingContent>): ReadonlyArray<SamplingContent> =>
  blocks.reduce<ReadonlyArray<SamplingContent>>((all, block) => {
    const last = all.at(-1)
    return block.type === "text" && last?.type === "text"
      ? [...all.slice(0, -1), { type: "text", text: last.text + block.text }]
      : [...all, block]
  }, [])

interface Cut {
  readonly content: ReadonlyArray<SamplingContent>
  readonly isCut: boolean
}

const cutAtSequence = (content: ReadonlyArray<SamplingContent>, sequences: ReadonlyArray<string>): Cut => {
  for (const [at, block] of content.entries()) {
    if (block.type !== "text") continue
    const found = sequences.map((sequence) => block.text.indexOf(sequence)).filter((index) => index >= 0)
    if (found.length === 0) continue
    const text = block.text.slice(0, Math.min(...found))
    return { content: [...content.slice(0, at), { type: "text", text }], isCut: true }
  }
  return { content, isCut: false }
}

/**
 * Cuts a text with more than `max` tokens, because a client MUST respect `maxTokens`. The number of characters that remain is in proportion
 * to the number of tokens.
 */
const cutAtTokens = (content: ReadonlyArray<SamplingContent>, tokens: number | undefined, max: number): Cut => {
  if (tokens === undefined || tokens <= max || content.some(({ type }) => type !== "text")) {
    return { content, isCut: false }
  }
  const share = Math.max(0, max) / tokens
  return {
    content: content.map((block) =>
      block.type === "text" ? { type: "text", text: block.text.slice(0, Math.floor(block.text.length * share)) } : block
    ),
    isCut: true
  }
}

const modelOf = (parts: ReadonlyArray<Response.Part<any>>): string | undefined => {
  const metadata = parts.find((part) => part.type === "response-metadata")
  return metadata?.type === "response-metadata" ? Option.getOrUndefined(metadata.modelId) : undefined
}

/**
 * Returns the error for the server when a model has not answered. The error has only a general sentence, because the cause may contain
 * addresses and text of other conversations. The caller of this function logs the cause.
 */
export const failure = (error: AiError): InternalError => new InternalError({ message: sentence(error) })

const sentence = (error: AiError): string => {
  switch (error._tag) {
    case "HttpRequestError":
      return error.reason === "Transport"
        ? "The model of this client could not be reached; try again later"
        : "The request to the model of this client could not be sent"
    case "HttpResponseError":
      return error.reason === "StatusCode" ? ofStatus(error.response.status) : UNREADABLE
    case "MalformedInput":
      return "The model of this client does not accept these messages"
    case "MalformedOutput":
      return UNREADABLE
    case "UnknownError":
      return "The model of this client failed"
  }
}

const UNREADABLE = "The model of this client gave an answer that could not be read"

const ofStatus = (status: number): string =>
  status === 429
    ? "The model of this client has too many requests at the moment; try again later"
    : status === 401 || status === 402 || status === 403
    ? "This client is not allowed to use its model at the moment"
    : status === 408 || status === 504
    ? "The model of this client did not answer in time; try again later"
    : status === 413
    ? "The messages are too long for the model of this client"
    : status < 500
    ? "The model of this client does not accept these messages"
    : "The provider of this client's model has a fault; try again later"
