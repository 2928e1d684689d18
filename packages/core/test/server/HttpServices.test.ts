import * as HttpApp from "@effect/platform/HttpApp"
import { assert, describe, it } from "@effect/vitest"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpServices from "@effect-mcp/core/HttpServices"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Fiber, FiberRef, HashMap, Layer } from "effect"
import { answered, call, initialize, proper, TestExchange } from "./http/TestExchange.js"
import * as Cluster from "./nodes/Cluster.js"
import { byHeader, connect, serve } from "./Serving.js"

class Tenant extends Context.Tag("test/Tenant")<Tenant, string>() {}

const Mark = FiberRef.unsafeMake("none")

/** What a fiber has of an HTTP request. */
const seen = Effect.gen(function*() {
  const annotations = HashMap.toEntries(yield* FiberRef.get(FiberRef.currentLogAnnotations))
  const tenant = yield* Effect.serviceOption(Tenant)
  return JSON.stringify([tenant._tag === "Some" ? tenant.value : "none", annotations])
})

const set = JSON.stringify(["acme", [["request", "r1"]]])
const unset = JSON.stringify(["none", []])

const sessions: Array<string> = []

const Session = Layer.effectDiscard(Effect.map(seen, (text) => void sessions.push(text)))

const features = (otherwise?: Effect.Effect<string>) =>
  Layer.mergeAll(
    McpServer.tool(Tool.make("seen"), () => seen),
    McpServer.tool(Tool.make("marks"), () => FiberRef.get(Mark)),
    McpServer.tool(Tool.make("forks"), () =>
      Effect.flatMap(Effect.fork(seen), (fiber) => Effect.flatten(Fiber.await(fiber)))),
    McpServer.tool(Tool.make("whose"), () =>
      Tenant).pipe(
        Feature.provide(Tenant, HttpServices.get(Tenant, otherwise))
      )
  )

const url = "http://localhost:3000/mcp"

/** An app whose middleware sets what handlers get. */
const served = Effect.map(HttpEndpoint.make({ services: [Tenant] }), (app) => {
  const handler = HttpApp.toWebHandler(
    app.pipe(
      Effect.provideService(Tenant, "acme"),
      Effect.annotateLogs("request", "r1"),
      Effect.locally(Mark, "marked")
    )
  )
  return (body: unknown, headers = {}) =>
    Effect.promise(() =>
      handler(new Request(url, { method: "POST", headers: { ...proper, ...headers }, body: JSON.stringify(body) }))
    )
})

const text = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.json() as Promise<any>),
    ({ error, result }) => error === undefined ? result.content[0].text as string : error.message as string
  )

const options = { session: Session }

const modern = (name: string, capabilities: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name,
    arguments: {},
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": capabilities
    }
  }
})

const modernHeaders = (name: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": name
})

