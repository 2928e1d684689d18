/**
 * A language model that follows a script, so that the example needs no network: what it does depends on how many answers of
 * tools it has seen. A real one is a layer of a provider, such as `AnthropicLanguageModel.layer` of `@effect/ai-anthropic`.
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const call = (name: string, params: object): Response.PartEncoded => ({ type: "tool-call", id: name, name, params })

const script: ReadonlyArray<ReadonlyArray<Response.PartEncoded>> = [
  [call("search", { q: "Oslo" }), call("calendar_search", { q: "Oslo" })],
  [call("summarize", {}), call("book", { day: "Friday" })],
  [call("book", { day: "Saturday" }), call("sync", {})],
  [{ type: "text", text: "The talk in Oslo is on Friday, and Saturday is booked. I could not reach the office." }]
]

const finish = (reason: Response.FinishReason): Response.PartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }
})

const textOf = (message: Prompt.Message | undefined): string =>
  message?.role === "user" ? message.content.map((part) => part.type === "text" ? part.text : "").join("") : ""

export const ScriptedModel = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: ({ prompt, tools }) => {
      const messages = prompt.content
      // Without tools it is a request of a server.
      if (tools.length === 0) {
        const [first] = textOf(messages.at(-1)).split(". ")
        return Effect.succeed([{ type: "text", text: `In short: ${first}.` }, finish("stop")])
      }
      const step = messages.filter(({ role }) => role === "tool").length
      return Effect.succeed([...(script[step] ?? []), finish(step < script.length - 1 ? "tool-calls" : "stop")])
    },
    streamText: () => Stream.dieMessage("This model does not stream")
  })
)
