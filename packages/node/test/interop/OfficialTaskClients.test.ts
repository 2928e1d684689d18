/**
 * Tasks of a server of Effect MCP at 2025-11-25, and clients of the official SDK 1.32, in both directions. Where that client
 * does something else than the specification says, a comment begins with "Deviation".
 */
import { assert, describe, it } from "@effect/vitest"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import type * as Transcript from "@effect-mcp/testing/Transcript"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js"
import * as Schemas from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer, type Scope } from "effect"
import { bundledOnce } from "../Bundle.js"
import { node, until } from "../Fixture.js"
import { Server } from "../fixtures/taskFeatures.js"
import { type Address, recorded, transport1 } from "./OfficialClients.js"

const program = bundledOnce("taskServer.ts")

const addresses: Readonly<Record<string, Effect.Effect<Address, never, Scope.Scope>>> = {
  "stdio": Effect.map(program, (path) => ({ command: node, args: [path] })),
  "Streamable HTTP": Effect.gen(function*() {
    const served = Layer.provide(HttpServer.layer({ port: 0 }), Server)
    const context = yield* Effect.orDie(Layer.build(served))
    const { url } = yield* Effect.provide(HttpServer.HttpServer, context)
    return { url, transport: "http" } as const
  })
}

const sampled = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const
const filledIn = { action: "accept", content: { name: "Ada" } } as const

/** What the client answers, as a task where the server asks for one: after a moment, unless it is cancelled. */
const answering = (answer: object) => async ({ params }: any, { taskStore }: any): Promise<any> => {
  if (params.task === undefined) return answer
  const task = await taskStore.createTask({ ttl: params.task.ttl, pollInterval: 60 })
  setTimeout(() => void taskStore.storeTaskResult(task.taskId, "completed", answer).catch(() => {}), 100)
  return { task }
}

const connect = (address: Effect.Effect<Address, never, Scope.Scope>, asTasks = true) =>
  Effect.gen(function*() {
    const transport = transport1(yield* address)
    const transcript = yield* recorded(transport)
    const client = new Client({ name: "official", version: "1.0.0" }, {
      capabilities: {
        elicitation: { form: {} },
        sampling: {},
        ...(asTasks
          ? {
            tasks: { cancel: {}, list: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } }
          }
          : {})
      },
      ...(asTasks ? { taskStore: new InMemoryTaskStore() } : {})
    })
    const statuses: Array<string> = []
    client.setNotificationHandler(
      Schemas.TaskStatusNotificationSchema,
      ({ params }) => void statuses.push(params.status)
    )
    client.setRequestHandler(Schemas.ElicitRequestSchema, answering(filledIn))
    client.setRequestHandler(Schemas.CreateMessageRequestSchema, answering(sampled))
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect(transport as never)),
      () => Effect.promise(() => client.close())
    )
    // The client learns here which tools run as tasks.
    yield* Effect.promise(() => client.listTools())
    return { client, tasks: client.experimental.tasks, transcript, statuses }
  })

/** All messages of a call as a task. */
const calling = (client: Client, name: string, args = {}, options = {}): Effect.Effect<ReadonlyArray<any>> =>
  Effect.promise(async () => {
    const messages: Array<any> = []
    for await (
      const message of client.experimental.tasks.callToolStream({ name, arguments: args }, undefined, options)
    ) messages.push(message)
    return messages
  })

const refusal = (run: () => Promise<unknown>) =>
  Effect.flip(
    Effect.tryPromise({ try: run, catch: (error) => error as { readonly code: number; readonly message: string } })
  )

const methods = ({ entries }: Transcript.Transcript) => entries.map(({ message }: any) => message.method)

const text = (result: any): unknown => result.content[0].text

