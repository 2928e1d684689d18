/**
 * An extension between Effect MCP and the official SDKs, which know no extensions but let declarations, methods and
 * notifications through: in both roles, in the handshake of 2025-11-25 and in the requests of 2026-07-28.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import { Client as Client2, fromJsonSchema, InMemoryTransport } from "@modelcontextprotocol/client"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { Server as Server1 } from "@modelcontextprotocol/sdk/server/index.js"
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Server as Server2 } from "@modelcontextprotocol/server"
import { Deferred, Effect, Fiber, Layer, Option, Queue, Schema, Stream } from "effect"
import { info } from "../HttpFixture.js"

const Job = Schema.Struct({ jobId: Schema.String, n: Schema.NumberFromString })

const Jobs = Extension.make("com.example/jobs", {
  settings: { client: Schema.Struct({ language: Schema.String }), server: Schema.Struct({ maxJobs: Schema.Int }) },
  requests: {
    get: Extension.request("jobs/get", { params: Schema.Struct({ jobId: Schema.String }), result: Job }),
    approve: Extension.request("jobs/approve", {
      from: "server",
      params: Job,
      result: Schema.Struct({ approved: Schema.Boolean })
    })
  },
  notifications: {
    started: Extension.notification("notifications/jobs/started", { params: Job }),
    seen: Extension.notification("notifications/jobs/seen", {
      from: "client",
      params: Schema.Struct({ jobId: Schema.String })
    })
  }
})

const { notifications, requests } = Jobs
const mine = Extension.declare(Jobs, { client: { language: "nn" }, server: { maxJobs: 2 } })
const declared = { client: { [Jobs.id]: { language: "nn" } }, server: { [Jobs.id]: { maxJobs: 2 } } }

/** What the tests use of a client or a server of either SDK. */
interface Sdk {
  connect(transport: unknown): Promise<void>
  close(): Promise<void>
  request(request: { readonly method: string; readonly params: {} }, schema: unknown): Promise<any>
  notification(notification: { readonly method: string; readonly params: {} }): Promise<void>
  fallbackRequestHandler: (request: { readonly method: string; readonly params: {} }) => Promise<{}>
  fallbackNotificationHandler: (notification: { readonly method: string; readonly params: {} }) => Promise<void>
  getServerCapabilities(): any
  getClientCapabilities(): any
}

const sdk = (side: unknown) => side as Sdk

/** A transport of the official SDK whose other end is given as a transport of this library. */
const linked = Effect.gen(function*() {
  const [theirs, ours] = InMemoryTransport.createLinkedPair()
  const received = yield* Queue.unbounded<Message.Incoming>()
  ours.onmessage = (message) => void received.unsafeOffer(Message.fromUnknown(message))
  ours.onclose = () => void Effect.runFork(received.shutdown)
  yield* Effect.promise(() => ours.start())
  const transport = yield* Transport.make({
    incoming: Stream.fromQueue(received),
    write: (message) => Effect.promise(() => ours.send(message as never))
  })
  return [theirs, transport] as const
})

describe("A server of Effect MCP with an extension", () => {
  const serving = (seen: Array<string>) =>
    McpServer.layer(
      info,
      Layer.mergeAll(
        MethodHandler.request(requests.get, ({ jobId }) => Effect.succeed({ jobId, n: 7 })),
        MethodHandler.notification(notifications.seen, ({ jobId }) => Effect.sync(() => seen.push(jobId))),
        McpServer.tool(Tool.make("start"), () =>
          Effect.gen(function*() {
            const { client: { supports }, notify, request } = yield* ServerSession
            if (!supports(requests.approve)) return "not asked"
            yield* notify(notifications.started, { jobId: "a", n: 1 })
            return String((yield* request(requests.approve, { jobId: "a", n: 1 })).approved)
          })),
        TasksServer.layer
      ),
      { extensions: [mine, TasksServer.extension] }
    ).pipe(Layer.provide(TaskStore.layerMemory))

  const capabilities = { extensions: declared.client }
  const client2 = (mode: "legacy" | { readonly pin: string }, options: {}) => ({
    client: sdk(new Client2(info, { ...options, versionNegotiation: { mode } })),
    any: fromJsonSchema({ type: "object" })
  })
  const officials = {
    "1.32, at 2025-11-25": (options: {}) => ({ client: sdk(new Client1(info, options)), any: ResultSchema }),
    "2.4, at 2025-11-25": (options: {}) => client2("legacy", options),
    "2.4, at 2026-07-28": (options: {}) => client2({ pin: "2026-07-28" }, options)
  }

  for (const [version, make] of Object.entries(officials)) {
    const isModern = version.endsWith("2026-07-28")

    const connect = (options: {}) =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const started: Array<unknown> = []
        const [theirs, transport] = yield* linked
        const context = yield* Layer.build(serving(seen))
        const dispatcher = yield* Effect.provide(Dispatcher, context)
        yield* Effect.forkScoped(dispatcher.accept(transport))
        const { any, client } = make(options)
        client.fallbackRequestHandler = async ({ method }) => ({
          approved: method === "jobs/approve"
        })
        client.fallbackNotificationHandler = async (notification) => void started.push(notification)
        yield* Effect.acquireRelease(
          Effect.promise(() => client.connect(theirs)),
          () => Effect.promise(() => client.close())
        )
        const request = (method: string, params: {}) =>
          Effect.tryPromise({
            try: () => client.request({ method, params }, any),
            catch: (error) => error as { readonly code: number }
          })
        return { client, request, seen, started }
      })

    it.scopedLive(`serves the official client ${version}, which has declared it`, () =>
      Effect.gen(function*() {
        const { client, request, seen, started } = yield* connect({ capabilities })
        // The extension for tasks never enables those of 2025-11-25, nor does it exist there.
        assert.deepStrictEqual(
          client.getServerCapabilities().extensions,
          isModern ? { ...declared.server, [TasksServer.extension.id]: {} } : declared.server
        )
        assert.deepInclude(yield* request("jobs/get", { jobId: "b" }), { jobId: "b", n: "7" })
        const { content } = yield* request("tools/call", { name: "start" })
        assert.deepStrictEqual(content, [{ type: "text", text: isModern ? "not asked" : "true" }])
        assert.strictEqual(started.length, isModern ? 0 : 1)
        if (!isModern) {
          yield* Effect.promise(() =>
            client.notification({ method: "notifications/jobs/seen", params: { jobId: "c" } })
          )
          yield* request("jobs/get", { jobId: "b" })
          assert.deepStrictEqual(seen, ["c"])
        }
      }))

    it.scopedLive(`refuses the official client ${version}, which has not declared it`, () =>
      Effect.gen(function*() {
        const { request, started } = yield* connect({})
        const { code } = yield* Effect.flip(request("jobs/get", { jobId: "b" }))
        assert.strictEqual(code, isModern ? -32021 : -32600)
        const { content } = yield* request("tools/call", { name: "start" })
        assert.deepStrictEqual(content, [{ type: "text", text: "not asked" }])
        assert.deepStrictEqual(started, [])
      }))
  }
})

