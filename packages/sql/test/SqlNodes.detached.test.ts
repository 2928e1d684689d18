import { assert, describe, it } from "@effect/vitest"
import type * as DetachedTask from "@effect-mcp/core/DetachedTask"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import * as DetachedJobs from "./DetachedJobs.js"
import * as Program from "./Program.js"
import * as Sqlite from "./Sqlite.js"

const capabilities = { extensions: { [TasksServer.extension.id]: {} } }

/** How a client of each revision begins a task and reads it. */
const eras = {
  "2025-11-25": { begin: { task: {} }, idOf: (result: any) => result.task.taskId, meta: {} },
  "2026-07-28": {
    begin: {},
    idOf: (result: any) => result.taskId,
    meta: { _meta: TestPeer.requestMeta({ capabilities }) as JsonObject }
  }
}

type Era = keyof typeof eras

const post = (port: number, era: Era, method: string, params: JsonObject): Effect.Effect<any> =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": era,
        "mcp-method": method,
        "mcp-name": String(params.name ?? params.taskId)
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, ...eras[era].meta } })
    })
    const text = await response.text()
    const line = text.split("\n").filter((line) => line.startsWith("data: {")).at(-1)?.slice(6) ?? text
    const { error, result } = JSON.parse(line)
    if (error !== undefined) throw new Error(text)
    return result
  })

/** The process of a node, its port, and a way to end it. */
const node = Effect.fnUntraced(function*(program: string, file: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = Effect.promise(async () => JSON.parse((await lines.next()).value))
  const end = (signal: NodeJS.Signals) =>
    Effect.async<void>((resume) => {
      child.once("exit", () => resume(Effect.void))
      child.kill(signal)
    })
  return { port: (yield* line).port as number, started: line as Effect.Effect<DetachedTask.Reference>, end }
})

describe("a detached task whose node is gone", () => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const [era, { begin, idOf }] of Object.entries(eras) as Array<[Era, typeof eras[Era]]>) {
      it.scopedLive(`after ${signal} goes on, and ends at the next node, for a client of ${era}`, () =>
        Effect.gen(function*() {
          const [program, file] = [yield* Program.bundled("detached"), yield* Sqlite.file]
          const first = yield* node(program, file)
          const called = yield* post(first.port, era, "tools/call", { name: "report", ...begin })
          const reference = yield* first.started
          assert.strictEqual(reference.taskId, idOf(called))
          yield* first.end(signal)

          let tasks: DetachedTask.DetachedTasks | undefined
          const second = yield* Layer.build(DetachedJobs.layer(file, (made) => tasks = made, () => {}))
          const { port } = Context.get(second, HttpServer.HttpServer)
          const read = post(port, era, "tasks/get", { taskId: reference.taskId })
          assert.strictEqual((yield* read).status, "working")
          const { node: name } = Option.getOrThrow(yield* tasks!.get(reference))
          assert.strictEqual(name, undefined)
          assert.isTrue(yield* tasks!.end(reference, DetachedJobs.Report, Exit.succeed("the report")))
          assert.strictEqual((yield* read).status, "completed")
        }))
    }
  }
})
