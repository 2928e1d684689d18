/**
 * Tasks over real sockets in all shells, with and without sessions, and over the streams of a process.
 */
import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, Layer } from "effect"
import { PassThrough } from "node:stream"
import { ask, info, listen, open, until } from "./HttpFixture.js"
import { shells } from "./Shells.js"

const capabilities = { extensions: { [TasksServer.extension.id]: {} } }

const modern = (method: string, params: JsonObject = {}) =>
  Message.request(1, method, { ...params, _meta: TestPeer.requestMeta({ capabilities }) })

const headers = (method: string, name?: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? undefined : { "mcp-name": name })
})

const server = (go: Deferred.Deferred<void>) =>
  McpServer.layer(
    info,
    Layer.merge(
      McpServer.tool(Tool.make("report", { task: "optional" }), () => Effect.as(Deferred.await(go), "the report")),
      TasksServer.layer
    ),
    { extensions: [TasksServer.extension] }
  ).pipe(Layer.provide(TaskStore.layerMemory))

const methods = [["tasks/get", {}], ["tasks/update", { inputResponses: {} }], ["tasks/cancel", {}]] as const

for (const [shell, start] of Object.entries(shells)) {
  const serve = (options: HttpOptions = {}) =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const running = yield* Layer.build(server(go))
      const port = yield* Effect.provide(start({ path: "/mcp", ...options }), running)
      return { url: `http://127.0.0.1:${port}/mcp`, go: Deferred.succeed(go, undefined) }
    })

  const begin = (url: string) =>
    Effect.map(
      ask(url, modern("tools/call", { name: "report" }), headers("tools/call", "report")),
      ({ json }) => json.result.taskId as string
    )

  const reached = (url: string, taskId: string, status: string): Effect.Effect<any, Error> =>
    Effect.flatMap(
      ask(url, modern("tasks/get", { taskId }), headers("tasks/get", taskId)),
      ({ json }) => json.result.status === status ? Effect.succeed(json.result) : reached(url, taskId, status)
    )

  describe(`A task behind ${shell}`, () => {
    it.scopedLive("MUST be named by the header Mcp-Name, in every request about it", () =>
      Effect.gen(function*() {
        const { url } = yield* serve()
        const taskId = yield* begin(url)
        for (const [method, params] of methods) {
          const body = modern(method, { taskId, ...params })
          for (
            const wrong of [headers(method), headers(method, "other"), headers("tools/list", taskId), {
              ...headers(method, taskId),
              "mcp-name": [taskId, taskId]
            }]
          ) {
            const { json, status } = yield* ask(url, body, wrong)
            assert.deepStrictEqual([status, json.error.code, json.id], [400, -32020, 1], JSON.stringify(wrong))
          }
          assert.strictEqual((yield* ask(url, body, headers(method, taskId))).status, 200)
        }
        const unknown = yield* ask(url, modern("tasks/get", { taskId: "x" }), headers("tasks/get", "x"))
        assert.strictEqual(unknown.json.error.code, -32602)
        const undeclared = Message.request(1, "tasks/get", { taskId, _meta: TestPeer.requestMeta() })
        const refused = yield* ask(url, undeclared, headers("tasks/get", taskId))
        assert.deepStrictEqual([refused.status, refused.json.error.code], [400, -32021])
      }))

    it.scopedLive("goes on without a connection of its client, and is told to a client that listens to it later", () =>
      Effect.gen(function*() {
        const { go, url } = yield* serve()
        const taskId = yield* begin(url)
        const listening = yield* listen(
          url,
          headers("subscriptions/listen"),
          modern("subscriptions/listen", { notifications: { taskIds: [taskId, "unknown"] } })
        )
        yield* until(() => listening.messages().length === 1)
        assert.deepStrictEqual(listening.messages()[0].params.notifications, { taskIds: [taskId] })
        yield* go
        yield* until(() => listening.messages().length === 2)
        const { method, params } = listening.messages()[1]
        assert.deepStrictEqual([method, params.taskId, params.status, params.result.content[0].text], [
          "notifications/tasks",
          taskId,
          "completed",
          "the report"
        ])
        assert.strictEqual((yield* reached(url, taskId, "completed")).result.content[0].text, "the report")
      }))

    for (const sessions of [true, false]) {
      it.scopedLive(`of 2025-11-25 can be collected by the next client ${sessions ? "in another session" : "without sessions"}`, () =>
        Effect.gen(function*() {
          const { go, url } = yield* serve({ legacy: { sessions } })
          const client = sessions ? open(url) : Effect.succeed({})
          const version = { "mcp-protocol-version": "2025-11-25" }
          const first = { ...(yield* client), ...version }
          const created = yield* ask(url, Message.request(1, "tools/call", { name: "report", task: {} }), first)
          const { taskId } = created.json.result.task
          const second = { ...(yield* client), ...version }
          const reading = yield* Effect.fork(ask(url, Message.request(2, "tasks/result", { taskId }), second))
          const got = yield* ask(url, Message.request(3, "tasks/get", { taskId }), second)
          assert.strictEqual(got.json.result.status, "working")
          yield* go
          const { text } = yield* reading
          assert.include(text, "the report")
          assert.include(text, "io.modelcontextprotocol/related-task")
        }))
    }
  })
}

describe("A task over the streams of a process", () => {
  it.scopedLive("is told to the client that listens to it, with other requests on the same pipe", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const { accept } = yield* Dispatcher
        const [input, output] = [new PassThrough(), new PassThrough()]
        yield* Effect.forkScoped(accept(yield* StdioServer.transport({ input, output })))
        const peer = (yield* TestPeer.make(yield* StdioServer.transport({ input: output, output: input }))).modern({
          capabilities
        })
        const { taskId } = yield* peer.expectResult(yield* peer.request("tools/call", { name: "report" }))
        const id = yield* peer.request("subscriptions/listen", { notifications: { taskIds: [taskId] } })
        const acknowledged = yield* peer.expectNotification("notifications/subscriptions/acknowledged")
        assert.deepStrictEqual(acknowledged.notifications, { taskIds: [taskId] })
        yield* peer.expectSilence
        yield* Deferred.succeed(go, undefined)
        const { _meta, status } = yield* peer.expectNotification("notifications/tasks")
        assert.deepStrictEqual([status, _meta], ["completed", { "io.modelcontextprotocol/subscriptionId": id }])
        yield* peer.hangUp
      }).pipe(Effect.scoped, Effect.provide(server(go)))
    }))
})
