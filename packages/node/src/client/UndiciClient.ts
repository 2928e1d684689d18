/**
 * The HTTP client of the platform over one dispatcher of undici, for `Dispatchers`. Version 4 of Effect makes this client in another way: for
 * version 4 this module is written anew.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"

export const make = (dispatcher: Undici.Dispatcher): HttpClient => NodeHttpClient.makeUndici(dispatcher)
