/**
 * Scripts of a modern server for the tests of a client: what its answers have in common.
 */
import type * as Message from "@effect-mcp/core/Message"
import * as M from "@effect-mcp/core/Message"
import * as TestClient from "@effect-mcp/testing/TestClient"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Effect } from "effect"

export const version = "2026-07-28"

/**
 * A modern client, connected to a server with these capabilities. The server hangs up before the client closes, so that it
 * does not receive how the client cancels its subscription.
 */
export const connect = <E = never, R = never>(
  capabilities: Record<string, unknown> = {},
  client: TestClient.Options<E, R>["client"] = {}
) =>
  Effect.tap(
    TestClient.make<E, R>({ version, capabilities, client }),
    ({ server }) => Effect.addFinalizer(() => server.hangUp)
  )

/** Answers a request with a complete result. */
export const complete = (server: TestPeer, id: Message.RequestId, result: Record<string, unknown>) =>
  server.send(M.success(id, { resultType: "complete", ...result }))

/** Answers a request with a result that may be cached. */
export const cacheable = (
  server: TestPeer,
  id: Message.RequestId,
  result: Record<string, unknown>,
  ttlMs = 0
) => complete(server, id, { ttlMs, cacheScope: "private", ...result })

/** Answers a request with input requests. */
export const requireInput = (server: TestPeer, id: Message.RequestId, result: Record<string, unknown>) =>
  server.send(M.success(id, { resultType: "input_required", ...result }))

export const envelope = (request: Message.Request): Record<string, unknown> =>
  (request.params?._meta ?? {}) as Record<string, unknown>

/** Acknowledges the subscription that a request opens. */
export const acknowledge = (server: TestPeer, { id, params }: Message.Request, filter = params?.notifications) =>
  server.notify("notifications/subscriptions/acknowledged", {
    notifications: filter,
    _meta: { "io.modelcontextprotocol/subscriptionId": id }
  })

/** Runs an effect beside the script, from its first step on. */
export const beside = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(Effect.fork(effect), Effect.yieldNow())
