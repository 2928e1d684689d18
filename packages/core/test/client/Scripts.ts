/**
 * Helpers for tests of a client and a scripted server: calls that the server answers, and waiting for a fiber to suspend.
 */
import * as Connector from "@effect-mcp/core/Connector"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestClient from "@effect-mcp/testing/TestClient"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, type Exit, Fiber, type Scope } from "effect"
import { untilIdle } from "../../../testing/test/support/Suspended.js"

/** A client of the legacy era and its scripted server, after the handshake. */
export const legacyClient = <E = never, R = never>(options?: TestClient.Options<E, R>) =>
  TestClient.make<E, R>({ version: Version.latestLegacy, ...options })

/** Runs a call; the next message that the server receives must be its request, which the server answers. */
export const exchange = <A, E, R>(
  server: TestPeer.TestPeer,
  call: Effect.Effect<A, E, R>,
  method: string,
  result: JsonObject
): Effect.Effect<{ readonly params: JsonObject | undefined; readonly exit: Exit.Exit<A, E> }, never, R> =>
  Effect.gen(function*() {
    const calling = yield* Effect.fork(call)
    const { id, params } = yield* server.expectRequest(method)
    yield* Effect.orDie(server.send(Message.success(id, result)))
    return { params, exit: yield* Fiber.await(calling) }
  })

/** The same, for calls that succeed. */
export const answered = <A, E, R>(
  server: TestPeer.TestPeer,
  call: Effect.Effect<A, E, R>,
  method: string,
  result: JsonObject
): Effect.Effect<{ readonly params: JsonObject | undefined; readonly value: A }, E, R> =>
  Effect.flatMap(
    exchange(server, call, method, result),
    ({ exit, params }) => Effect.map(exit, (value) => ({ params, value }))
  )

/** The same, for calls that fail. */
export const refused = <A, E, R>(
  server: TestPeer.TestPeer,
  call: Effect.Effect<A, E, R>,
  method: string,
  result: JsonObject
): Effect.Effect<E, never, R> => Effect.flatMap(exchange(server, call, method, result), ({ exit }) => failure(exit))

/** The error that an effect fails with; dies when it succeeds. */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, never, R> =>
  Effect.orDieWith(Effect.flip(effect), (value) => new Error(`Expected a failure, got ${JSON.stringify(value)}`))

/** Runs it on a fiber of the scope, and returns when that fiber is suspended. */
export const waiting = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Fiber.RuntimeFiber<A, E>, never, R | Scope.Scope> =>
  Effect.tap(
    Effect.forkScoped(effect),
    (fiber) => untilIdle(fiber)
  )

/** Connects to scripted servers, each over a pipe of its own, and counts the open pipes. */
export const servers = Effect.gen(function*() {
  const connected: Array<TestPeer.TestPeer> = []
  let open = 0
  const connector = Connector.make(
    "scripted servers",
    Effect.gen(function*() {
      yield* Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--))
      const [client, server] = yield* Transport.memory()
      connected.push(yield* TestPeer.make(server))
      return client
    })
  )
  return { connector, open: () => open, server: () => connected.at(-1)! }
})
