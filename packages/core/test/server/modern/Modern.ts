/**
 * Clients of 2026-07-28 that send exactly what a test gives them. The official schema checks the messages of the server.
 */
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, type Scope } from "effect"

export type Options = TestPeer.ModernOptions

export const envelope = (options?: Options) => ({ _meta: TestPeer.requestMeta(options) })

export const stamp = {
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "0.0.0" } }
}

export const uncached = { ttlMs: 0, cacheScope: "private" }

/** A client that sends no handshake. */
export const connect: Effect.Effect<TestPeer.TestPeer, never, Dispatcher | Scope.Scope> = TestPeer.client()

export const request = (peer: TestPeer.TestPeer, method: string, params: JsonObject = {}, options?: Options) =>
  peer.modern(options).request(method, params)

/** Sends a request, and waits for its result. */
export const result = (peer: TestPeer.TestPeer, method: string, params?: JsonObject, options?: Options) =>
  Effect.flatMap(request(peer, method, params, options), peer.expectResult)

/** Sends a request, and waits for its error. */
export const error = (peer: TestPeer.TestPeer, method: string, params?: JsonObject, options?: Options) =>
  Effect.flatMap(request(peer, method, params, options), peer.expectError)

/** Calls a tool without arguments, and waits for its result. */
export const call = (peer: TestPeer.TestPeer, name: string, params?: JsonObject, options?: Options) =>
  result(peer, "tools/call", { name, ...params }, options)

/** Checks that no message is on its way: a request with a known answer is answered next. */
export const silence = (peer: TestPeer.TestPeer) => error(peer, "silence")

/** The first text of a tool's result. */
export const text = ({ content }: JsonObject) => (content as ReadonlyArray<{ readonly text: string }>)[0]?.text
