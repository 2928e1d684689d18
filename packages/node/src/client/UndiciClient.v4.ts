/** The HTTP client of Effect over one dispatcher of undici, for `Dispatchers`. This version of the module is for Effect 4. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"

export const make = (dispatcher: Undici.Dispatcher): HttpClient =>
  Effect.runSync(Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher))
