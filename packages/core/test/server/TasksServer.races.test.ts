import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { preempted } from "../../../testing/test/support/Preempted.js"
import { logbook } from "./Serving.js"
import { accept, answer, onServer, question, serving, store, unchecked } from "./Tasking.js"

const RUNS = process.env.EFFECT_MCP_TEST_LONG === undefined ? 20 : 1000

const limit = 600_000

const ends = ["completed", "failed", "cancelled"]

/** A tool that ends when the test lets it, and counts the questions that it has asked. */
const gated = Effect.gen(function*() {
  const go = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<void>()
  const ask = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
  const tools = Layer.mergeAll(
    McpServer.tool(
      Tool.make("gate", { task: "optional" }),
      () => Effect.ensuring(Effect.as(Deferred.await(go), "done"), Deferred.succeed(ended, undefined))
    ),
    McpServer.tool(
      Tool.make("ask", { task: "optional" }),
      () => Effect.ensuring(Effect.map(ask, ({ sure }) => sure ? "yes" : "no"), Deferred.succeed(ended, undefined))
    )
  )
  return { go: Deferred.succeed(go, undefined), ended: Deferred.await(ended), tools: tools as never }
})

/** The task in the store when it has ended. */
const end = ({ changes }: TaskStore.TaskStoreService, taskId: string): Effect.Effect<TaskStore.StoredTask> =>
  Effect.orDie(
    Effect.flatten(Stream.runHead(Stream.filter(changes(null, taskId), ({ status }) => ends.includes(status))))
  )

const asked = ({ changes }: TaskStore.TaskStoreService, taskId: string) =>
  Effect.orDie(Stream.runHead(Stream.filter(changes(null, taskId), ({ status }) => status === "input_required")))

const taskIdOf = (message: any): string => (message.result.task ?? message.result).taskId

const text = (result: any) => result.content[0].text

const eras = [["legacy", { task: {} }], ["modern", {}]] as const

