/**
 * Finds the authorization scopes that a message requires: the scopes of the features that the message names, or the scopes of the task that
 * the message names. `dispatch/Build` gives these functions to the server. An HTTP endpoint (`dispatch/Stages`) checks the scopes before it
 * serves the message, because a response that has begun cannot get status 403.
 *
 * This module reads the parameters as the client sent them. For a malformed message this module finds no scopes, and the server refuses the
 * message later.
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Message from "../../jsonrpc/Message.js"
import type { Registered, RegistryService } from "../Registry.js"
import { ANY } from "../runtime/Route.js"
import type { StoredTasks } from "../tasks/StoredTasks.js"
import * as Resources from "./Resources.js"
import * as Surroundings from "./Surroundings.js"

/** Gives all scopes that a message, or the messages of a batch, require. */
export type RequiredScopes = (incoming: Message.Incoming) => ReadonlyArray<string>

/** Gives the scopes of the task that a message of this owner names; `undefined` where the message names no task. */
export type TaskScopes = (
  incoming: Message.Incoming,
  owner: string | undefined
) => Effect.Effect<ReadonlyArray<string>> | undefined

export const ofTask = (tasks: StoredTasks): TaskScopes => (incoming, owner) => {
  if (Message.isMalformed(incoming) || !Message.isRequest(incoming) || !incoming.method.startsWith("tasks/")) {
    return undefined
  }
  const taskId = incoming.params?.["taskId"]
  return typeof taskId === "string" ? tasks.requires(owner ?? null, taskId) : undefined
}

export const make = (registry: RegistryService): RequiredScopes => {
  const { handlers, prompts, templates, tools } = registry

  /**
   * Finds the entry that reads a URI. When several templates match, gives only the first template. The server checks the scopes of each
   * other template when it reads through that template.
   */
  const at = (uri: unknown): Registered | undefined =>
    typeof uri === "string" ? Resources.subscribable(registry, uri) : undefined

  const named = (method: string, params: Record<string, unknown>): Registered | undefined => {
    const name = String(params["name"])
    switch (method) {
      case "tools/call":
        return tools.get(name) ?? tools.get(ANY)
      case "prompts/get":
        return prompts.get(name)
      case "resources/read":
      case "resources/subscribe":
        return at(params["uri"])
      case "completion/complete": {
        const ref = Predicate.isRecord(params["ref"]) ? params["ref"] : {}
        return ref["type"] === "ref/prompt"
          ? prompts.get(String(ref["name"]))
          : templates.get(String(ref["uri"])) ?? at(ref["uri"])
      }
    }
    return undefined
  }

  const of = (message: unknown): ReadonlyArray<string> => {
    if (!Predicate.isRecord(message) || typeof message["method"] !== "string") return NONE
    const { method } = message
    const params = Predicate.isRecord(message["params"]) ? message["params"] : {}
    // A handler of the application replaces the server's own behaviour for the method.
    const handler = handlers.get(method)
    if (handler === undefined && method === "subscriptions/listen") return ofListen(params["notifications"])
    const entry = handler ?? named(method, params)
    return entry?.around === undefined ? NONE : Surroundings.openScopesOf(entry)
  }

  const ofListen = (filters: unknown): ReadonlyArray<string> => {
    const uris = Predicate.isRecord(filters) ? filters["resourceSubscriptions"] : undefined
    return Array.isArray(uris)
      ? uris.slice(0, MAX_URIS).flatMap((uri) => {
        const entry = at(uri)
        return entry === undefined ? NONE : Surroundings.openScopesOf(entry)
      })
      : NONE
  }

  return (incoming) => {
    const all = !Message.isMalformed(incoming) ? of(incoming) : incoming.batch?.flatMap(of) ?? NONE
    return all.length < 2 ? all : [...new Set(all)]
  }
}

/** How many URIs of one subscription this module looks up. The server checks the other URIs when the subscription begins. */
const MAX_URIS = 1024

const NONE: ReadonlyArray<string> = []
