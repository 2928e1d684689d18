/**
 * Servers with tasks, and clients of both eras that begin, read, answer and cancel them, for the tests of tasks.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer, Schema, type Scope } from "effect"
import { serve } from "./Serving.js"

export const ID = "io.modelcontextprotocol/tasks"

const ask = Effect.flatMap(ServerSession, ({ ask }) => ask({ sure: Ask.confirm("Sure?") }))

/** `wait` never ends, `quick` ends at once, `fail` ends with a JSON-RPC error, `ask` asks a question. */
export const features = Layer.mergeAll(
  McpServer.tool(Tool.make("wait", { task: "optional" }), () => Effect.never),
  McpServer.tool(Tool.make("quick", { task: "optional" }), () => Effect.succeed("done")),
  McpServer.tool(
    Tool.make("fail", { task: "optional" }),
    () => Effect.fail(new McpError.PeerError({ code: -32050, message: "Sold out", data: { left: 0 } }))
  ),
  McpServer.tool(Tool.make("broken", { task: "optional", failure: Schema.String }), () => Effect.fail("no luck")),
  McpServer.tool(Tool.make("ask", { task: "optional" }), () => Effect.map(ask, ({ sure }) => sure ? "yes" : "no")),
  McpServer.tool(Tool.make("twice", { task: "optional" }), () => Effect.as(Effect.zipRight(ask, ask), "asked twice")),
  McpServer.tool(
    Tool.make("both", { task: "optional" }),
    () =>
      Effect.flatMap(
        ServerSession,
        ({ ask }) =>
          Effect.map(ask({ one: Ask.confirm("One?"), two: Ask.confirm("Two?") }), ({ one, two }) => `${one} ${two}`)
      )
  ),
  McpServer.tool(Tool.make("plain"), () => Effect.succeed("plain")),
  McpServer.prompt(Prompt.make("hello"), () => Effect.succeed("Hello"))
) as Layer.Layer<never, never, Registry>

export const serving = (
  store: TaskStore.TaskStoreService | undefined = undefined,
  options: TasksServer.Options = {},
  more: McpServer.Options<never, Middleware.Middleware<never, never>, never, Authenticator.Authenticator<any>> = {},
  tools: Layer.Layer<never, never, any> = features
): Layer.Layer<Dispatcher> =>
  Layer.provide(
    serve(Layer.merge(tools as Layer.Layer<never, never, Registry>, TasksServer.layerWith(options)), {
      extensions: [TasksServer.extension],
      ...more
    }),
    store === undefined ? TaskStore.layerMemory : Layer.succeed(TaskStore.TaskStore, store)
  )

/** Runs a test against a server with the tools above. */
export const onServer = <A, E>(
  body: Effect.Effect<A, E, Dispatcher | Scope.Scope>,
  server: Layer.Layer<Dispatcher> = serving()
): Effect.Effect<A, E> => body.pipe(Effect.scoped, Effect.provide(server))

/** A memory store with other operations in place of some. */
export const store = (
  change: (memory: TaskStore.TaskStoreService) => Partial<TaskStore.TaskStoreService> = () => ({})
): Effect.Effect<TaskStore.TaskStoreService, never, Scope.Scope> =>
  Effect.map(TaskStore.memory(), (memory) => {
    const { changes, create, get, list, replace } = memory
    return { changes, create, get, list, replace, ...change(memory) }
  })

/** A store that records the status of each version of each task. */
export const recording = Effect.gen(function*() {
  const statuses = new Map<string, Array<string>>()
  const record = ({ status, taskId }: TaskStore.StoredTask) =>
    statuses.set(taskId, [...statuses.get(taskId) ?? [], status])
  const recorder = yield* store(({ create, replace }) => ({
    create: (task) => Effect.tap(create(task), () => record(task)),
    replace: (task) => Effect.tap(replace(task), (isReplaced) => isReplaced && record(task))
  }))
  return { store: recorder, statuses }
})

const caller = (user: string | undefined) =>
  user === undefined ? {} : { as: Authenticator.http({ headers: { authorization: user } }) }

/** Disconnects at the end of the test, and drops what the test has not received. */
export const dropping = (peer: TestPeer.TestPeer) =>
  Effect.addFinalizer(() =>
    Effect.zipRight(peer.hangUp, Effect.repeat(Effect.exit(peer.next), { while: ({ _tag }) => _tag === "Success" }))
  )

