/** What HTTP endpoints use of the dispatcher. */
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { Effect } from "effect"
import type { Entrances } from "../../src/server/dispatch/Dispatch.js"

export const entrances = Effect.map(Dispatcher, (dispatcher) => dispatcher as Entrances)