describe("A client of Effect MCP with an extension", () => {
  const officials = {
    "1.32": (options: {}) => sdk(new Server1(info, options as never)),
    "2.4": (options: {}) => sdk(new Server2(info, options as never))
  }

  for (const [version, make] of Object.entries(officials)) {
    const connect = (extensions: Client.Options["extensions"], capabilities: {} = { extensions: declared.server }) =>
      Effect.gen(function*() {
        const [theirs, transport] = yield* linked
        const seen = yield* Deferred.make<unknown>()
        const server = make({ capabilities })
        server.fallbackRequestHandler = async ({ params }) => ({ ...params, n: "7" })
        server.fallbackNotificationHandler = async ({ params }) => Deferred.unsafeDone(seen, Effect.succeed(params))
        yield* Effect.promise(() => server.connect(theirs))
        const client = yield* Client.make(Connector.fromTransport(transport), {
          versions: ["2025-11-25"],
          extensions,
          features: ClientFeatures.request(requests.approve, ({ n }) => Effect.succeed({ approved: n === 1 }))
        })
        return { client, seen, server }
      })

    it.scopedLive(`calls, notifies and answers a server of the official SDK ${version} that has declared it`, () =>
      Effect.gen(function*() {
        const { client, seen, server } = yield* connect([mine])
        assert.deepStrictEqual(server.getClientCapabilities().extensions, declared.client)
        assert.deepStrictEqual(
          yield* client.extension(Jobs),
          Option.some({ client: { language: "nn" }, server: { maxJobs: 2 } })
        )
        assert.deepStrictEqual(yield* client.request(requests.get, { jobId: "a" }), { jobId: "a", n: 7 })
        yield* client.notify(notifications.seen, { jobId: "a" })
        assert.deepStrictEqual(yield* Deferred.await(seen), { jobId: "a" })
        const opened = yield* Effect.makeLatch()
        const started = yield* Effect.fork(
          Stream.runHead(client.listen(notifications.started, { current: Effect.as(opened.open, []) }))
        )
        yield* opened.await
        yield* Effect.promise(() =>
          server.notification({ method: "notifications/jobs/started", params: { jobId: "a", n: "1" } })
        )
        assert.deepStrictEqual(yield* Fiber.join(started), Option.some({ jobId: "a", n: 1 }))
        const approve = { method: "jobs/approve", params: { jobId: "a", n: "1" } }
        const any = version === "1.32" ? ResultSchema : fromJsonSchema({ type: "object" })
        const answer: unknown = yield* Effect.promise(() => server.request(approve, any))
        assert.deepStrictEqual(answer, { approved: true })
      }))

    it.scopedLive(`sends nothing of it to a server of the official SDK ${version} that has not`, () =>
      Effect.gen(function*() {
        const { client } = yield* connect([mine], {})
        assert.deepStrictEqual(yield* client.extension(Jobs), Option.none())
        const error = yield* Effect.flip(client.request(requests.get, { jobId: "a" }))
        assert.strictEqual(error._tag, "NotNegotiated")
      }))

    it.scopedLive(`declares no extension to a server of the official SDK ${version} that it was not given`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* connect([])
        assert.isUndefined(server.getClientCapabilities().extensions)
        assert.deepStrictEqual(yield* client.extension(Jobs), Option.none())
      }))
  }
})
