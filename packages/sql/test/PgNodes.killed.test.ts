import { FetchHttpClient } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import * as Postgres from "./Postgres.js"
import * as Program from "./Program.js"

/** The process of a node, which can be killed. */
const node = Effect.fnUntraced(function*(program: string, url: string, port = 0) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [program, url, `${port}`], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const line = yield* Effect.promise(async () =>
    (await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()).value
  )
  const kill = Effect.async<void>((resume) => {
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })
  return { port: Number(line), kill }
})

const connect = (port: number) =>
  Effect.map(
    Layer.build(
      Layer.fresh(Client.layer(Remote.connector(`http://127.0.0.1:${port}/mcp`), {
        extensions: [TasksClient.extension],
        versions: ["2026-07-28"]
      })).pipe(Layer.provide(FetchHttpClient.layer))
    ),
    (context) => Context.get(context, Client.Client)
  )

Postgres.suite("a task whose node was killed", () => {
  it.scopedLive("fails for a client of another node, and for one that waited until its own node was back", () =>
    Effect.gen(function*() {
      const [program, url] = [yield* Program.bundled("running"), yield* Postgres.database]
      const first = yield* node(program, url)
      const other = yield* node(program, url)
      const attached = yield* connect(first.port)
      const task = yield* TasksClient.start(attached, "endless", {})
      const result = yield* Effect.fork(Effect.flip(task.result))
      const elsewhere = yield* TasksClient.attach(yield* connect(other.port), "endless", Option.getOrThrow(task.taskId))
      yield* first.kill
      yield* node(program, url, first.port)
      assert.include((yield* Effect.flip(elsewhere.result)).message, "has ended")
      assert.include((yield* Fiber.join(result)).message, "has ended")
    }))
})