/** A client of each era whose messages, and those of the server, are not checked: for tests with many runs. */
export const unchecked = {
  legacy: TestPeer.client({ oracle: false }).pipe(
    Effect.tap(dropping),
    Effect.tap((peer) => peer.initialize({ version: "2025-11-25", capabilities: { elicitation: { form: {} } } }))
  ),
  modern: TestPeer.client({ oracle: false }).pipe(
    Effect.tap(dropping),
    Effect.map((peer) => peer.modern({ capabilities: { elicitation: { form: {} }, extensions: { [ID]: {} } } }))
  )
}

/** A client of 2025-11-25, of a user where the server has users. */
export const legacy = (user?: string, capabilities: JsonObject = { elicitation: { form: {} } }) =>
  Effect.tap(
    TestPeer.client(caller(user)),
    (peer) => peer.initialize({ version: "2025-11-25", capabilities })
  )

/** A client of 2026-07-28 that declares tasks. */
export const modern = (user?: string, capabilities: JsonObject = { elicitation: { form: {} } }) =>
  Effect.map(
    Effect.tap(
      TestPeer.client({ extensions: [TasksServer.extension], ...caller(user) }),
      (peer) => Effect.addFinalizer(() => peer.hangUp)
    ),
    (peer) => peer.modern({ capabilities: { ...capabilities, extensions: { [ID]: {} } } })
  )

/** Sends a request, and gives the message that answers it. Changes of tasks that come before it are ignored. */
export const answer = (peer: TestPeer.TestPeer, method: string, params?: JsonObject) =>
  Effect.flatMap(peer.request(method, params), (id) =>
    Effect.flatMap(until(peer, id), (messages) => {
      const others = messages.filter(({ method }) => method !== "notifications/tasks/status")
      return others.length === 1
        ? Effect.succeed(others[0])
        : Effect.dieMessage(`Expected one answer, received ${JSON.stringify(messages)}`)
    }))

export const result = (peer: TestPeer.TestPeer, method: string, params?: JsonObject): Effect.Effect<JsonObject, any> =>
  Effect.flatMap(
    answer(peer, method, params),
    (message) => "result" in message ? Effect.succeed(message.result) : Effect.dieMessage(JSON.stringify(message))
  )

export const error = (
  peer: TestPeer.TestPeer,
  method: string,
  params?: JsonObject
): Effect.Effect<{ readonly code: number; readonly message: string; readonly data?: unknown }, any> =>
  Effect.flatMap(
    answer(peer, method, params),
    (message) => "error" in message ? Effect.succeed(message.error) : Effect.dieMessage(JSON.stringify(message))
  )

/** Calls a tool as a task of 2025-11-25, and gives the task. */
export const start = (peer: TestPeer.TestPeer, name: string, task: JsonObject = {}) =>
  Effect.map(result(peer, "tools/call", { name, task }), ({ task }) => task as JsonObject & { readonly taskId: string })

/** Calls a tool that becomes a task of 2026-07-28, and gives the task. */
export const begin = (peer: TestPeer.TestPeer, name: string) =>
  result(peer, "tools/call", { name }) as Effect.Effect<JsonObject & { readonly taskId: string }, any>

/** Polls until the task has this status: only turns of the scheduler pass. */
export const reached = (
  peer: TestPeer.TestPeer,
  taskId: string,
  status: string
): ReturnType<typeof result> =>
  Effect.flatMap(
    result(peer, "tasks/get", { taskId }),
    (found) => found.status === status ? Effect.succeed(found) : reached(peer, taskId, status)
  )

/** The next question of a task. Changes of tasks that come before it are ignored. */
export const question = (peer: TestPeer.TestPeer): Effect.Effect<any> =>
  Effect.flatMap(peer.next, (message: any) =>
    message.method === "elicitation/create"
      ? Effect.succeed(message)
      : message.method === "notifications/tasks/status"
      ? question(peer)
      : Effect.dieMessage(`Expected a question, received ${JSON.stringify(message)}`))

/** Takes messages up to the answer of a request, which is the last of them. */
export const until = (peer: TestPeer.TestPeer, id: unknown): Effect.Effect<ReadonlyArray<any>> =>
  Effect.flatMap(peer.next, (message) =>
    "id" in message && message.id === id && !("method" in message)
      ? Effect.succeed([message])
      : Effect.map(until(peer, id), (rest) => [message, ...rest]))

export const accept: JsonObject = { action: "accept", content: {} }
