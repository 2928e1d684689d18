/**
 * Questions that a handler can ask the client. There are four kinds: a form for a person, a page for a person, messages for the client's
 * model, and the request for the roots. A question is a value, which a handler passes to `ask` of `ServerSession`. It names the capability
 * that the client must have, and decodes the answer. `legacy/Questions` and `modern/Questions` send the questions.
 *
 * A handler should ask before it changes anything, because the handler may run several times. With revision 2026-07-28 or later a server
 * sends no requests to the client. A question then interrupts the handler, and the server answers the request with the question. The client
 * sends the request again with its answer, and the server runs the handler again from the beginning.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Form from "../definition/Form.js"
import type { ClientCapabilities } from "../protocol/Capabilities.js"
import type { ElicitAction, ElicitContent, ElicitResult } from "../protocol/Elicitation.js"
import type { RequestedSchema } from "../protocol/ElicitationSchema.js"
import type { JsonObject } from "../protocol/Json.js"
import type { ListRootsResult, Root } from "../protocol/Roots.js"
import * as PageUrl from "../protocol/rules/PageUrl.js"
import * as ToolUseRules from "../protocol/rules/ToolUseRules.js"
import * as Sampling from "../protocol/Sampling.js"
import * as TextFormat from "../protocol/schema/TextFormat.js"

/** @category models */
export interface Question<out A> {
  readonly kind: "elicit" | "sample" | "roots"
  /** The capabilities that the client must have declared. */
  readonly requires: ClientCapabilities
  readonly params: JsonObject
  /**
   * What is wrong with the question; `undefined` for a correct question. The server does not send a question that has a problem. Instead,
   * the handler that asks the question fails.
   */
  readonly problem: string | undefined
  /** Decodes the client's answer, which conforms to the schema of the method. Fails with a text that says what is wrong with the answer. */
  readonly decode: (result: any) => Effect.Effect<A, string>
}

/**
 * Helper types of questions.
 *
 * @category constants
 */
export declare namespace Question {
  export type Answer<Q> = Q extends Question<infer A> ? A : never
}

/**
 * What a person did with a form: filled it in, declined, or closed it.
 *
 * @category models
 */
export type Elicited<A> =
  | { readonly action: "accept"; readonly content: A }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * Makes a form for a person. The fields of the form come from `schema`, an Effect schema, or from `requestedSchema`, as the MCP
 * specification defines it.
 *
 * Throws when a form has no field for a type in the schema. A form must not ask for secrets. For secrets, use a page (`url`). Make the
 * question, or at least the schema, outside of the handler, because the library compiles each new schema object again.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
 * @category utils
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
 * Makes a form without fields, which asks a person to agree. The answer is `true` when the person accepts the form, and `false` otherwise.
 *
 * @category utils
 */
export const confirm = (message: string): Question<boolean> => ({
  kind: "elicit",
  requires: { elicitation: { form: {} } },
  params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } },
  problem: undefined,
  decode: ({ action }: ElicitResult) => Effect.succeed(action === "accept")
})

/**
 * Asks a person to open a page. Use a page for secrets that the client must not see. The answer `accept` means that the person agreed to
 * open the page. When the person has finished at the page, call `elicitationComplete` of `RequestContext`, which notifies the client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @category utils
 */
export const url = (options: {
  readonly message: string
  readonly url: string
  /** The id of this elicitation. Pass the same id to `elicitationComplete`. */
  readonly elicitationId: string
}): Question<ElicitAction> => ({
  kind: "elicit",
  requires: { elicitation: { url: {} } },
  params: { mode: "url", ...options },
  problem: TextFormat.matches("uri", options.url)
    ? urlProblem(options.url)
    : "the url is not valid: begin it with a scheme, such as https:, and percent-encode other characters",
  decode: ({ action }: ElicitResult) => Effect.succeed(action)
})

const urlProblem = (url: string): string | undefined => {
  const problem = PageUrl.problem(url)
  return problem === undefined ? undefined : `the url ${problem}`
}

/**
 * Asks the client's model to continue these messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
 * @category utils
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
 * Asks for the roots of the client: the folders, or other places, that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @deprecated since 2026-07-28 (SEP-2577). Revisions from 2027-07-28 on may no longer have this.
 * @category utils
 */
export const roots: Question<ReadonlyArray<Root>> = {
  kind: "roots",
  requires: { roots: {} },
  params: {},
  problem: undefined,
  decode: ({ roots }: ListRootsResult) => Effect.succeed(roots)
}
