import { assert, describe, it } from "@effect/vitest"
import { EventStore } from "@effect-mcp/core/EventStore"
import * as McpServer from "@effect-mcp/core/McpServer"
import { SealKeys } from "@effect-mcp/core/SealKeys"
import { SharedLimits } from "@effect-mcp/core/SharedLimits"
import { TaskStore } from "@effect-mcp/core/TaskStore"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { copyFileSync } from "node:fs"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as Sqlite from "./Sqlite.js"

/** A process with a server, and the services that it has. */
const started = (path: string) =>
  Effect.map(
    Layer.build(
      HttpServer.layer({ port: 0 }).pipe(
        Layer.provide(McpServer.layer({ name: "one", version: "1.0.0" }, NodesLaws.features)),
        Layer.provideMerge(Layer.provide(SqlNodes.layer, Sqlite.client(path)))
      )
    ),
    (context) => ({
      port: Context.get(context, HttpServer.HttpServer).port,
      events: Context.get(context, EventStore),
      tasks: Context.get(context, TaskStore),
      keys: Context.get(context, SealKeys),
      limits: Context.get(context, SharedLimits)
    })
  )

/** The file as it is when its process is killed: nothing has been closed. */
const killed = (path: string) =>
  Effect.map(Sqlite.file, (copy) => {
    for (const part of ["", "-wal"]) copyFileSync(`${path}${part}`, `${copy}${part}`)
    return copy
  })

const expect: Parameters<typeof NodesLaws.greet>[2] = (isKept, message) =>
  isKept ? Effect.void : Effect.die(new Error(message))

describe("a server over SQLite", () => {
  for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"] as const) {
    it.scopedLive(`goes on with its sessions at once after its process was killed, at ${version}`, () =>
      Effect.gen(function*() {
        const path = yield* Sqlite.file
        const processes = [yield* started(path)]
        const one = yield* NodesLaws.client(processes, version)
        yield* NodesLaws.greet(one, 3, expect)
        processes.splice(0, 1, yield* started(yield* killed(path)))
        yield* NodesLaws.greet(one, 3, expect)
      }))
  }

  it.scopedLive("has its streams, tasks, keys and limits after its process was killed", () =>
    Effect.gen(function*() {
      const path = yield* Sqlite.file
      const one = yield* started(path)
      const key = { session: "s", stream: "1" }
      const task = {
        taskId: "t",
        owner: null,
        revision: "2025-11-25",
        version: 1,
        status: "working",
        createdAt: yield* Clock.currentTimeMillis,
        lastUpdatedAt: 0,
        ttl: 60_000,
        pollInterval: 1000,
        questions: {},
        answers: {}
      } as const
      yield* one.events.open(key, [7])
      assert.isTrue(yield* one.events.append(key, { position: 1, data: "\"ü\"" }))
      yield* one.tasks.create(task)
      const { id } = yield* one.keys.current
      assert.isTrue(yield* one.limits.once("proof", "1 hour"))

      const two = yield* started(yield* killed(path))
      assert.deepStrictEqual(yield* two.events.unfinished(key), [7])
      assert.deepStrictEqual(yield* two.events.after(key, 0), Option.some([{ position: 1, data: "\"ü\"" }]))
      assert.deepStrictEqual(yield* two.tasks.get(null, "t"), Option.some(task))
      assert.isTrue(Option.isSome(yield* two.keys.find(id)))
      assert.isFalse(yield* two.limits.once("proof", "1 hour"))
    }))
})