for (const [name, address] of Object.entries(addresses)) {
  describe(`Tasks of a server of Effect MCP and a client of the official SDK 1.32 over ${name}`, () => {
    it.scopedLive("begin, are polled until they have ended, and give their results", () =>
      Effect.gen(function*() {
        const { client, statuses, tasks, transcript } = yield* connect(address)
        const messages = yield* calling(client, "slow", { millis: 200 }, { task: { ttl: 60_000 } })
        const types = messages.map(({ type }) => type)
        assert.deepStrictEqual(types.filter((type, at) => type !== types[at - 1]), [
          "taskCreated",
          "taskStatus",
          "result"
        ])
        const [created, ...rest] = messages
        assert.deepInclude(created.task, { status: "working", ttl: 60_000, pollInterval: 50 })
        assert.strictEqual(text(rest.at(-1).result), "slept")
        // Deviation: the options of the call go with all requests about the task, the member `task` among them.
        const get: any = transcript.entries.find(({ message }: any) => message.method === "tasks/get")?.message
        assert.deepStrictEqual(get.params, { taskId: created.task.taskId, task: { ttl: 60_000 } })
        const { taskId } = created.task
        assert.strictEqual((yield* Effect.promise(() => tasks.getTask(taskId))).status, "completed")
        const again: any = yield* Effect.promise(() => tasks.getTaskResult(taskId, Schemas.CallToolResultSchema))
        assert.strictEqual(text(again), "slept")
        assert.deepStrictEqual(again._meta, { "io.modelcontextprotocol/related-task": { taskId } })
        // The progress of the handler changes the message of the status.
        yield* until(() => statuses.includes("completed"))
        assert.deepStrictEqual(statuses, ["working", "completed"])
      }))

    it.scopedLive("report progress after the response with the task", () =>
      Effect.gen(function*() {
        const { client } = yield* connect(address)
        const progress: Array<number> = []
        const onprogress = ({ progress: one }: { readonly progress: number }) => void progress.push(one)
        yield* calling(client, "slow", { millis: 50 }, { onprogress })
        assert.deepStrictEqual(progress, [1])
      }))

    it.scopedLive("ask on the request for the result, which the client sends once a task needs input", () =>
      Effect.gen(function*() {
        const { client, transcript } = yield* connect(address)
        const messages = yield* calling(client, "asks")
        assert.strictEqual(text(messages.at(-1).result), "Ada and m")
        assert.include(messages.map(({ task }) => task?.status), "input_required")
        const { taskId } = messages[0].task
        const questions = transcript.entries.map(({ message }: any) => message)
          .filter(({ method }) => method === "elicitation/create" || method === "sampling/createMessage")
        assert.deepStrictEqual(
          questions.map(({ params }) => params._meta["io.modelcontextprotocol/related-task"]),
          [{ taskId }, { taskId }]
        )
      }))

    it.scopedLive("fail with a result that says why", () =>
      Effect.gen(function*() {
        const { client, tasks } = yield* connect(address)
        const messages = yield* calling(client, "broken")
        // Deviation: the client does not request the result of a failed task by itself.
        const { error, type } = messages.at(-1)
        const { taskId } = messages[0].task
        assert.strictEqual(type, "error")
        assert.include(error.message, `Task ${taskId} failed`)
        const result: any = yield* Effect.promise(() => tasks.getTaskResult(taskId, Schemas.CallToolResultSchema))
        assert.strictEqual(result.isError, true)
        assert.include(text(result), "no luck")
      }))

    it.scopedLive("are cancelled once, and have no result then", () =>
      Effect.gen(function*() {
        const { client, tasks } = yield* connect(address)
        const created: any = yield* Effect.promise(() =>
          client.request(
            { method: "tools/call", params: { name: "stuck", arguments: {}, task: {} } },
            Schemas.CreateTaskResultSchema
          )
        )
        const { taskId } = created.task
        assert.strictEqual((yield* Effect.promise(() => tasks.cancelTask(taskId))).status, "cancelled")
        assert.strictEqual((yield* refusal(() => tasks.cancelTask(taskId))).code, -32602)
        assert.strictEqual((yield* Effect.promise(() => tasks.getTask(taskId))).status, "cancelled")
        const { code } = yield* refusal(() => tasks.getTaskResult(taskId, Schemas.CallToolResultSchema))
        assert.strictEqual(code, -32800)
      }))

    it.scopedLive("are unknown by other ids, and are not listed for clients without a user", () =>
      Effect.gen(function*() {
        const { client, tasks } = yield* connect(address)
        assert.deepStrictEqual(client.getServerCapabilities()?.tasks, { cancel: {}, requests: { tools: { call: {} } } })
        assert.strictEqual((yield* refusal(() => tasks.getTask("none"))).code, -32602)
        // Deviation: the client requests the list of a server that does not declare `tasks.list`.
        assert.strictEqual((yield* refusal(() => tasks.listTasks())).code, -32601)
      }))

    it.scopedLive("are not a matter for a call that waits", () =>
      Effect.gen(function*() {
        const { client } = yield* connect(address)
        const result = yield* Effect.promise(() => client.callTool({ name: "slow", arguments: { millis: 10 } }))
        assert.strictEqual(text(result), "slept")
        // The client itself refuses to call a tool that runs as a task only.
        assert.strictEqual((yield* refusal(() => client.callTool({ name: "broken" }))).code, -32600)
      }))

    it.scopedLive("may be asked of the client: samples and input", () =>
      Effect.gen(function*() {
        const { client } = yield* connect(address)
        for (const [tool, answer] of [["elicitAsTask", filledIn], ["sampleAsTask", sampled]] as const) {
          const result = yield* Effect.promise(() => client.callTool({ name: tool }))
          const { answer: given, statuses } = JSON.parse(String(text(result)))
          assert.deepInclude(given, answer)
          assert.deepStrictEqual(statuses, ["working", "completed"])
        }
      }))

    it.scopedLive("may be asked of the client, and be cancelled there", () =>
      Effect.gen(function*() {
        const { client } = yield* connect(address)
        assert.strictEqual(text(yield* Effect.promise(() => client.callTool({ name: "cancelsTask" }))), "PeerError")
      }))

    it.scopedLive("SHOULD NOT be asked of a client that does not declare them", () =>
      Effect.gen(function*() {
        const { client, transcript } = yield* connect(address, false)
        const { code, message } = yield* refusal(() => client.callTool({ name: "elicitAsTask" }))
        assert.strictEqual(code, -32600)
        assert.include(message, "tasks.requests.elicitation.create")
        assert.isFalse(methods(transcript).includes("elicitation/create"))
      }))
  })
}
