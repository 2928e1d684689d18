/**
 * Questions that a handler can ask the client, as values: a form for a person, a page for a person, messages for the client's model, and
 * the request for the roots. A question names the capability that the client must have, and decodes the answer. Each protocol era sends
 * questions in its own way.
 *
 * A handler should ask before it changes anything. With revision 2026-07-28 or later a server sends no requests to the client, so the
 * question interrupts the handler. When the client has answered, the server runs the handler again from its beginning.
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
   * What is wrong with the question; `undefined` when nothing is wrong. The server never sends a question with a problem: the handler that
   * asks it fails.
   */
  readonly problem: string | undefined
  /** Decodes an answer that conforms to the schema of the method. Fails with a description of what is wrong. */
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
 * A form for a person, from a schema or from a requested schema as the protocol defines it.
 *
 * Throws when a form cannot ask for the schema's type. A form must not ask for secrets. For secrets, use a page (`url`). Make the question,
 * or at least its schema, outside of the handler, because each new schema object is compiled again.
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
 * A form without fields, which a person accepts or does not accept. The answer is `true` when the person accepts, and `false` otherwise.
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
 * A page for a person to open, for secrets that the client must not see. `accept` means that the person agreed to open the page. When the
 * person has finished at the page, call `elicitationComplete` of the handler's context, which notifies the client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 * @category utils
 */
export const url = (options: {
  readonly message: string
  readonly url: string
  /** The id of this elicitation in `elicitationComplete`. */
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
 * Messages that the client's model is asked to continue.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
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
 * The roots of the client: the folders, or other places, that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 * @deprecated since 2026-07-28 (SEP-2577); a revision may be without it from 2027-07-28 on.
 * @category utils
 */
export const roots: Question<ReadonlyArray<Root>> = {
  kind: "roots",
  requires: { roots: {} },
  params: {},
  problem: undefined,
  decode: ({ roots }: ListRootsResult) => Effect.succeed(roots)
}
