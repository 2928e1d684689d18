/**
 * What the sessions of the modern era do in their own way: the facts of a client come from the envelope of the message, log messages
 * and progress leave on the channel of the request, nothing leaves outside of it, and a question ends the round.
 */
import { none } from "@effect-mcp/jsonrpc/Outbound"
import * as Logging from "@effect-mcp/protocol/Logging"
import { MissingClientCapability } from "@effect-mcp/protocol/McpError"
import * as InputRequired from "@effect-mcp/protocol/modern/InputRequired"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import { extension as TasksExtension } from "@effect-mcp/protocol/modern/Tasks"
import * as Effect from "effect/Effect"
import type { Kind } from "../Registry.js"
import type { Server } from "../runtime/Server.js"
import type { Era } from "../runtime/Session.js"
import * as TaskCapability from "../tasks/TaskCapability.js"
import type { Rounds } from "./Ask.js"
import { Round } from "./Ask.js"
import type { ModernSession, RequestFacts } from "./RequestFacts.js"
import type { Subscriptions } from "./Subscriptions.js"
import * as Tasks from "./Tasks.js"

export const make = (
  { extensions, logging }: Pick<Server, "extensions" | "logging">,
  rounds: Rounds,
  subscriptions: Subscriptions
): Era<RequestFacts> => {
  const hasTasks = extensions.byId.has(TasksExtension.id)
  return {
    extensions,
    notifications: Methods,
    // MUST NOT send log messages for a request that names no level.
    receives: ({ logLevel }, level) => logging && logLevel !== undefined && Logging.isAtLeast(level, logLevel),
    allows: () => true,
    standalone: () => none,
    changed: ({ facts }) => {
      const changed = (kind: Kind) => Effect.suspend(() => subscriptions.changedFor(facts.subscriber, kind))
      return {
        tools: changed("tools"),
        resources: changed("resources"),
        prompts: changed("prompts"),
        // The server announces updates itself to the clients that listen to a resource.
        resource: () => Effect.void
      }
    },
    elicitationComplete: () => Effect.void,
    asker: (session) => ({
      ask: (questions) => roundOf(session, rounds).ask(questions),
      askAsTask: (question) => Effect.fail(new MissingClientCapability({ required: TaskCapability.of(question) })),
      request: none.request,
      get round() {
        return InputRequired.methods.has(session.method) ? roundOf(session, rounds).passed : undefined
      }
    }),
    tasks: (session) => hasTasks ? Tasks.dialect(session) : undefined
  }
}

export const roundOf = (session: ModernSession, rounds: Rounds): Round =>
  session.facts.round ??= new Round(rounds, session)
