/**
 * A durable task and a client of the official SDK 2.4, which knows no tasks: it refuses a task as the result of a call, and lets the other
 * methods of tasks through. So the call is a request of its own.
 */
import { assert, it } from "@effect/vitest"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Client, fromJsonSchema, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as Postgres from "../../../sql/test/Postgres.js"
import { publish, server } from "../Publishing.js"

/** A server at a port, until it is closed. */
const serving = (url: string, begun: Array<string>, at = 0) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const http = Layer.provide(HttpServer.layer({ port: at }), server(url, publish(begun)))
    const { port } = Context.get(yield* Scope.extend(Layer.build(Layer.fresh(http)), scope), HttpServer.HttpServer)
    return { port, close: Scope.close(scope, Exit.void) }
  })

const capabilities = { elicitation: { form: {} }, extensions: { [TasksServer.extension.id]: {} } }

/** Calls the tool, and gives the id of its task. */
const begin = (port: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const params = { name: "publish", arguments: {}, _meta: TestPeer.requestMeta({ capabilities }) }
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "publish"
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    })
    const text = await response.text()
    return JSON.parse(text.split("data: ").at(-1)!).result.taskId
  })

const any = fromJsonSchema({ type: "object" })

Postgres.suite("A durable task of a client of the official SDK 2.4", () => {
  it.scopedLive("goes on when its server has started again, and takes the client's answer", () =>
    Effect.gen(function*() {
      const url = yield* Postgres.database
      const begun: Array<string> = []
      const first = yield* serving(url, begun)
      const client = new Client({ name: "official", version: "1.0.0" }, {
        capabilities,
        versionNegotiation: { mode: { pin: "2026-07-28" } }
      })
      yield* Effect.acquireRelease(
        Effect.promise(() =>
          client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${first.port}/mcp`)))
        ),
        () => Effect.promise(() => client.close())
      )
      const ask = (method: string, params: {}): Effect.Effect<any> =>
        Effect.promise(() => client.request({ method, params }, any))
      const reached = (taskId: string, status: string): Effect.Effect<any> =>
        Effect.flatMap(
          ask("tasks/get", { taskId }),
          (task) => task.status === status ? Effect.succeed(task) : Effect.delay(reached(taskId, status), "50 millis")
        )

      const taskId = yield* begin(first.port)
      yield* reached(taskId, "input_required")
      yield* first.close
      yield* serving(url, begun, first.port)
      const { inputRequests } = yield* reached(taskId, "input_required")
      assert.deepStrictEqual(Object.keys(inputRequests), ["publish.sure"])
      yield* ask("tasks/update", { taskId, inputResponses: { "publish.sure": { action: "accept", content: {} } } })
      const { result } = yield* reached(taskId, "completed")
      assert.deepStrictEqual(result.structuredContent, { isPublic: true })
      assert.deepStrictEqual(begun, ["build", "upload"])
    }))
})
