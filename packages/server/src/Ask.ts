/**
 * What a server may ask the client's side, as values: a person by a form or a page, a model, the folders to work in. A
 * question says what the client must be able to do and what the answer means; how it travels is the business of each era.
 *
 * Ask first, act after: where the era has no way back to the client while a request is served, the handler is stopped at
 * the question and run again from the top with the answer.
 *
 * @since 0.1.0
 */
import * as Form from "@effect-mcp/definition/Form"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { ElicitAction, ElicitContent, ElicitResult } from "@effect-mcp/protocol/Elicitation"
import type { RequestedSchema } from "@effect-mcp/protocol/ElicitationSchema"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { ListRootsResult, Root } from "@effect-mcp/protocol/Roots"
import * as Sampling from "@effect-mcp/protocol/Sampling"
import * as ToolUseRules from "@effect-mcp/protocol/unstable/ToolUseRules"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"

/**
 * @since 0.1.0
 * @category models
 */
export interface Question<out A> {
  readonly kind: "elicit" | "sample" | "roots"
  /** What the client must have declared. */
  readonly requires: ClientCapabilities
  readonly params: JsonObject
  /** Why it cannot be asked of anybody: a mistake in the question. */
  readonly problem: string | undefined
  /** What an answer, checked for its shape, means; fails with what is wrong with it. */
  readonly decode: (result: any) => Effect.Effect<A, string>
}

/**
 * Helper types of questions.
 *
 * @since 0.1.0
 */
export declare namespace Question {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Answer<Q> = Q extends Question<infer A> ? A : never
}

/**
 * What became of a form: filled in, refused, or closed without either.
 *
 * @since 0.1.0
 * @category models
 */
export type Elicited<A> =
  | { readonly action: "accept"; readonly content: A }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * A form to fill in: by a schema, or by fields that are described already.
 *
 * Making it throws when the schema is none that a form can ask for. It must not ask for secrets: that is what a page is for.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
 * @since 0.1.0
 * @category questions
 */
export const elicit: {
  <A, I>(options: { readonly message: string; readonly schema: Schema.Schema<A, I> }): Question<Elicited<A>>
  (options: { readonly message: string; readonly requestedSchema: RequestedSchema }): Question<Elicited<ElicitContent>>
} = (options: {
  readonly message: string
  readonly schema?: Schema.Schema<any, any>
  readonly requestedSchema?: RequestedSchema
}): Question<Elicited<any>> => {
  const form: Form.Form<unknown> = options.schema === undefined
    ? Form.fromFields(options.requestedSchema!)
    : Form.make(options.schema)
  return {
    kind: "elicit",
    requires: { elicitation: { form: {} } },
    params: { mode: "form", message: options.message, requestedSchema: form.requestedSchema as unknown as JsonObject },
    problem: options.schema === undefined ? Form.problem(form.requestedSchema) : undefined,
    decode: ({ action, content }: ElicitResult) =>
      action === "accept"
        ? Effect.map(form.decode(content), (content) => ({ action, content }))
        : Effect.succeed({ action })
  }
}

/**
 * A question that a person answers with yes or no; whoever does neither has not said yes.
 *
 * @since 0.1.0
 * @category questions
 */
export const confirm = (message: string): Question<boolean> => ({
  kind: "elicit",
  requires: { elicitation: { form: {} } },
  params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } },
  problem: undefined,
  decode: ({ action }: ElicitResult) => Effect.succeed(action === "accept")
})

/**
 * A page to open, for what must not go through the client. `accept` means that the person agreed to open it; that they
 * are done there is said with `elicitationComplete`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @since 0.1.0
 * @category questions
 */
export const url = (options: {
  readonly message: string
  readonly url: string
  /** What names it in `elicitationComplete`, and to nobody else. */
  readonly elicitationId: string
}): Question<ElicitAction> => ({
  kind: "elicit",
  requires: { elicitation: { url: {} } },
  params: { mode: "url", ...options },
  problem: undefined,
  decode: ({ action }: ElicitResult) => Effect.succeed(action)
})

/**
 * Something for the client's model to go on from.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @since 0.1.0
 * @category questions
 */
export const sample = (params: Sampling.CreateMessageParams): Question<Sampling.CreateMessageResult> => {
  const wrong = ToolUseRules.problem(params.messages)
  return {
    kind: "sample",
    requires: Sampling.capability(params) === "sampling.tools" ? { sampling: { tools: {} } } : { sampling: {} },
    params: params as unknown as JsonObject,
    problem: wrong === undefined ? undefined : `message ${wrong.at}: ${wrong.message}`,
    decode: (result: Sampling.CreateMessageResult) => {
      const unfit = ToolUseRules.problemOfAnswer(result, params.toolChoice)
      return unfit === undefined ? Effect.succeed(result) : Effect.fail(unfit)
    }
  }
}

/**
 * The folders, and what else there is, that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @since 0.1.0
 * @category questions
 */
export const roots: Question<ReadonlyArray<Root>> = {
  kind: "roots",
  requires: { roots: {} },
  params: {},
  problem: undefined,
  decode: ({ roots }: ListRootsResult) => Effect.succeed(roots)
}