describe("What HTTP middleware sets", () => {
  for (const era of ["legacy", "modern"] as const) {
    it.scoped(`reaches the handlers of a server that records its requests (${era})`, () =>
      Effect.gen(function*() {
        const post = yield* served
        const id = era === "modern" ? undefined : (yield* post(initialize())).headers.get("mcp-session-id")!
        const response = era === "modern"
          ? post(modern("seen"), modernHeaders("seen"))
          : post(call(2, "seen"), { "mcp-session-id": id })
        assert.strictEqual(yield* Effect.flatMap(response, text), set)
      }).pipe(Effect.provide(serve(features()).pipe(Layer.provide(ServerTelemetry.layer())))))

    it.scoped(`is also a FiberRef of the application (${era})`, () =>
      Effect.gen(function*() {
        const post = yield* served
        const id = era === "modern" ? undefined : (yield* post(initialize())).headers.get("mcp-session-id")!
        const response = era === "modern"
          ? post(modern("marks"), modernHeaders("marks"))
          : post(call(2, "marks"), { "mcp-session-id": id })
        assert.strictEqual(yield* Effect.flatMap(response, text), "marked")
      }).pipe(Effect.provide(serve(features()))))

    it.scoped(`reaches the handlers of the POST, and no session layer (${era})`, () =>
      Effect.gen(function*() {
        sessions.splice(0)
        const post = yield* served
        const id = era === "modern" ? undefined : (yield* post(initialize())).headers.get("mcp-session-id")!
        const calling = (name: string) =>
          Effect.flatMap(
            era === "modern"
              ? post(modern(name), modernHeaders(name))
              : post(call(2, name), { "mcp-session-id": id }),
            text
          )
        assert.strictEqual(yield* calling("seen"), set)
        assert.strictEqual(yield* calling("forks"), set)
        assert.strictEqual(yield* calling("whose"), "acme")
        assert.isAbove(sessions.length, 0)
        for (const session of sessions) assert.strictEqual(session, unset)
      }).pipe(Effect.provide(serve(features(), options))))
  }

  it.scoped("reaches no task, which says so where it needs a service", () => {
    const tool = <R>(name: string, handler: Effect.Effect<string, never, R>) =>
      McpServer.tool(Tool.make(name, { task: "required" }), () => handler)
    const tasks = Layer.mergeAll(
      tool("whose", Tenant).pipe(Feature.provide(Tenant, HttpServices.get(Tenant))),
      tool("seen", Effect.tap(seen, (text) => Effect.sync(() => sessions.push(text)))),
      TasksServer.layer
    )
    const server = serve(tasks, { extensions: [TasksServer.extension] }).pipe(Layer.provide(TaskStore.layerMemory))
    return Effect.gen(function*() {
      sessions.splice(0)
      const post = yield* served
      const asTask = (name: string) =>
        Effect.flatMap(
          post(modern(name, { extensions: { [TasksServer.extension.id]: {} } }), modernHeaders(name)),
          (response) => Effect.promise(() => response.json() as Promise<any>)
        )
      const { error } = yield* asTask("whose")
      assert.strictEqual(
        error.message,
        "\"tools/call\" needs the service \"test/Tenant\": the call runs as a task, which goes on after its HTTP " +
          "request"
      )
      const { result } = yield* asTask("seen")
      assert.strictEqual(result.resultType, "task")
      yield* Effect.repeat(Effect.yieldNow(), { until: () => sessions.length > 0 })
      assert.deepStrictEqual(sessions, [unset])
    }).pipe(Effect.provide(server))
  })

  const called = Effect.flatMap(connect(), (peer) =>
    peer.request("tools/call", { name: "whose" }).pipe(
      Effect.map((id) => ({ id, peer }))
    ))

  it.scoped("is missing on another transport, which is an error in words", () =>
    Effect.gen(function*() {
      const { id, peer } = yield* called
      const message = "\"tools/call\" needs the service \"test/Tenant\": the message did not come in an HTTP request"
      assert.strictEqual((yield* peer.expectError(id)).message, message)
    }).pipe(Effect.provide(serve(features()))))

  it.scoped("may have another value there", () =>
    Effect.gen(function*() {
      const { id, peer } = yield* called
      assert.deepInclude(yield* peer.expectResult(id), { content: [{ type: "text", text: "nobody" }] })
    }).pipe(Effect.provide(serve(features(Effect.succeed("nobody"))))))

  it.scoped("reaches no session of a user, which outlives the request that opened it", () =>
    Effect.gen(function*() {
      sessions.splice(0)
      const post = yield* served
      const calling = (name: string) =>
        Effect.flatMap(post(modern(name), { ...modernHeaders(name), authorization: "ada" }), text)
      assert.strictEqual(yield* calling("seen"), set)
      assert.strictEqual(yield* calling("whose"), "acme")
      assert.deepStrictEqual(sessions, [unset])
    }).pipe(Effect.provide(serve(features(), { ...options, ...byHeader, lifetime: "user" }))))

  it.scoped("is not passed on to another node, where a service that is missing is an error in words", () =>
    Effect.gen(function*() {
      const { node } = yield* Cluster.make(serve(features()))
      const [one, two] = [yield* node, yield* node]
      const { session } = yield* one.http.open()
      const asking = (at: Cluster.Node, name: string) => {
        const exchange = new TestExchange("POST", "/mcp", { ...proper, ...session }, JSON.stringify(call(2, name)))
        Object.assign(exchange, { services: Context.make(Tenant, "acme") })
        at.endpoint.handle(exchange)
        return Effect.map(answered(exchange), ({ json }) => json as any)
      }
      assert.strictEqual((yield* asking(one, "whose")).result.content[0].text, "acme")
      const missing = yield* asking(two, "whose")
      assert.strictEqual(
        missing.error.message,
        "\"tools/call\" needs the service \"test/Tenant\": the application did not provide this service with the " +
          "HTTP request, or another node has passed the request on"
      )
      assert.strictEqual((yield* asking(two, "seen")).result.content[0].text, unset)
    }))
})
