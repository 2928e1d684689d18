/**
 * A language model whose answers are a script: the first for the first generation, the second for the second. It remembers what
 * it was given.
 */
import type { AiError } from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import { Effect, Layer, Stream } from "effect"

type Answer =
  | ReadonlyArray<Response.PartEncoded>
  | ((options: LanguageModel.ProviderOptions) => Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError>)

export const finish = (
  reason: Response.FinishReason,
  outputTokens: number | undefined = 1
): Response.PartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: 1, outputTokens, totalTokens: 2 }
} as Response.PartEncoded)

export const text = (text: string): Response.PartEncoded => ({ type: "text", text })

export const call = (id: string, name: string, params: unknown): Response.PartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

export const make = (...answers: ReadonlyArray<Answer>) => {
  const seen: Array<LanguageModel.ProviderOptions> = []
  const layer = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: (options) =>
        Effect.suspend(() => {
          const answer = answers[seen.length]
          seen.push(options)
          if (answer === undefined) return Effect.dieMessage("The script of the model has no answer left")
          return Effect.map(
            typeof answer === "function" ? answer(options) : Effect.succeed(answer),
            (parts) => [...parts]
          )
        }),
      streamText: () => Stream.dieMessage("The scripted model does not stream")
    })
  )
  return { layer, seen }
}
