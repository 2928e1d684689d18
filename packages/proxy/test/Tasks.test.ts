import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { Connector } from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Chunk, Deferred, Effect, Either, Fiber, Layer, Option, Schema, Scope, Stream } from "effect"
import { type Features as ServerFeatures, fromLayer, pairs } from "./Setting.js"

type Versions = (typeof pairs)[number][1]

const extensions = [TasksServer.extension]

const poll = { pollInterval: 50 }

const accepting = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" as const, content: {} }))

const text = ({ content }: { readonly content: ReadonlyArray<any> }): string => content[0].text

/** A server whose tools run in tasks, what its handlers notice, and its tasks. */
const upstreamOf = (versions: Versions) =>
  Effect.gen(function*() {
    const go = yield* Deferred.make<void>()
    const interrupted = yield* Deferred.make<void>()
    const store = yield* TaskStore.memory()
    const tools = Layer.mergeAll(
      McpServer.tool(Tool.make("job", { task: "required" }), () =>
        Effect.onInterrupt(
          Effect.as(Deferred.await(go), "the job is done"),
          () => Deferred.succeed(interrupted, undefined)
        )),
      McpServer.tool(Tool.make("report", { task: "required" }), () =>
        Effect.flatMap(ServerSession, ({ progress }) =>
          Deferred.await(go).pipe(
            Effect.zipRight(progress(1, { total: 2, message: "half" })),
            Effect.zipRight(progress(2)),
            Effect.as("the report is done")
          ))),
      McpServer.tool(Tool.make("ask", { task: "required" }), () =>
        Effect.flatMap(ServerSession, ({ ask }) =>
          Effect.map(ask({ sure: Ask.confirm("Sure?") }), ({ sure }) =>
            sure ? "yes" : "no"))),
      McpServer.tool(
        Tool.make("fail", { task: "required", failure: Schema.String }),
        () =>
          Effect.fail("no luck")
      )
    ) as ServerFeatures
    return {
      connector: yield* fromLayer(
        Layer.provide(
          McpServer.layer({ name: "upstream", version: "1.0.0" }, Layer.merge(tools, TasksServer.layerWith(poll)), {
            versions,
            extensions
          }),
          Layer.succeed(TaskStore.TaskStore, store)
        ),
        { extensions }
      ),
      go: Deferred.succeed(go, undefined),
      interrupted: Deferred.await(interrupted),
      tasks: Effect.map(Effect.orDie(store.list(null, { limit: 10 })), ({ tasks }) =>
        tasks)
    }
  })

/** A gateway in front of a server; `own` are its features beside the proxy. */
const gatewayOf = (upstream: Connector, own: Layer.Layer<never, never, any> = TasksServer.layerWith(poll)) =>
  fromLayer(
    McpServer.layer(
      { name: "gateway", version: "1.0.0" },
      Layer.merge(own, Proxy.layer(upstream, { name: "up", client: { extensions } })) as ServerFeatures,
      { extensions }
    ).pipe(Layer.provide(TaskStore.layerMemory)) as never,
    { extensions }
  )

const client = (connector: Connector, versions: Versions, isTasked = true) =>
  Client.make(connector, { versions, features: accepting, ...(isTasked ? { extensions } : undefined) })

