import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer, TestClock } from "effect"
import { byHeader } from "../Serving.js"
import {
  accept,
  answer,
  begin,
  error,
  features,
  ID,
  legacy,
  modern,
  onServer,
  reached,
  recording,
  result,
  serving,
  start,
  store,
  unchecked
} from "../Tasking.js"
import * as Modern from "./Modern.js"

const missing = [-32021, { requiredCapabilities: { extensions: { [ID]: {} } } }]

const methods = [["tasks/get", {}], ["tasks/update", { inputResponses: {} }], ["tasks/cancel", {}]] as const

const listening = (peer: TestPeer.TestPeer, taskIds: ReadonlyArray<string>) =>
  Effect.flatMap(
    peer.request("subscriptions/listen", { notifications: { taskIds } }),
    (id) =>
      Effect.map(peer.expectNotification("notifications/subscriptions/acknowledged"), ({ notifications }) => ({
        id,
        accepted: (notifications as JsonObject).taskIds
      }))
  )

describe("The rules of the extension for tasks for a server", () => {
  it.scoped("MUST NOT give a task to a client that has not declared the extension on this request", () =>
    onServer(
      Effect.gen(function*() {
        const declaring = yield* modern()
        yield* begin(declaring, "quick")
        // The next request of the same pipe does not declare it.
        const plain = declaring.modern({ capabilities: { extensions: { "com.example/other": {} } } })
        assert.deepInclude(yield* result(plain, "tools/call", { name: "quick" }), {
          resultType: "complete",
          content: [{ type: "text", text: "done" }]
        })
        const { code, data } = yield* error(plain, "tools/call", { name: "must" })
        assert.deepStrictEqual([code, data], missing)
        assert.strictEqual((yield* begin(declaring, "must")).resultType, "task")
      }),
      serving(
        undefined,
        {},
        {},
        Layer.merge(features, McpServer.tool(Tool.make("must", { task: "required" }), () => Effect.never))
      )
    ))

  it.scoped("MUST have the result type `task` in the answer to the call, and nowhere else", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const { resultType, taskId } = yield* begin(peer, "ask")
      assert.strictEqual(resultType, "task")
      assert.strictEqual((yield* reached(peer, taskId, "input_required")).resultType, "complete")
      for (const [method, params] of methods.slice(1)) {
        assert.deepStrictEqual(yield* result(peer, method, { taskId, ...params }), Modern.stamp)
      }
      assert.strictEqual((yield* result(peer, "tasks/get", { taskId })).resultType, "complete")
    })))

  it.scoped("MUST NOT answer the call before `tasks/get` finds the task", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const open = yield* Deferred.make<void>()
      const slow = yield* store(({ create }) => ({
        create: (task) =>
          Effect.zipRight(Deferred.succeed(asked, undefined), Effect.zipRight(Deferred.await(open), create(task)))
      }))
      yield* onServer(
        Effect.gen(function*() {
          const peer = yield* modern()
          const id = yield* peer.request("tools/call", { name: "wait" })
          yield* Deferred.await(asked)
          yield* peer.expectSilence
          yield* Deferred.succeed(open, undefined)
          const { taskId } = yield* peer.expectResult(id)
          assert.strictEqual((yield* result(peer, "tasks/get", { taskId: taskId! })).status, "working")
        }),
        serving(slow)
      )
    }))

  it.scoped("MUST give all questions that have no answer, under keys that are never used again", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const both = (yield* begin(peer, "both")).taskId
      const first = (yield* reached(peer, both, "input_required")).inputRequests as JsonObject
      const [one, two] = Object.keys(first) as [string, string]
      assert.deepStrictEqual(Object.values(first).map((request: any) => request.params.message), ["One?", "Two?"])
      // Some of the answers, with one to no question.
      yield* result(peer, "tasks/update", {
        taskId: both,
        inputResponses: { [two]: accept, other: { a: 1 }, constructor: 1 }
      })
      assert.deepStrictEqual((yield* result(peer, "tasks/get", { taskId: both })).inputRequests, { [one]: first[one] })
      // The second answer to a question is too late.
      yield* result(peer, "tasks/update", { taskId: both, inputResponses: { [two]: { action: "decline" } } })
      yield* result(peer, "tasks/update", { taskId: both, inputResponses: { [one]: { action: "decline" } } })
      assert.strictEqual(Modern.text((yield* reached(peer, both, "completed")).result as JsonObject), "false true")
      const twice = (yield* begin(peer, "twice")).taskId
      const seen: Array<string> = []
      while (seen.length < 2) {
        const found = yield* result(peer, "tasks/get", { taskId: twice })
        const keys = Object.keys(found.inputRequests ?? {})
        assert.notInclude(seen, keys[0])
        if (keys.length === 0) continue
        seen.push(keys[0]!)
        yield* result(peer, "tasks/update", { taskId: twice, inputResponses: { [keys[0]!]: accept } })
      }
      yield* reached(peer, twice, "completed")
      assert.strictEqual(new Set(seen).size, 2)
    })))

  it.scoped("MUST fail with JSON-RPC errors only, and tell the error; a result with `isError` completes it", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const plain = peer.modern()
      for (const [name, end] of [["quick", "completed"], ["broken", "completed"], ["fail", "failed"]] as const) {
        const direct = yield* answer(plain, "tools/call", { name })
        const { error, result } = yield* reached(peer, (yield* begin(peer, name)).taskId, end)
        assert.deepStrictEqual([error, result], [direct.error, direct.result])
      }
    })))

  it.scoped("moves forward only, and never leaves an end, whatever the client sends then", () =>
    Effect.gen(function*() {
      const { statuses, store } = yield* recording
      yield* onServer(
        Effect.gen(function*() {
          const peer = yield* modern()
          for (
            const [name, end] of [["quick", "completed"], ["fail", "failed"], ["wait", "cancelled"], [
              "ask",
              "cancelled"
            ]]
          ) {
            const { status, taskId } = yield* begin(peer, name!)
            assert.strictEqual(status, "working")
            if (name === "ask") yield* reached(peer, taskId, "input_required")
            if (end === "cancelled") yield* result(peer, "tasks/cancel", { taskId })
            yield* reached(peer, taskId, end!)
            yield* result(peer, "tasks/cancel", { taskId })
            yield* result(peer, "tasks/update", { taskId, inputResponses: { "elicit-1": accept } })
            assert.strictEqual((yield* result(peer, "tasks/get", { taskId })).status, end)
          }
          assert.deepStrictEqual([...statuses.values()], [
            ["working", "completed"],
            ["working", "failed"],
            ["working", "cancelled"],
            ["working", "input_required", "cancelled"]
          ])
        }),
        serving(store)
      )
    }))

  it.scoped("MUST NOT be cancelled with the request that began it, and sends no cancellation", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const id = yield* peer.request("tools/call", { name: "wait" })
      const { taskId } = yield* peer.expectResult(id)
      yield* peer.notify("notifications/cancelled", { requestId: id })
      yield* peer.expectSilence
      assert.strictEqual((yield* result(peer, "tasks/get", { taskId: taskId! })).status, "working")
      yield* listening(peer, [taskId as string])
      yield* result(peer, "tasks/cancel", { taskId: taskId! })
      assert.strictEqual((yield* peer.expectNotification("notifications/tasks")).status, "cancelled")
      yield* peer.expectSilence
    })))

  it.scoped("MUST NOT send progress and log messages of a task", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const loud = Effect.gen(function*() {
        const { log, progress } = yield* ServerSession
        yield* log("error", "loud")
        yield* progress(1)
      })
      const Loud = McpServer.tool(
        Tool.make("loud", { task: "optional" }),
        () => Effect.zipRight(loud, Effect.zipRight(Deferred.await(go), loud))
      )
      yield* onServer(
        Effect.gen(function*() {
          const peer = (yield* modern()).modern({
            capabilities: { extensions: { [ID]: {} } },
            logLevel: "debug",
            progressToken: "p"
          })
          const { taskId } = yield* begin(peer, "loud")
          yield* listening(peer, [taskId])
          yield* Deferred.succeed(go, undefined)
          assert.strictEqual((yield* peer.expectNotification("notifications/tasks")).status, "completed")
          yield* peer.expectSilence
        }),
        serving(undefined, {}, {}, Loud)
      )
    }))

  it.scoped("notifies of each change those that listen to it, with what `tasks/get` gives", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const { taskId } = yield* begin(peer, "ask")
      const other = (yield* begin(peer, "ask")).taskId
      const { inputRequests } = yield* reached(peer, taskId, "input_required")
      const { accepted, id } = yield* listening(peer, [taskId, "0".repeat(32)])
      assert.deepStrictEqual(accepted, [taskId])
      yield* reached(peer, other, "input_required")
      const updating = yield* peer.request("tasks/update", {
        taskId,
        inputResponses: { [Object.keys(inputRequests as {})[0]!]: accept }
      })
      yield* peer.expectResult(updating)
      const seen: Array<JsonObject> = []
      while (seen.at(-1)?.status !== "completed") seen.push(yield* peer.expectNotification("notifications/tasks"))
      const { _meta: __, resultType: _, ...got } = yield* result(peer, "tasks/get", { taskId })
      const { _meta, ...told } = seen.at(-1)!
      assert.deepStrictEqual(told, got)
      assert.deepStrictEqual(_meta, { "io.modelcontextprotocol/subscriptionId": id })
    })))

  it.scoped("MUST refuse a client that has not declared the extension, also to listen", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      const { taskId } = yield* begin(peer, "wait")
      const plain = peer.modern({ capabilities: { elicitation: {} } })
      for (
        const [method, params] of [...methods, ["subscriptions/listen", {
          notifications: { taskIds: [taskId] }
        }]] as const
      ) {
        const { code, data } = yield* error(plain, method, { taskId, ...params })
        assert.deepStrictEqual([code, data], missing)
      }
    })))

  it.scoped("takes the members of rounds in a request about a task for no round, whatever they are", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* unchecked.modern
      const { taskId } = (yield* answer(peer, "tools/call", { name: "wait" })).result
      for (const requestState of [null, 5, {}, [], "", "another server's"]) {
        for (const [method, params] of methods) {
          assert.isDefined((yield* answer(peer, method, { taskId, ...params, requestState })).result, method)
        }
      }
      for (const inputResponses of [null, 5, "text", [1]]) {
        assert.isDefined((yield* answer(peer, "tasks/get", { taskId, inputResponses })).result)
        assert.strictEqual((yield* answer(peer, "tasks/update", { taskId, inputResponses })).error.code, -32602)
      }
    })))

  it.scoped("MUST know a task for its own user only, in every request, under an id that no client can guess", () =>
    onServer(
      Effect.gen(function*() {
        const ada = yield* modern("ada")
        const { taskId } = yield* begin(ada, "wait")
        assert.match(taskId, /^[0-9a-f]{32}$/)
        const old = (yield* start(yield* legacy("ada"), "wait")).taskId
        for (const [peer, id] of [[yield* modern("bob"), taskId], [ada, old], [ada, "unknown"], [ada, ""]] as const) {
          for (const [method, params] of methods) {
            assert.deepStrictEqual(yield* error(peer, method, { taskId: id, ...params }), {
              code: -32602,
              message: "Invalid params: there is no such task, or it has expired"
            })
          }
          assert.deepStrictEqual((yield* listening(peer, [id])).accepted, [])
        }
        const again = yield* modern("ada")
        assert.strictEqual((yield* result(again, "tasks/get", { taskId })).status, "working")
        assert.deepStrictEqual((yield* listening(again, [taskId])).accepted, [taskId])
        assert.deepStrictEqual(yield* result(again, "tasks/cancel", { taskId }), Modern.stamp)
        assert.strictEqual((yield* again.expectNotification("notifications/tasks")).taskId, taskId)
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("SHOULD finish the rounds of a call before it begins a task, with keys that do not meet those of the task", () => {
    const asking = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))
    const Later = McpServer.tool(
      Tool.make("later", { task: "optional" }),
      () =>
        Effect.zipRight(
          asking,
          Effect.zipRight(Effect.flatMap(ServerSession, ({ startTask }) => startTask), Effect.as(asking, "ok"))
        ),
      { startsTask: true }
    )
    return onServer(
      Effect.gen(function*() {
        const peer = yield* modern()
        const round: any = yield* result(peer, "tools/call", { name: "later" })
        assert.strictEqual(round.resultType, "input_required")
        const [key] = Object.keys(round.inputRequests)
        const { taskId } = yield* result(peer, "tools/call", {
          name: "later",
          inputResponses: { [key!]: accept },
          requestState: round.requestState
        })
        const { inputRequests } = yield* reached(peer, taskId as string, "input_required")
        const [inTask] = Object.keys(inputRequests as {})
        yield* result(peer, "tasks/update", { taskId: taskId!, inputResponses: { [inTask!]: accept } })
        yield* reached(peer, taskId as string, "completed")
      }),
      serving(undefined, {}, {}, Later as never)
    )
  })

  it.scoped("MUST NOT have what 2025-11-25 has: the capability, `tasks/result|list`, the member `task`", () =>
    onServer(
      Effect.gen(function*() {
        const peer = yield* modern("ada")
        const { capabilities } = yield* result(peer, "server/discover")
        assert.notProperty(capabilities, "tasks")
        for (const method of ["tasks/result", "tasks/list"]) {
          assert.strictEqual((yield* error(peer, method, { taskId: "x" })).code, -32601)
        }
        const plain = peer.modern()
        assert.strictEqual((yield* result(plain, "tools/call", { name: "quick", task: {} })).resultType, "complete")
        assert.strictEqual((yield* result(peer, "tools/call", { name: "plain", task: {} })).resultType, "complete")
        const { tools } = yield* result(peer, "tools/list")
        assert.isTrue((tools as ReadonlyArray<JsonObject>).every((tool) => !("execution" in tool)))
      }),
      serving(undefined, {}, byHeader)
    ))

  it.scoped("MUST NOT answer anything but a call with a task", () =>
    onServer(Effect.gen(function*() {
      const peer = yield* modern()
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* result(peer, "prompts/get", { name: "hello", task: {} })).resultType, "complete")
    })))
})
