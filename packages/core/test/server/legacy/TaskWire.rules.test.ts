import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, type Layer, Stream, TestClock } from "effect"
import { byHeader, connect, serve } from "../Serving.js"
import {
  accept,
  answer,
  begin,
  error,
  features,
  legacy,
  modern,
  onServer,
  question,
  reached,
  recording,
  result,
  serving,
  start,
  store,
  until
} from "../Tasking.js"

const KEY = "io.modelcontextprotocol/related-task"

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const text = (found: JsonObject) => (found.content as ReadonlyArray<JsonObject> | undefined)?.[0]?.text

const isWorking = ({ method, params }: any) => method === "notifications/tasks/status" && params.status === "working"

describe("The rules of tasks of 2025-11-25 for a server", () => {
  it.scoped("MUST ignore `task` where it has not declared it: other methods, earlier revisions, no tasks", () =>
    Effect.gen(function*() {
      yield* onServer(Effect.gen(function*() {
        const peer = yield* legacy()
        assert.property(yield* result(peer, "prompts/get", { name: "hello", task: { ttl: 1000 } }), "messages")
        const earlier = yield* connect("2025-06-18")
        assert.strictEqual(text(yield* result(earlier, "tools/call", { name: "quick", task: {} })), "done")
        assert.strictEqual((yield* error(earlier, "tasks/get", { taskId: "x" })).code, -32601)
      }))
      yield* onServer(
        Effect.gen(function*() {
          const { capabilities } = yield* (yield* TestPeer.client()).initialize({ version: "2025-11-25" })
          assert.notProperty(capabilities, "tasks")
          const peer = yield* legacy()
          assert.strictEqual(text(yield* result(peer, "tools/call", { name: "quick", task: {} })), "done")
          for (const method of ["get", "result", "cancel", "list"]) {
            assert.strictEqual((yield* error(peer, `tasks/${method}`, { taskId: "x" })).code, -32601)
          }
        }),
        serve(features as Layer.Layer<never>)
      )
    }))

  it.scoped("MUST NOT run a task of the extension for a client of this revision, whatever it declares", () =>
    onServer(Effect.gen(function*() {
      const extensions = { "io.modelcontextprotocol/tasks": {} }
      const peer = yield* TestPeer.client()
      const { capabilities } = yield* peer.initialize({ version: "2025-11-25", capabilities: { extensions } })
      assert.notDeepNestedInclude(capabilities, { "extensions.io\\.modelcontextprotocol/tasks": {} })
      assert.strictEqual(text(yield* result(peer, "tools/call", { name: "quick" })), "done")
      const { taskId } = yield* start(peer, "wait")
      assert.strictEqual((yield* error(peer, "tasks/update", { taskId, inputResponses: {} })).code, -32601)
    })))

  it.scoped("MUST give each task an id of its own, which no client can guess", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      const ids = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => Effect.map(start(peer, "wait"), ({ taskId }) => taskId)
      )
      assert.strictEqual(new Set(ids).size, 50)
      for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/)
    })))

  it.scoped("SHOULD NOT declare the list of tasks to a client without a user, and declares it to a user", () =>
    onServer(
      Effect.gen(function*() {
        for (const headers of [{}, { authorization: "ada" }]) {
          const isUser = "authorization" in headers
          const peer = yield* TestPeer.client({ as: Authenticator.http({ headers }) })
          const { capabilities } = yield* peer.initialize({ version: "2025-11-25" })
          assert.deepStrictEqual((capabilities as JsonObject).tasks, {
            ...(isUser ? { list: {} } : undefined),
            cancel: {},
            requests: { tools: { call: {} } }
          })
          const list = yield* answer(peer, "tasks/list")
          assert.strictEqual(list.error?.code, isUser ? undefined : -32601)
        }
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("MUST begin with `working`, move forward only, and never leave an end", () =>
    Effect.gen(function*() {
      const { statuses, store } = yield* recording
      yield* onServer(
        Effect.gen(function*() {
          const peer = yield* legacy()
          const ends: Record<string, string> = {}
          for (const [name, end] of [["quick", "completed"], ["fail", "failed"], ["broken", "failed"]] as const) {
            const { status, taskId } = yield* start(peer, name)
            assert.strictEqual(status, "working")
            yield* reached(peer, taskId, end)
            ends[taskId] = end
          }
          const asked = yield* start(peer, "ask")
          yield* reached(peer, asked.taskId, "input_required")
          const reading = yield* peer.request("tasks/result", { taskId: asked.taskId })
          yield* Effect.iterate({} as any, {
            while: ({ method }) => method !== "elicitation/create",
            body: () =>
              Effect.tap(peer.next, (message: any) =>
                message.method === "elicitation/create"
                  ? peer.send({ jsonrpc: "2.0", id: message.id, result: accept })
                  : Effect.void)
          })
          yield* until(peer, reading)
          ends[asked.taskId] = "completed"
          for (const name of ["wait", "ask"]) {
            const { taskId } = yield* start(peer, name)
            yield* reached(peer, taskId, name === "ask" ? "input_required" : "working")
            assert.strictEqual((yield* result(peer, "tasks/cancel", { taskId })).status, "cancelled")
            ends[taskId] = "cancelled"
          }
          for (const [taskId, end] of Object.entries(ends)) {
            assert.strictEqual((yield* error(peer, "tasks/cancel", { taskId })).code, -32602)
            assert.strictEqual((yield* result(peer, "tasks/get", { taskId })).status, end)
          }
          const begins = { completed: "working", failed: "working", cancelled: "working" } as const
          for (const [taskId, end] of Object.entries(ends) as ReadonlyArray<[string, keyof typeof begins]>) {
            assert.strictEqual(statuses.get(taskId)?.[0], begins[end])
          }
          assert.deepStrictEqual(
            [...statuses.values()].map((one) => one.filter((status, i) => status !== one[i - 1])),
            [
              ["working", "completed"],
              ["working", "failed"],
              ["working", "failed"],
              ["working", "input_required", "working", "completed"],
              ["working", "cancelled"],
              ["working", "input_required", "cancelled"]
            ]
          )
        }),
        serving(store)
      )
    }))

  it.scoped("MUST say when each task was created and changed, and how long it is kept", () =>
    onServer(
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2025, 10, 25))
        const peer = yield* legacy("ada")
        const created = yield* start(peer, "wait", { ttl: 5000 })
        const { taskId } = created
        yield* TestClock.adjust("1 second")
        const got = yield* result(peer, "tasks/get", { taskId })
        const [listed] = (yield* result(peer, "tasks/list")).tasks as ReadonlyArray<JsonObject>
        const cancelling = yield* peer.request("tasks/cancel", { taskId })
        const messages = yield* Effect.all([peer.next, peer.next]) as Effect.Effect<ReadonlyArray<any>>
        const cancelled = messages.find(({ id }) => id === cancelling).result
        const notified = messages.find(({ method }) => method === "notifications/tasks/status").params
        for (const task of [created, got, listed!, cancelled, notified]) {
          assert.strictEqual(task.ttl, 5000)
          assert.match(String(task.createdAt), ISO)
          assert.match(String(task.lastUpdatedAt), ISO)
          assert.strictEqual(task.createdAt, "2025-11-25T00:00:00.000Z")
        }
        assert.deepStrictEqual([got.lastUpdatedAt, cancelled.lastUpdatedAt, notified.lastUpdatedAt], [
          "2025-11-25T00:00:00.000Z",
          "2025-11-25T00:00:01.000Z",
          "2025-11-25T00:00:01.000Z"
        ])
        for (const [ttl, kept] of [[0, 1], [-5, 1], [9e15, 86_400_000]] as const) {
          assert.strictEqual((yield* start(peer, "quick", { ttl })).ttl, kept)
        }
        for (const ttl of ["abc", 1.5]) {
          assert.strictEqual((yield* error(peer, "tools/call", { name: "wait", task: { ttl } })).code, -32602)
        }
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("MUST answer `tasks/result` as the call would have been answered, also with its error", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      for (const [name, end] of [["quick", "completed"], ["fail", "failed"], ["broken", "failed"]] as const) {
        const direct = yield* answer(peer, "tools/call", { name })
        const { taskId } = yield* start(peer, name)
        yield* reached(peer, taskId, end)
        const read = yield* answer(peer, "tasks/result", { taskId })
        assert.deepStrictEqual(read.error, direct.error)
        if (direct.error === undefined) {
          assert.deepStrictEqual(read.result, { ...direct.result, _meta: { [KEY]: { taskId } } })
        }
      }
    })))

  it.scoped("MUST NOT answer `tasks/result` before the task has ended", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      const { taskId } = yield* start(peer, "ask")
      yield* reached(peer, taskId, "input_required")
      const reading = yield* peer.request("tasks/result", { taskId })
      const { id } = yield* question(peer)
      yield* TestClock.adjust("30 minutes")
      yield* peer.expectSilence
      yield* peer.send({ jsonrpc: "2.0", id, result: accept })
      const messages = yield* until(peer, reading)
      assert.strictEqual(text(messages.at(-1).result), "yes")
      assert.isTrue(messages.slice(0, -1).every(({ method }) => method === "notifications/tasks/status"))
    })))

  it.scoped("SHOULD NOT mark `tasks/get|list|cancel` and the status with the task that they name anyway", () =>
    onServer(
      Effect.gen(function*() {
        const peer = yield* legacy("ada")
        const { taskId } = yield* start(peer, "wait")
        assert.notProperty(yield* result(peer, "tasks/get", { taskId }), "_meta")
        const { tasks, ...listed } = yield* result(peer, "tasks/list")
        assert.notProperty(listed, "_meta")
        assert.notProperty((tasks as ReadonlyArray<JsonObject>)[0], "_meta")
        const cancelling = yield* peer.request("tasks/cancel", { taskId })
        for (const message of (yield* Effect.all([peer.next, peer.next])) as ReadonlyArray<any>) {
          assert.notProperty(message.id === cancelling ? message.result : message.params, "_meta")
        }
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("MUST prefer `taskId` to the task that `_meta` names", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      const { taskId } = yield* start(peer, "quick")
      const other = yield* start(peer, "wait")
      const _meta = { [KEY]: { taskId: other.taskId } }
      yield* reached(peer, taskId, "completed")
      assert.strictEqual((yield* result(peer, "tasks/get", { taskId, _meta })).taskId, taskId)
      assert.deepStrictEqual((yield* result(peer, "tasks/result", { taskId, _meta }))._meta, { [KEY]: { taskId } })
      assert.strictEqual((yield* error(peer, "tasks/cancel", { taskId, _meta })).code, -32602)
      assert.strictEqual((yield* result(peer, "tasks/get", { taskId: other.taskId })).status, "working")
    })))

  it.scoped("MAY notify of each status, which polling shows as well; the last one always", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      const { taskId } = yield* start(peer, "ask")
      const asked = yield* peer.expectNotification("notifications/tasks/status")
      assert.deepStrictEqual(asked, yield* result(peer, "tasks/get", { taskId }))
      const reading = yield* peer.request("tasks/result", { taskId })
      const { id } = yield* question(peer)
      yield* peer.send({ jsonrpc: "2.0", id, result: accept })
      const messages = yield* until(peer, reading)
      const rest = messages.some((message) => message.params?.status === "completed") ? messages : [
        ...messages,
        yield* peer.next
      ]
      const statuses = rest.filter(({ method }) => method === "notifications/tasks/status").map(({ params }) => params)
      assert.isTrue(statuses.every((task) => task.taskId === taskId && task.pollInterval === 1000))
      assert.deepStrictEqual(statuses.at(-1), yield* result(peer, "tasks/get", { taskId }))
      assert.strictEqual(statuses.at(-1)?.status, "completed")
      assert.isAtMost(rest.filter(isWorking).length, 1)
    })))

  it.scoped("MUST answer an unknown cursor with -32602, and a store that fails with -32603", () =>
    Effect.gen(function*() {
      const lost = new TaskStore.TaskStoreError({ reason: "Unavailable", message: "The store does not answer" })
      const failing = yield* store(() => ({ get: () => lost, list: () => lost, changes: () => Stream.fail(lost) }))
      yield* onServer(
        Effect.gen(function*() {
          const peer = yield* legacy("ada")
          const invalid = yield* error(peer, "tasks/list", { cursor: "unknown" })
          assert.deepStrictEqual([invalid.code, invalid.message], [
            -32602,
            "Invalid params: the cursor does not belong to this list"
          ])
        }),
        serving(undefined, {}, byHeader)
      )
      yield* onServer(
        Effect.gen(function*() {
          const peer = yield* legacy("ada")
          for (const method of ["get", "result", "cancel", "list"]) {
            const { code, message } = yield* error(peer, `tasks/${method}`, { taskId: "x" })
            assert.deepStrictEqual([code, message], [
              -32603,
              "The store of tasks cannot be reached at the moment; try again"
            ])
          }
        }),
        serving(failing, {}, byHeader)
      )
    }))

  it.scoped("MUST list what can be read, page by page", () =>
    onServer(
      Effect.gen(function*() {
        const peer = yield* legacy("ada")
        const ids = yield* Effect.forEach(
          Array.from({ length: 7 }),
          () => Effect.map(start(peer, "quick"), ({ taskId }) => taskId)
        )
        const listed: Array<unknown> = []
        let cursor: unknown
        let pages = 0
        do {
          const page: JsonObject = yield* result(peer, "tasks/list", cursor === undefined ? {} : { cursor })
          for (const { taskId } of page.tasks as ReadonlyArray<JsonObject>) listed.push(taskId)
          cursor = page.nextCursor
          pages++
        } while (cursor !== undefined)
        assert.deepStrictEqual([listed, pages], [ids, 3])
      }),
      serving(undefined, {}, { ...byHeader, limits: { pageSize: 3 } })
    ))

  it.scoped("MUST NOT list the tasks of 2026-07-28, which no client of this revision can read", () =>
    onServer(
      Effect.gen(function*() {
        const [old, young] = [yield* legacy("ada"), yield* modern("ada")]
        const ids: Array<unknown> = []
        for (let n = 0; n < 3; n++) {
          yield* begin(young, "wait")
          ids.push((yield* start(old, "wait")).taskId)
        }
        const first: JsonObject = yield* result(old, "tasks/list")
        const rest: JsonObject = yield* result(old, "tasks/list", { cursor: first.nextCursor })
        const listed = [first, rest].flatMap(({ tasks }) => tasks as ReadonlyArray<JsonObject>)
        assert.deepStrictEqual(listed.map(({ taskId }) => taskId), ids)
        assert.isUndefined(rest.nextCursor)
      }),
      serving(undefined, {}, { ...byHeader, limits: { pageSize: 4 } })
    ))

  it.scoped("MUST keep the tasks of a user from all others, in every request", () =>
    onServer(
      Effect.gen(function*() {
        const ada = yield* legacy("ada")
        const { taskId } = yield* start(ada, "wait")
        assert.nestedPropertyVal(yield* result(ada, "tasks/list"), "tasks.length", 1)
        for (const other of [yield* legacy("bob"), yield* modern("bob"), yield* modern("ada")]) {
          for (const method of ["tasks/get", "tasks/cancel"]) {
            const foreign = yield* error(other, method, { taskId })
            const unknown = yield* error(other, method, { taskId: "0".repeat(32) })
            assert.deepStrictEqual(foreign, unknown)
            assert.strictEqual(foreign.code, -32602)
          }
        }
        const bob = yield* legacy("bob")
        assert.strictEqual((yield* error(bob, "tasks/result", { taskId })).code, -32602)
        assert.deepStrictEqual((yield* result(bob, "tasks/list")).tasks, [])
        assert.strictEqual((yield* result(yield* legacy("ada"), "tasks/get", { taskId })).status, "working")
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("does not cancel a task with the request that began it, nor with one that reads its result", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* legacy()
      const id = yield* peer.request("tools/call", { name: "wait", task: {} })
      const { taskId } = (yield* peer.expectResult(id)).task as JsonObject
      yield* peer.notify("notifications/cancelled", { requestId: id })
      const reading = yield* peer.request("tasks/result", { taskId })
      yield* peer.notify("notifications/cancelled", { requestId: reading })
      yield* peer.expectSilence
      assert.strictEqual((yield* result(peer, "tasks/get", { taskId })).status, "working")
    })))
})
