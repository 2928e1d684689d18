/**
 * The HTTP client of the platform over one dispatcher of undici, for `Dispatchers`. Effect 4 makes this client in another way, so
 * `UndiciClient.v4.ts` replaces this module for Effect 4.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"

export const make = (dispatcher: Undici.Dispatcher): HttpClient => NodeHttpClient.makeUndici(dispatcher)
