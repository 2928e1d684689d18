/**
 * The capability of a client that answers a question as a task. Only clients of 2025-11-25 can declare it: a server of every
 * era refuses the others with it.
 */
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Question } from "../Ask.js"

export const of = ({ kind }: Pick<Question<unknown>, "kind">): ClientCapabilities => ({
  tasks: { requests: kind === "elicit" ? { elicitation: { create: {} } } : { sampling: { createMessage: {} } } }
})
