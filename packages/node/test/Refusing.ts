/**
 * What clients of two nodes see while the store that the nodes share refuses writes, for the tests of each store.
 */
import { assert } from "@effect/vitest"
import type { StoredTask } from "@effect-mcp/core/TaskStore"
import { Clock, Effect, Logger, type Scope } from "effect"

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0.0.0" } }
}

const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "greet", arguments: { name: "you" } } }

const send = (port: number, path: string, body?: object, session?: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session === undefined ? undefined : { "mcp-session-id": session })
      },
      ...(body === undefined ? undefined : { body: JSON.stringify(body) })
    }).then(async (response) => ({
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      session: response.headers.get("mcp-session-id") ?? undefined,
      text: await response.text()
    }))
  )

/** The two nodes have the features of `NodesLaws` and the option `health`. */
export const check = (
  [one, two]: readonly [number, number],
  refusal: { readonly begin: Effect.Effect<unknown, unknown>; readonly end: Effect.Effect<unknown, unknown> }
): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const { session } = yield* send(one, "/mcp", initialize)
    yield* send(one, "/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, session)
    assert.include((yield* send(two, "/mcp", call, session)).text, "\"result\"")
    assert.strictEqual((yield* send(one, "/readyz")).status, 200)
    yield* refusal.begin
    const passedOn = yield* send(two, "/mcp", call, session)
    assert.deepStrictEqual([passedOn.status, passedOn.retryAfter], [503, "1"])
    assert.match(passedOn.text, /nothing has run; try again/)
    const opened = yield* send(one, "/mcp", initialize)
    assert.deepStrictEqual([opened.status, opened.retryAfter], [503, "1"])
    assert.match(opened.text, /the request has not run; try again/)
    assert.strictEqual((yield* send(one, "/readyz")).status, 503)
    assert.strictEqual((yield* send(one, "/livez")).status, 200)
    // What needs no other node goes on.
    assert.include((yield* send(one, "/mcp", call, session)).text, "\"result\"")
    yield* refusal.end
    yield* Effect.repeat(send(two, "/mcp", call, session), { until: ({ status }) => status !== 503, times: 100 })
    assert.strictEqual((yield* send(one, "/readyz")).status, 200)
  })

/** The warnings of an effect. */
export const logged = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyArray<string>, E, R> =>
  Effect.suspend(() => {
    const texts: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel.ordinal >= 30_000) texts.push(String(message))
    })
    return Effect.as(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)), texts)
  })

export const task = (createdAt: number, changes: Partial<StoredTask> = {}): StoredTask => ({
  taskId: "1",
  owner: "ada",
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt,
  lastUpdatedAt: createdAt,
  ttl: 60_000,
  pollInterval: 1000,
  questions: {},
  answers: {},
  ...changes
})

/** Runs an effect at a node whose clock is so many hours ahead. */
export const inHours = <A, E, R>(hours: number, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const real = Clock.make()
  const millis = () => real.unsafeCurrentTimeMillis() + hours * 3_600_000
  return Effect.withClock(effect, {
    ...real,
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: real.currentTimeNanos,
    sleep: (duration) => real.sleep(duration)
  })
}
