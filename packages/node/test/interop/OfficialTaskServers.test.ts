/**
 * Tasks of servers of the official SDK 1.32 at 2025-11-25, and a client of Effect MCP, in both directions. Where that server
 * does something else than the specification says, a comment begins with "Deviation".
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type * as Connector from "@effect-mcp/core/Connector"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Chunk, Effect, Layer, Option, type Scope, Stream } from "effect"
import { fixture, node } from "../Fixture.js"
// @ts-expect-error the module has no types
import { make } from "../fixtures/officialTasks.mjs"
import { http } from "./OfficialHttpServers.js"

const connectors: Readonly<Record<string, Effect.Effect<Connector.Connector<HttpClient>, never, Scope.Scope>>> = {
  "stdio": Effect.sync(() => StdioClient.connector({ command: node, args: [fixture("officialTasks1.mjs")] })),
  "Streamable HTTP": Effect.gen(function*() {
    const { url } = yield* http("1.32", { server: make })
    return Remote.connector(url)
  })
}

const sampled = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const

const features = (asTasks: boolean) =>
  Layer.mergeAll(
    ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name: "Ada" } })),
    ClientFeatures.sampling(() => Effect.delay(Effect.succeed(sampled), "100 millis")),
    asTasks ? ClientFeatures.tasks({ pollInterval: "50 millis" }) : Layer.empty
  )

const connect = (connector: Effect.Effect<Connector.Connector<HttpClient>, never, Scope.Scope>, asTasks = true) =>
  Effect.gen(function*() {
    const client = Client.make(yield* connector, { versions: Version.legacy, features: features(asTasks) })
    return yield* Effect.provide(client, yield* Layer.build(NodeHttpClient.layerUndici))
  })

const text = ({ content }: { readonly content: ReadonlyArray<unknown> }) =>
  (content[0] as { readonly text: string }).text

const idOf = ({ taskId }: { readonly taskId: Option.Option<string> }) => Option.getOrThrow(taskId)

const tagOf = <A>(effect: Effect.Effect<A, { readonly _tag: string }>) =>
  Effect.match(effect, { onFailure: ({ _tag }) => _tag, onSuccess: () => "success" })

/** What a tool of the server has seen of a task of the client. */
const seen = (client: ClientSessionService, name: string) =>
  Effect.map(client.callTool(name), (result) => JSON.parse(text(result)))

for (const [name, connector] of Object.entries(connectors)) {
  describe(`Tasks of a server of the official SDK 1.32 and a client of Effect MCP over ${name}`, () => {
    it.scopedLive("begin, show their status and give their results", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        const task = yield* TasksClient.start(client, "slow", {}, { ttl: "30 seconds" })
        const states = Effect.map(Stream.runCollect(task.status), Chunk.toReadonlyArray)
        const [all, result] = yield* Effect.all([states, task.result], { concurrency: 2 })
        assert.deepStrictEqual([all[0]?.status, all[0]?.ttl, all.at(-1)?.status], ["working", 30_000, "completed"])
        assert.strictEqual(text(result), "slept")
        const attached = yield* TasksClient.attach(client, "slow", idOf(task))
        assert.strictEqual(text(yield* attached.result), "slept")
        // Cancelling what has ended is not a failure.
        yield* attached.cancel
      }))

    it.scopedLive("are waited for by a plain call, whether the tool may or must run as a task", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        assert.strictEqual(text(yield* client.callTool("slow")), "slept")
        assert.strictEqual(text(yield* client.callTool("asks")), "Ada and m")
      }))

    it.scopedLive("ask on the request for their result", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        const task = yield* TasksClient.start(client, "asks")
        assert.strictEqual(text(yield* task.result), "Ada and m")
      }))

    it.scopedLive("fail with a result that says why", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        const task = yield* TasksClient.start(client, "fails")
        const { isError, ...result } = yield* task.result
        assert.deepStrictEqual([isError, text(result)], [true, "no luck"])
      }))

    it.scopedLive("are cancelled and listed", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        const task = yield* TasksClient.start(client, "stuck")
        yield* task.cancel
        assert.strictEqual(yield* tagOf(task.result), "TaskEnded")
        const listed = Chunk.toReadonlyArray(yield* Stream.runCollect(TasksClient.list(client)))
        assert.deepStrictEqual(
          listed.map(({ status, taskId }) => [taskId, status]),
          [[idOf(task), "cancelled"]]
        )
        const unknown = yield* TasksClient.attach(client, "stuck", "none")
        assert.strictEqual(yield* tagOf(unknown.result), "TaskEnded")
      }))

    for (const [tool, answer] of [["elicitAsTask", { action: "accept" }], ["sampleAsTask", sampled]] as const) {
      it.scopedLive(`may be asked of the client: ${tool}`, () =>
        Effect.gen(function*() {
          const client = yield* connect(connector)
          const [created, ...rest] = yield* seen(client, tool)
          assert.deepInclude(created.task, { status: "working", ttl: 30_000, pollInterval: 50 })
          assert.strictEqual(created.type, "taskCreated")
          const { result, type } = rest.at(-1)
          assert.strictEqual(type, "result")
          assert.deepInclude(result, answer)
          assert.deepStrictEqual(
            result._meta,
            { "io.modelcontextprotocol/related-task": { taskId: created.task.taskId } }
          )
        }))
    }

    it.scopedLive("may be asked of the client, and be listed and cancelled there", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector)
        assert.deepStrictEqual(yield* seen(client, "cancelsTask"), [1, "cancelled", -32602, -32800])
      }))

    it.scopedLive("SHOULD NOT be asked of a client that does not declare them", () =>
      Effect.gen(function*() {
        const client = yield* connect(connector, false)
        // Deviation: the server asks as a task all the same, and does not read the answer of a client that ignores `task`.
        const [only] = yield* seen(client, "elicitAsTask")
        assert.strictEqual(only.type, "error")
        assert.include(only.message, "expected object, received undefined")
      }))
  })
}