describe("A task, in every order of its steps,", () => {
  for (const [era, more] of eras) {
    it.scopedLive(`that is cancelled while it completes has one end, which all learn (${era})`, () =>
      preempted(
        Effect.gen(function*() {
          const { ended, go, tools } = yield* gated
          const tasks = yield* store()
          yield* onServer(
            Effect.gen(function*() {
              const peer = yield* unchecked[era]
              const taskId = taskIdOf(yield* answer(peer, "tools/call", { name: "gate", ...more }))
              const going = yield* Effect.fork(go)
              const cancelled = yield* answer(peer, "tasks/cancel", { taskId })
              yield* Fiber.join(going)
              yield* ended
              const { status } = yield* end(tasks, taskId)
              const got = (yield* answer(peer, "tasks/get", { taskId })).result
              assert.strictEqual(got.status, status)
              assert.include(["completed", "cancelled"], status)
              if (era === "legacy") {
                assert.strictEqual(
                  cancelled.error?.code ?? cancelled.result.status,
                  status === "completed" ? -32602 : status
                )
                const read = yield* answer(peer, "tasks/result", { taskId })
                assert.strictEqual("result" in read, status === "completed")
              } else {
                assert.strictEqual(cancelled.result.resultType, "complete")
                assert.strictEqual("result" in got, status === "completed")
              }
              yield* peer.hangUp
            }),
            serving(tasks, {}, {}, tools)
          )
        }),
        { runs: RUNS }
      ), limit)

    it.scopedLive(`that is answered while it is cancelled ends once, and its handler too (${era})`, () =>
      preempted(
        Effect.gen(function*() {
          const { ended, tools } = yield* gated
          const { layer, lines } = logbook()
          const tasks = yield* store()
          yield* onServer(
            Effect.gen(function*() {
              const peer = yield* unchecked[era]
              const taskId = taskIdOf(yield* answer(peer, "tools/call", { name: "ask", ...more }))
              yield* asked(tasks, taskId)
              if (era === "legacy") {
                yield* peer.request("tasks/result", { taskId })
                const { id } = yield* question(peer)
                yield* peer.send({ jsonrpc: "2.0", id, result: accept } as never)
              } else yield* peer.request("tasks/update", { taskId, inputResponses: { "elicit-1": accept } })
              yield* peer.request("tasks/cancel", { taskId })
              yield* ended
              const { questions, status } = yield* end(tasks, taskId)
              assert.include(["completed", "cancelled"], status)
              assert.deepStrictEqual(questions, {})
              yield* peer.hangUp
            }),
            serving(tasks, {}, {}, tools)
          ).pipe(Effect.provide(layer))
          // The client has ended it: nothing died.
          assert.deepStrictEqual(lines.filter(({ level }) => level === "Error"), [])
        }),
        { runs: RUNS }
      ), limit)

    it.scopedLive(
      `goes on when its client disconnects at any step, and the next client has what it was sent (${era})`,
      () =>
        preempted(
          Effect.gen(function*() {
            const { go, tools } = yield* gated
            const tasks = yield* store()
            yield* onServer(
              Effect.gen(function*() {
                const peer = yield* unchecked[era]
                const calling = yield* Effect.fork(answer(peer, "tools/call", { name: "gate", ...more }))
                yield* Effect.repeatN(Effect.yieldNow(), 4)
                yield* peer.hangUp
                const call = yield* Fiber.await(calling)
                const next = yield* unchecked[era]
                if (Exit.isSuccess(call)) {
                  const taskId = taskIdOf(call.value)
                  assert.strictEqual((yield* answer(next, "tasks/get", { taskId })).result.status, "working")
                  yield* go
                  assert.strictEqual((yield* end(tasks, taskId)).status, "completed")
                }
                // A task that no client knows does not block the next one for longer than it runs.
                yield* go
                yield* Effect.iterate(false, {
                  while: (isBegun) => !isBegun,
                  body: () =>
                    Effect.map(answer(next, "tools/call", { name: "gate", ...more }), (found) => "result" in found)
                })
                yield* next.hangUp
              }),
              serving(tasks, { limits: { maxRunning: 1 } }, {}, tools)
            )
          }),
          { runs: RUNS }
        ),
      limit
    )

    it.scopedLive(
      `asks the next session of its client when the one before disconnects in the middle of a question (${era})`,
      () =>
        preempted(
          Effect.gen(function*() {
            const { tools } = yield* gated
            const tasks = yield* store()
            yield* onServer(
              Effect.gen(function*() {
                const before = yield* unchecked[era]
                const taskId = taskIdOf(yield* answer(before, "tools/call", { name: "ask", ...more }))
                if (era === "legacy") yield* before.request("tasks/result", { taskId })
                else yield* before.request("tasks/get", { taskId })
                yield* Effect.repeatN(Effect.yieldNow(), 3)
                yield* before.hangUp
                const after = yield* unchecked[era]
                yield* asked(tasks, taskId)
                if (era === "legacy") {
                  yield* after.request("tasks/result", { taskId })
                  yield* after.send({ jsonrpc: "2.0", id: (yield* question(after)).id, result: accept } as never)
                } else {
                  const { inputRequests } = (yield* answer(after, "tasks/get", { taskId })).result
                  yield* after.request("tasks/update", {
                    taskId,
                    inputResponses: { [Object.keys(inputRequests)[0]!]: accept }
                  })
                }
                const { outcome } = yield* end(tasks, taskId)
                assert.strictEqual(text((outcome as { result: JsonObject }).result), "yes")
                yield* after.hangUp
              }),
              serving(tasks, {}, {}, tools)
            )
          }),
          { runs: RUNS }
        ),
      limit
    )

    it.scopedLive(`has ended when the server has shut down, wherever it was (${era})`, () =>
      preempted(
        Effect.gen(function*() {
          const { tools } = yield* gated
          const tasks = yield* store()
          const scope = yield* Scope.make()
          const context = yield* Layer.buildWithScope(serving(tasks, {}, {}, tools), scope)
          yield* Effect.gen(function*() {
            const peer = yield* unchecked[era]
            for (const name of ["gate", "ask", "gate"]) yield* peer.request("tools/call", { name, ...more })
            yield* Effect.repeatN(Effect.yieldNow(), 4)
            yield* Scope.close(scope, Exit.void)
            yield* peer.hangUp
          }).pipe(Effect.exit, Effect.scoped, Effect.provide(context))
          for (const { status, statusMessage } of (yield* tasks.list(null, { limit: 10 })).tasks) {
            const isUnknown = statusMessage === "The call was interrupted before its client knew of the task"
            assert.strictEqual(status, isUnknown ? "cancelled" : "failed")
          }
        }),
        { runs: RUNS }
      ), limit)

    it.scopedLive(
      `ends also when the store fails at any of its steps, for its client too (${era})`,
      () =>
        Effect.gen(function*() {
          const lost = new TaskStore.TaskStoreError({ reason: "Unavailable", message: "The store does not answer" })
          for (let at = 0, hasFailed = true; hasFailed; at++) {
            let calls = 0
            hasFailed = false
            const { ended, tools } = yield* gated
            const failing = <A>(effect: Effect.Effect<A, TaskStore.TaskStoreError>) =>
              Effect.suspend(() => {
                if (calls++ !== at) return Effect.zipRight(Effect.yieldNow(), effect)
                hasFailed = true
                return lost
              })
            const memory = yield* TaskStore.memory()
            const tasks = yield* store(() => ({
              create: (task) => failing(memory.create(task)),
              get: (owner, taskId) => failing(memory.get(owner, taskId)),
              replace: (task) => failing(memory.replace(task)),
              changes: (owner, taskId) => Stream.unwrap(Effect.as(failing(Effect.void), memory.changes(owner, taskId)))
            }))
            yield* onServer(
              Effect.gen(function*() {
                const peer = yield* unchecked[era]
                const created = yield* answer(peer, "tools/call", { name: "ask", ...more })
                if ("error" in created) {
                  assert.deepStrictEqual(created.error, {
                    code: -32603,
                    message: "The store of tasks cannot be reached at the moment; try again"
                  })
                  yield* peer.hangUp
                  return
                }
                const taskId = taskIdOf(created)
                const isOver = Effect.map(
                  Effect.orDie(memory.get(null, taskId)),
                  (found) => found._tag === "None" || ends.includes(found.value.status)
                )
                // The client answers what it is asked, and repeats what failed, at a pace that lets timers run.
                const turn = era === "legacy"
                  ? Effect.gen(function*() {
                    const id = yield* peer.request("tasks/result", { taskId })
                    for (let open = true; open;) {
                      const message: any = yield* peer.next
                      if (message.method === "elicitation/create") {
                        yield* peer.send({ jsonrpc: "2.0", id: message.id, result: accept } as never)
                      }
                      open = message.id !== id || "method" in message
                    }
                  })
                  : Effect.gen(function*() {
                    const { result } = yield* answer(peer, "tasks/get", { taskId })
                    const [key] = Object.keys(result?.inputRequests ?? {})
                    if (key !== undefined) {
                      yield* answer(peer, "tasks/update", { taskId, inputResponses: { [key]: accept } })
                    }
                  })
                yield* Effect.iterate(false, {
                  while: (over) => !over,
                  body: () => Effect.zipRight(Effect.delay(turn, 1), isOver)
                })
                yield* ended
                yield* peer.hangUp
              }),
              serving(tasks, {}, {}, tools)
            )
          }
        }),
      limit
    )
  }

  it.scopedLive("gives all who wait for its result the same, or tells all that it has expired", () =>
    preempted(
      Effect.gen(function*() {
        const { go, tools } = yield* gated
        const tasks = yield* store()
        yield* onServer(
          Effect.gen(function*() {
            const peers = yield* Effect.all([unchecked.legacy, unchecked.legacy])
            const taskId = taskIdOf(yield* answer(peers[0], "tools/call", { name: "gate", task: { ttl: 15 } }))
            const reading = yield* Effect.forkAll(peers.map((peer) => answer(peer, "tasks/result", { taskId })))
            yield* Effect.sleep(14)
            yield* go
            for (const { error, result } of yield* Fiber.join(reading)) {
              if (error === undefined) assert.strictEqual(text(result), "done")
              else assert.strictEqual(error.code, -32602)
            }
          }),
          serving(tasks, {}, {}, tools)
        )
      }),
      { runs: RUNS }
    ), limit)

  it.scopedLive("takes one answer of two clients that answer the same question", () =>
    preempted(
      Effect.gen(function*() {
        const { tools } = yield* gated
        const tasks = yield* store()
        yield* onServer(
          Effect.gen(function*() {
            const one = yield* unchecked.modern
            const two = yield* unchecked.modern
            const taskId = taskIdOf(yield* answer(one, "tools/call", { name: "ask" }))
            yield* asked(tasks, taskId)
            const answering = yield* Effect.forkAll(
              ([[one, accept], [two, { action: "decline" }]] as const).map(([peer, response]) =>
                answer(peer, "tasks/update", { taskId, inputResponses: { "elicit-1": response } })
              )
            )
            for (const { result } of yield* Fiber.join(answering)) assert.strictEqual(result.resultType, "complete")
            const { outcome, version } = yield* end(tasks, taskId)
            assert.include(["yes", "no"], text((outcome as { result: JsonObject }).result))
            // Created, asked, answered once, taken, ended.
            assert.strictEqual(version, 5)
          }),
          serving(tasks, {}, {}, tools)
        )
      }),
      { runs: RUNS }
    ), limit)
})