describe("A tool of an upstream that runs as a task", () => {
  for (const [name, clientVersions, upstreamVersions] of pairs) {
    const isModernOnly = name === "legacy to modern"

    it.scopedLive(`is a plain call that waits, for a client that wants none (${name})`, () =>
      Effect.gen(function*() {
        const { connector, go, tasks } = yield* upstreamOf(upstreamVersions)
        const session = yield* client(yield* gatewayOf(connector, Layer.empty), clientVersions, false)
        const calling = yield* Effect.fork(session.callTool("job"))
        assert.strictEqual(text(yield* session.callTool("ask")), "yes")
        yield* go
        const result = yield* Fiber.join(calling)
        assert.strictEqual(text(result), "the job is done")
        assert.isUndefined(result._meta)
        const failed = yield* Effect.either(session.callTool("fail"))
        assert.isTrue(Either.isRight(failed) && failed.right.isError && text(failed.right) === "no luck")
        assert.strictEqual((yield* tasks).length, 3)
      }))

    it.scopedLive(`is a task of the proxy's server, with its own id and the questions of the upstream (${name})`, () =>
      Effect.gen(function*() {
        const { connector, go, tasks } = yield* upstreamOf(upstreamVersions)
        const session = yield* client(yield* gatewayOf(connector), clientVersions)
        if (isModernOnly) yield* go
        const job = yield* TasksClient.start(session, "job")
        assert.strictEqual(Option.isSome(job.taskId), !isModernOnly)
        assert.strictEqual(text(yield* (yield* TasksClient.start(session, "ask")).result), "yes")
        yield* go
        assert.strictEqual(text(yield* job.result), "the job is done")
        assert.notInclude((yield* tasks).map(({ taskId }) => taskId), Option.getOrUndefined(job.taskId))
      }))

    if (isModernOnly) continue

    it.scopedLive(`goes on without its client, and the next client collects it (${name})`, () =>
      Effect.gen(function*() {
        const { connector, go } = yield* upstreamOf(upstreamVersions)
        const gateway = yield* gatewayOf(connector)
        const first = yield* Scope.fork(yield* Effect.scope, { _tag: "Sequential" })
        const session = yield* Scope.extend(client(gateway, clientVersions), first)
        const { taskId } = yield* TasksClient.start(session, "job")
        yield* Scope.close(first, yield* Effect.exit(Effect.void))
        const next = yield* client(gateway, clientVersions)
        const job = yield* TasksClient.attach(next, "job", Option.getOrThrow(taskId))
        yield* go
        assert.strictEqual(text(yield* job.result), "the job is done")
      }))

    it.scopedLive(`is cancelled at the upstream with the task of the client (${name})`, () =>
      Effect.gen(function*() {
        const { connector, interrupted, tasks } = yield* upstreamOf(upstreamVersions)
        const session = yield* client(yield* gatewayOf(connector), clientVersions)
        const job = yield* TasksClient.start(session, "job")
        // The upstream has begun its task when it is listed.
        yield* Effect.repeat(Effect.delay(tasks, 5), { until: (all) => all.length === 1 })
        yield* job.cancel
        yield* interrupted
        assert.strictEqual((yield* tasks)[0]?.status, "cancelled")
      }))
  }

  for (const [name, clientVersions, upstreamVersions] of pairs.filter(([name]) => name.endsWith("to legacy"))) {
    it.scopedLive(`reports its progress to a client that waits (${name})`, () =>
      Effect.gen(function*() {
        const { connector, go, tasks } = yield* upstreamOf(upstreamVersions)
        const session = yield* client(yield* gatewayOf(connector, Layer.empty), clientVersions, false)
        const reported: Array<unknown> = []
        const calling = yield* Effect.fork(session.callTool("report", {}, {
          onProgress: (progress) => Effect.sync(() => reported.push(progress))
        }))
        // The call at the upstream has been answered with a task when the task is listed.
        yield* Effect.repeat(Effect.delay(tasks, 5), { until: (all) => all.length === 1 })
        yield* go
        assert.strictEqual(text(yield* Fiber.join(calling)), "the report is done")
        assert.deepStrictEqual(reported, [{ progress: 1, total: 2, message: "half" }, { progress: 2 }])
      }))
  }

  it.scopedLive("reports its progress as that of the client's task (legacy to legacy)", () =>
    Effect.gen(function*() {
      const { connector, go, tasks } = yield* upstreamOf(["2025-11-25"])
      const session = yield* client(yield* gatewayOf(connector), ["2025-11-25"])
      const report = yield* TasksClient.start(session, "report")
      const reported = yield* Effect.fork(Stream.runCollect(Stream.take(report.progress, 2)))
      yield* Effect.repeat(Effect.delay(tasks, 5), { until: (all) => all.length === 1 })
      yield* go
      assert.strictEqual(text(yield* report.result), "the report is done")
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(yield* Fiber.join(reported)).map(({ progress }) => progress),
        [1, 2]
      )
    }))

  it.scopedLive("fails when the upstream asks too much in it", () =>
    Effect.gen(function*() {
      const questions = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`q${n}`, Ask.confirm("Sure?")]))
      const asking = (name: string, count: number) =>
        McpServer.tool(Tool.make(name, { task: "required" }), () =>
          Effect.flatMap(ServerSession, ({ ask }) => Effect.as(Effect.forever(ask(questions(count))), "done")))
      const upstream = yield* fromLayer(
        McpServer.layer(
          { name: "upstream", version: "1.0.0" },
          Layer.mergeAll(asking("many", 1001), asking("often", 400), TasksServer.layerWith(poll)) as ServerFeatures,
          { extensions }
        ).pipe(Layer.provide(TaskStore.layerMemory)),
        { extensions }
      )
      const session = yield* client(yield* gatewayOf(upstream, Layer.empty), ["2025-11-25"], false)
      assert.include((yield* Effect.flip(session.callTool("many"))).message, "sent no valid answer")
      assert.include((yield* Effect.flip(session.callTool("often"))).message, "asks too many questions")
    }), 30_000)
})
