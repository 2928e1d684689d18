import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import * as RedisProcess from "./RedisProcess.js"
import * as RedisProxy from "./RedisProxy.js"

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0.0.0" } }
}

describe("nodes, while Redis does not answer:", () => {
  it.scopedLive("a node lives and is not ready, refuses new sessions with 503, and removes sessions that end later", () =>
    Effect.gen(function*() {
      const redis = yield* RedisProcess.make()
      const timeout = "1 second"
      const context = yield* Layer.build(
        HttpServer.layer({ port: 0, health: { timeout, maxAge: 0, maxLag: "1 minute" } }).pipe(
          Layer.provide(McpServer.layer({ name: "away", version: "1.0.0" }, Layer.empty)),
          Layer.provide(Layer.provide(RedisNodes.services, RedisConnection.layerWith({ url: redis.url, timeout })))
        )
      )
      const { port, sessions } = Context.get(context, HttpServer.HttpServer)
      const { command } = yield* RedisProcess.connection(redis)
      const send = (path: string, method = "GET", body?: object, session?: string) =>
        Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}${path}`, {
            method,
            headers: {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              ...(session === undefined ? undefined : { "mcp-session-id": session })
            },
            ...(body === undefined ? undefined : { body: JSON.stringify(body) })
          })
        )
      const health = Effect.map(
        Effect.all([send("/livez"), send("/readyz")]),
        (both) => both.map(({ status }) => status)
      )
      const id = (yield* send("/mcp", "POST", initialize)).headers.get("mcp-session-id")!
      const stored = Effect.map(command("KEYS", `*${id}*`), (keys) => (keys as ReadonlyArray<unknown>).length)
      assert.deepStrictEqual(yield* health, [200, 200])
      assert.isAbove(yield* stored, 0)

      yield* redis.pause
      assert.deepStrictEqual(yield* health, [200, 503])
      const refused = yield* send("/mcp", "POST", initialize)
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
      const { error } = (yield* Effect.promise(() => refused.json())) as { readonly error: object }
      assert.deepStrictEqual(error, {
        code: -32000,
        message: "Service Unavailable: The directory of sessions cannot be reached at the moment; try again"
      })
      assert.strictEqual((yield* send("/mcp", "POST", { jsonrpc: "2.0", id: 2, method: "ping" }, id)).status, 200)
      assert.strictEqual((yield* send("/mcp", "DELETE", undefined, id)).status, 200)
      assert.strictEqual(sessions(), 0)

      yield* redis.resume
      yield* Effect.repeat(stored, { until: (count) => count === 0 })
      assert.deepStrictEqual(yield* health, [200, 200])
    }))
})

describe("each operation of a service, while Redis", () => {
  const TIMEOUT = 1000

  for (const behaviour of ["does not answer", "ends each connection"] as const) {
    it.scopedLive(`${behaviour}: ends in time, with the error that its interface promises`, () =>
      Effect.gen(function*() {
        const redis = yield* RedisProcess.shared
        let isAway = false
        const { cut, url } = yield* RedisProxy.make(redis.url, ({ cut, pass }) => {
          if (!isAway) pass()
          else if (behaviour === "ends each connection") cut()
        })
        const connection = yield* RedisProcess.connection({ url }, { timeout: TIMEOUT })
        const services = yield* Layer.build(
          Layer.provide(RedisNodes.services, Layer.succeed(RedisConnection.RedisConnection, connection))
        )
        const sessions = Context.get(services, SessionDirectory.SessionDirectory)
        const member = yield* sessions.join("one")
        const inboxes = Context.get(services, Inbox.Inbox)
        const mailbox = yield* inboxes.open("one")
        const events = Context.get(services, EventStore.EventStore)
        const tasks = Context.get(services, TaskStore.TaskStore)
        const limits = Context.get(services, SharedLimits.SharedLimits)
        const bus = yield* Context.get(services, ChangeBus.ChangeBus).join
        const key = { session: "s", stream: "1" }
        const event = { position: 1, data: "1" }
        const table: Record<
          string,
          readonly [operation: Effect.Effect<unknown, object, Scope.Scope>, outcome: string]
        > = {
          "SessionDirectory.join": [sessions.join("two"), "SessionDirectoryError"],
          "Membership.create": [member.create("s", {}), "SessionDirectoryError"],
          "Membership.find": [member.find("s"), "SessionDirectoryError"],
          "Membership.claim": [member.claim("s", 1), "SessionDirectoryError"],
          "Membership.update": [member.update("s", 1, {}), "SessionDirectoryError"],
          "Membership.touch": [member.touch(["s"]), "SessionDirectoryError"],
          "Membership.release": [member.release("s", 1), "SessionDirectoryError"],
          "Membership.remove": [member.remove("s", 1), "SessionDirectoryError"],
          "Membership.isAlive": [member.isAlive("two"), "SessionDirectoryError"],
          "Inbox.open": [inboxes.open("two"), "InboxError Unavailable"],
          "Mailbox.send": [mailbox.send("one", "text"), "InboxError Unavailable"],
          "EventStore.unfinished": [events.unfinished(key), "EventStoreError"],
          "EventStore.after": [events.after(key, -1), "EventStoreError"],
          "EventStore.open": [events.open(key, [1]), "ended"],
          "EventStore.append": [events.append(key, event), "ended"],
          "EventStore.appendAll": [events.appendAll!({ ...key, stream: "2" }, [event], true), "ended"],
          "EventStore.finish": [events.finish({ ...key, stream: "3" }), "ended"],
          "EventStore.forget": [events.forget("s"), "ended"],
          "TaskStore.create": [tasks.create(task), "TaskStoreError Unavailable"],
          "TaskStore.get": [tasks.get(null, "1"), "TaskStoreError Unavailable"],
          "TaskStore.replace": [tasks.replace({ ...task, version: 2 }), "TaskStoreError Unavailable"],
          "TaskStore.list": [tasks.list(null, { limit: 1 }), "TaskStoreError Unavailable"],
          "TaskStore.changes": [Stream.runDrain(tasks.changes(null, "1")), "TaskStoreError Refused"],
          "SharedLimits.take": [limits.take("k", { burst: 1, every: "1 second" }), "SharedLimitsError"],
          "SharedLimits.once": [limits.once("k", "1 second"), "SharedLimitsError"],
          "Member.publish": [bus.publish({ _tag: "Unknown" }), "ended"]
        }
        isAway = true
        if (behaviour === "ends each connection") yield* cut
        const outcomes = yield* Effect.forEach(Object.entries(table), ([name, [operation]]) =>
          Effect.match(operation, {
            onFailure: (error) => [name, "reason" in error ? `${nameOf(error)} ${error.reason}` : nameOf(error)],
            onSuccess: () => [name, "ended"]
          }).pipe(
            Effect.timeoutTo({
              // The last event of a stream is sent to Redis once more, to be marked as missing.
              duration: 4 * TIMEOUT,
              onSuccess: (outcome) => outcome,
              onTimeout: () => [name, "late"]
            })
          ), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          Object.fromEntries(outcomes),
          Object.fromEntries(Object.entries(table).map(([name, [, outcome]]) => [name, outcome]))
        )
        isAway = false
      }))
  }
})

const nameOf = (error: object): string => "_tag" in error ? String(error._tag) : String(error)

const task = {
  taskId: "1",
  owner: null,
  revision: "2025-11-25",
  version: 1,
  status: "working",
  createdAt: Date.now(),
  lastUpdatedAt: Date.now(),
  ttl: 60_000,
  pollInterval: 1000,
  questions: {},
  answers: {}
} as const
