import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as SealKeys from "@effect-mcp/core/SealKeys"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as SharedLimits from "@effect-mcp/core/SharedLimits"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Context, Effect, Layer, type Scope } from "effect"
import * as RedisProcess from "./RedisProcess.js"

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

describe("what the nodes store in Redis", () => {
  it.scopedLive("expires, however it was changed last, but for the bus and its counter", () =>
    Effect.gen(function*() {
      const connection = yield* RedisProcess.connection(yield* RedisProcess.shared)
      const { command, prefix } = connection
      const services = yield* Layer.build(
        Layer.provide(RedisNodes.services, Layer.succeed(RedisConnection.RedisConnection, connection))
      )
      const sessions = Context.get(services, SessionDirectory.SessionDirectory)
      const events = Context.get(services, EventStore.EventStore)
      const inboxes = Context.get(services, Inbox.Inbox)
      const tasks = Context.get(services, TaskStore.TaskStore)
      const limits = Context.get(services, SharedLimits.SharedLimits)
      const one = yield* sessions.join("one")
      const { send } = yield* inboxes.open("one")
      const bus = yield* Context.get(services, ChangeBus.ChangeBus).join
      const stream = { session: "s", stream: "1", epoch: 2 }
      const task = {
        taskId: "1",
        owner: "ada",
        revision: "2025-11-25",
        version: 1,
        status: "working",
        createdAt: Date.now(),
        lastUpdatedAt: Date.now(),
        ttl: MINUTE,
        pollInterval: 1000,
        questions: {},
        answers: {}
      } as const
      const [session, about, stored] = ["{session:s}", "{session:s}:about:1", "{session:s}:events:1"]
      const ofEpoch = { "{session:s}:epoch": HOUR, "{session:s}:streams": HOUR }
      const table: ReadonlyArray<
        [what: string, run: Effect.Effect<unknown, unknown, Scope.Scope>, lives: Record<string, number>]
      > = [
        ["a node joins", sessions.join("two"), { "node:two": 3 * SECOND }],
        ["an inbox opens", inboxes.open("two"), { "{inbox:two}:size": 10 * SECOND }],
        ["a text is sent", send("one", "text"), { "{inbox:one}": 10 * SECOND + MINUTE }],
        ["a session begins", one.create("s", {}), { [session]: HOUR }],
        ["a session changes", one.update("s", 1, {}), { [session]: HOUR }],
        ["a session is released", one.release("s", 1), { [session]: HOUR }],
        ["a session is claimed", one.claim("s", 1), { [session]: HOUR }],
        ["a stream begins", events.open(stream, [1]), { ...ofEpoch, [about]: HOUR }],
        ["an event is stored", events.append(stream, { position: 1, data: "" }), {
          ...ofEpoch,
          [about]: HOUR,
          [stored]: HOUR
        }],
        ["another event is stored", events.append(stream, { position: 2, data: "" }), {
          ...ofEpoch,
          [about]: HOUR,
          [stored]: HOUR
        }],
        ["a stream ends", events.finish(stream), { ...ofEpoch, [about]: 5 * MINUTE, [stored]: 5 * MINUTE }],
        [
          "a stream ends with its last event",
          Effect.zipRight(
            events.open({ ...stream, stream: "2" }, [2]),
            events.appendAll!({ ...stream, stream: "2" }, [{ position: 3, data: "" }], true)
          ),
          { ...ofEpoch, "{session:s}:events:2": 5 * MINUTE, "{session:s}:about:2": 5 * MINUTE }
        ],
        ["a task begins", tasks.create(task), {
          "task:1": MINUTE,
          "{tasks:=ada}": MINUTE,
          "{tasks:=ada}:until": MINUTE,
          "{tasks:=ada}:sizes": MINUTE
        }],
        ["a rate is counted", limits.take("k", { burst: 10, every: "1 minute" }), { "rate:k": MINUTE }],
        ["something happens once", limits.once("k", "1 minute"), { "once:k": MINUTE }],
        ["a key is made", Context.get(services, SealKeys.SealKeys).current, { seal: 25 * HOUR }],
        ["a change is published", bus.publish({ _tag: "Unknown" }), {}]
      ]
      for (const [what, run, lives] of table) {
        for (const key of Object.keys(lives)) yield* command("PERSIST", `${prefix}${key}`)
        yield* run
        for (const [key, most] of Object.entries(lives)) {
          const left = Number(yield* command("PTTL", `${prefix}${key}`))
          assert.isTrue(left > Math.max(0, most - MINUTE / 2) && left <= most, `${what}: ${key} expires in ${left} ms`)
        }
      }
      yield* events.forget("s", 2)
      const keys = (yield* command("KEYS", `${prefix}*`)) as ReadonlyArray<string>
      const kept = yield* Effect.filter(keys, (key) => Effect.map(command("PTTL", key), (left) => left === -1))
      assert.deepStrictEqual(kept.map((key) => key.slice(prefix.length)).sort(), ["{changes}", "{changes}:number"])
    }))
})
