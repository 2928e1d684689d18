/**
 * Passes questions of the upstream (elicitation, sampling, roots) to a client of the proxy, and does not change the parameters and the
 * answer. `Link` uses this module for questions that the upstream sends as requests. `Forward`, `UpstreamTask` and `WaitingCalls` use it
 * for questions that belong to a call. `ServerSession` checks that the client has declared the capability for a question. `passed` decides
 * which capabilities of a client the proxy declares to the upstream. `features` makes the features of the proxy's own client at the
 * upstream.
 */
import type { Question as ServerQuestion } from "@effect-mcp/core/Ask"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { FeatureContext } from "@effect-mcp/core/FeatureContext"
import { type ClientCapabilities, declares } from "@effect-mcp/core/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { type McpError, MethodNotFound } from "@effect-mcp/core/protocol/McpError"
import type { AskError, ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A question as a server sends it. */
export interface Question {
  readonly method: string
  readonly params?: JsonObject | undefined
}

/** The questions of one result or task, by the keys that the upstream has given them. */
export interface Questions {
  readonly [key: string]: Question
}

/** The most questions that one result or task may have. */
export const MAX = 1000

export type Ask = (question: Question) => Effect.Effect<JsonObject, AskError>

/** Makes a function that passes a question to the client of `session`. */
export const ask = (session: ServerSessionService): Ask => ({ method, params = {} }) => {
  const kind = kinds.get(method)
  if (kind === undefined) return Effect.fail(new MethodNotFound({ method: method.slice(0, 128) }))
  const question: ServerQuestion<JsonObject> = {
    kind,
    requires: requirementOf(kind, params),
    params,
    problem: undefined,
    decode: (answer: JsonObject) => Effect.succeed(answer)
  }
  return Effect.map(session.ask({ question }), ({ question }) => question)
}

const kinds: ReadonlyMap<string, ServerQuestion<unknown>["kind"]> = new Map([
  ["elicitation/create", "elicit"],
  ["sampling/createMessage", "sample"],
  ["roots/list", "roots"]
])

const requirementOf = (kind: ServerQuestion<unknown>["kind"], params: JsonObject): ClientCapabilities => {
  switch (kind) {
    case "elicit":
      return { elicitation: params.mode === "url" ? { url: {} } : { form: {} } }
    case "sample":
      return { sampling: params.tools === undefined && params.toolChoice === undefined ? {} : { tools: {} } }
    case "roots":
      return { roots: {} }
  }
}

/** Returns the questions of a result or of a task; `undefined` when the value is not valid. */
export const of = (requests: unknown): Questions | undefined => {
  if (requests === undefined) return {}
  const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null
  if (!isObject(requests)) return undefined
  const isQuestion = (one: unknown) =>
    isObject(one) && typeof one.method === "string" && (one.params === undefined || isObject(one.params))
  return Object.values(requests).every(isQuestion) ? requests as Questions : undefined
}

/** The capabilities of a client that answers all questions. */
export const all: ClientCapabilities = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true }
}

/** Returns the capabilities that the proxy declares to the upstream for a client that has declared `declared`. */
export const passed = (declared: ClientCapabilities): ClientCapabilities => ({
  ...(declares(declared, "sampling")
    ? {
      sampling: {
        ...(declares(declared, "sampling.tools") ? { tools: {} } : undefined),
        ...(declares(declared, "sampling.context") ? { context: {} } : undefined)
      }
    }
    : undefined),
  ...(declared.elicitation === undefined ? undefined : {
    elicitation: {
      ...(declares(declared, "elicitation.form") ? { form: {} } : undefined),
      ...(declares(declared, "elicitation.url") ? { url: {} } : undefined)
    }
  }),
  ...(declared.roots === undefined ? undefined : { roots: {} })
})

/**
 * Makes client features that pass each question of the upstream to `ask`. `rootsChanges` contains a stream with an element for each change
 * of the client's roots.
 */
export const features = (
  declared: ClientCapabilities,
  ask: (question: Question) => Effect.Effect<JsonObject, AskError, FeatureContext>,
  rootsChanges: Parameters<typeof ClientFeatures.roots>[1] & {}
): Layer.Layer<never, never, ClientFeatures.ClientFeatures> => {
  const passing = (method: string) => (params: object): Effect.Effect<any, McpError | AskError, FeatureContext> =>
    ask({ method, params: params as JsonObject })
  return Layer.mergeAll(
    Layer.empty,
    ...(declares(declared, "sampling")
      ? [ClientFeatures.sampling(passing("sampling/createMessage"), {
        tools: declared.sampling?.tools ?? false,
        context: declared.sampling?.context ?? false
      })]
      : []),
    ...(declares(declared, "elicitation.form") ? [ClientFeatures.elicitation(passing("elicitation/create"))] : []),
    ...(declares(declared, "elicitation.url")
      ? [
        ClientFeatures.urlElicitation((params) =>
          Effect.map(passing("elicitation/create")(params), ({ action }) => action)
        )
      ]
      : []),
    ...(declared.roots === undefined ? [] : [ClientFeatures.roots(
      Effect.map(passing("roots/list")({}), ({ roots }) => roots),
      rootsChanges
    )])
  ) as Layer.Layer<never, never, ClientFeatures.ClientFeatures>
}
