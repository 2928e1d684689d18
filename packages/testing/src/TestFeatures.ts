/**
 * Features of a client that answer the requests of a server from a script. The first request gets the first answer, the second request gets
 * the second answer, and so on. When the layer is built again, the script starts from its beginning.
 *
 * When the script has no answer left, or an answer does not fit the form, the server gets an error that quotes the request. The scope of
 * the client then dies at its end with the same text. The scope also dies at its end when answers are left, except when the test has
 * already failed.
 *
 * @since 0.1.0
 */
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ElicitAction, ElicitFormParams } from "@effect-mcp/core/protocol/Elicitation"
import { InternalError, type McpError } from "@effect-mcp/core/protocol/McpError"
import type { Root } from "@effect-mcp/core/protocol/Roots"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import * as ElicitationForm from "@effect-mcp/core/unstable/protocol/ElicitationForm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"

/**
 * An answer, or an effect that returns an answer. The effect may wait. To refuse the request, use an effect that fails, such as
 * `new McpError.InvalidRequest({ message: "No" })`.
 *
 * @category models
 */
export type Step<A> = A | Effect.Effect<A, McpError>

/**
 * A feature that answers from a script.
 *
 * @category models
 */
export interface Scripted<out Params> extends Layer.Layer<never, never, ClientFeatures.ClientFeatures> {
  /** The requests that all clients with this feature have received so far, in order. */
  readonly requests: Effect.Effect<ReadonlyArray<Params>>
}

/**
 * Answers requests to fill in a form (`elicitation/create` in the mode "form").
 *
 * @example
 * ```ts
 * import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
 *
 * export const person = TestFeatures.elicitation([{ action: "accept", content: { name: "Ada" } }, { action: "decline" }])
 * ```
 * @category utils
 */
export const elicitation = (
  answers: ReadonlyArray<Step<ClientFeatures.Answer>>,
  options?: ClientFeatures.ElicitationOptions
): Scripted<ElicitFormParams> =>
  scripted(
    "elicitation",
    answers,
    ({ message }) => message,
    (handler) => ClientFeatures.elicitation(handler, options),
    ({ requestedSchema }, answer) =>
      answer.action === "accept"
        ? Either.getOrElse(
          Either.flip(
            ElicitationForm.check(requestedSchema, ElicitationForm.withDefaults(requestedSchema, answer.content))
          ),
          () => []
        ).map(({ message, path }) => `${path}: ${message}`).join("; ")
        : ""
  )

/**
 * Answers requests to open a web page (`elicitation/create` in the mode "url"). Each answer is the action of the user: "accept", "decline"
 * or "cancel".
 *
 * @category utils
 */
export const urlElicitation = (
  answers: ReadonlyArray<Step<ElicitAction>>,
  options?: ClientFeatures.ElicitationOptions
): Scripted<ClientFeatures.UrlElicitation> =>
  scripted(
    "urlElicitation",
    answers,
    ({ message, url }) => `${message} ${url}`,
    (handler) => ClientFeatures.urlElicitation(handler, options)
  )

/**
 * Answers sampling requests. If an answer is a text, the client sends a message of the assistant with this text and the stop reason
 * `endTurn`.
 *
 * @category utils
 */
export const sampling = (
  answers: ReadonlyArray<Step<string | CreateMessageResult>>,
  options?: Parameters<typeof ClientFeatures.sampling>[1]
): Scripted<CreateMessageParams> =>
  scripted(
    "sampling",
    answers,
    lastText,
    (handler) => ClientFeatures.sampling((params) => Effect.map(handler(params), toMessage), options)
  )

/**
 * Answers every request for the roots with the same roots. A text in the list is the URI of a root. For roots that change, use
 * `ClientFeatures.roots`.
 *
 * @category utils
 */
export const roots = (list: ReadonlyArray<string | Root>): ClientFeatures.Feature =>
  ClientFeatures.roots(Effect.succeed(list.map((root) => typeof root === "string" ? { uri: root } : root)))

const toMessage = (answer: string | CreateMessageResult): CreateMessageResult =>
  typeof answer === "string"
    ? { role: "assistant", model: "scripted", content: { type: "text", text: answer }, stopReason: "endTurn" }
    : answer

const lastText = ({ messages }: CreateMessageParams): string => {
  const blocks = messages.flatMap(({ content }) => content)
  const last = blocks.at(-1)
  return last?.type === "text" ? last.text : `${last?.type ?? "no content"}`
}

const scripted = <Params, A>(
  name: string,
  answers: ReadonlyArray<Step<A>>,
  textOf: (params: Params) => string,
  feature: (handler: (params: Params) => Effect.Effect<A, McpError>) => ClientFeatures.Feature,
  /** Returns the reason why the client would refuse to send the answer; "" when the client would send the answer. */
  misfit: (params: Params, answer: A) => string = () => ""
): Scripted<Params> => {
  const all: Array<Params> = []
  const layer = Layer.unwrapScoped(Effect.gen(function*() {
    const mine: Array<Params> = []
    const problems: Array<string> = []
    const fail = (message: string) =>
      Effect.suspend(() => {
        problems.push(message)
        return new InternalError({ message })
      })
    yield* Effect.addFinalizer((exit) => {
      if (problems.length > 0) return Effect.dieMessage(problems.join("\n"))
      const left = answers.length - mine.length
      // A test that failed reports its own error.
      return left > 0 && Exit.isSuccess(exit)
        ? Effect.dieMessage(
          `The script of TestFeatures.${name} has ${count(answers.length, "answer")}, and the server sent ` +
            `${count(mine.length, "request")}: remove the answers that the test does not need`
        )
        : Effect.void
    })
    return feature((params) =>
      Effect.suspend((): Effect.Effect<A, McpError> => {
        const step = answers[mine.length]
        all.push(params)
        mine.push(params)
        const request = `request ${mine.length}: ${JSON.stringify(textOf(params).slice(0, 200))}`
        if (step === undefined) {
          return fail(
            `The script of TestFeatures.${name} has ${count(answers.length, "answer")}, and none for ${request}`
          )
        }
        return Effect.tap(Effect.isEffect(step) ? step : Effect.succeed(step), (answer) => {
          const why = misfit(params, answer)
          return why === "" ? Effect.void : fail(`The answer of TestFeatures.${name} does not fit ${request}: ${why}`)
        })
      })
    )
  }))
  return Object.assign(layer, { requests: Effect.sync(() => [...all]) })
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`
