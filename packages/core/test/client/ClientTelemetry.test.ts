import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Baggage from "@effect-mcp/core/protocol/Baggage"
import * as Remote from "@effect-mcp/core/Remote"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import { Context, Effect, Fiber, Layer, Metric, Option, TestClock, Tracer } from "effect"
import { exchange, legacyClient } from "./Scripts.js"

const connected = Effect.provide(legacyClient(), ClientTelemetry.layer())

const taken = (method: string, error?: string) => {
  const byMethod = Metric.tagged(ClientTelemetry.operationDuration, "mcp.method.name", method)
  return Effect.map(
    Metric.value(error === undefined ? byMethod : Metric.tagged(byMethod, "error.type", error)),
    ({ count, sum }) => ({ count, sum })
  )
}

/** A tracer, and the spans that it has made. */
const recorder = Effect.map(Effect.tracer, (tracer) => {
  const spans: Array<Tracer.Span> = []
  const recording = Tracer.make({
    span: (...args) => {
      const span = tracer.span(...args)
      spans.push(span)
      return span
    },
    context: tracer.context
  })
  return { recording, spans }
})

// One after another: metrics are of the whole process.
describe("A call of a traced client", () => {
  it.scoped("sends its span to the server; it is a child of the caller's", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected
      const calling = Effect.flatMap(
        Effect.currentSpan,
        (span) =>
          Effect.map(
            exchange(server, client.ping({ meta: { mine: 1 } }), "ping", {}),
            ({ params }) => ({ params, span })
          )
      )
      const { params, span } = yield* Effect.withSpan(calling, "caller")
      const meta = params!._meta as { readonly traceparent: string; readonly mine: number }
      assert.strictEqual(meta.mine, 1)
      const [version, traceId, spanId] = meta.traceparent.split("-")
      assert.deepStrictEqual([version, traceId], ["00", span.traceId])
      assert.notStrictEqual(spanId, span.spanId)
    }))

  it.scoped("has a span with its method, its tool and its kind of error", () =>
    Effect.gen(function*() {
      const { recording, spans } = yield* recorder
      const { client, server } = yield* connected
      yield* Effect.withTracer(
        exchange(server, client.getPrompt("review"), "prompts/get", { messages: "none" }),
        recording
      )
      const refusing = yield* Effect.fork(Effect.withTracer(Effect.flip(client.callTool("echo")), recording))
      const { id } = yield* server.expectRequest("tools/call")
      yield* server.send(Message.failure(id, { code: 42, message: "no" }))
      yield* Fiber.join(refusing)
      assert.deepStrictEqual(spans.map(({ kind, name }) => [kind, name]), [
        ["client", "prompts/get review"],
        ["client", "tools/call echo"]
      ])
      assert.deepStrictEqual(spans.map(({ attributes }) => Object.fromEntries(attributes)), [
        {
          "mcp.method.name": "prompts/get",
          "mcp.protocol.version": "2025-11-25",
          "jsonrpc.request.id": "2",
          "gen_ai.prompt.name": "review"
        },
        {
          "mcp.method.name": "tools/call",
          "mcp.protocol.version": "2025-11-25",
          "gen_ai.tool.name": "echo",
          "gen_ai.operation.name": "execute_tool",
          "jsonrpc.request.id": "3",
          "error.type": "_OTHER",
          "rpc.response.status_code": "42"
        }
      ])
      for (const { status } of spans) assert.strictEqual(status._tag, "Ended")
    }))

  it.scoped("is measured, in seconds, by method and kind of error", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected
      const [before, refused] = [yield* taken("ping"), yield* taken("tools/call", "-32602")]
      const ping = yield* Effect.fork(client.ping())
      const { id } = yield* server.expectRequest("ping")
      yield* TestClock.adjust("2 seconds")
      yield* server.send(Message.success(id, {}))
      yield* Fiber.join(ping)
      const call = yield* Effect.fork(Effect.exit(client.callTool("nobody")))
      const request = yield* server.expectRequest("tools/call")
      yield* server.send(Message.failure(request.id, { code: -32602, message: "Unknown tool" }))
      yield* Fiber.join(call)
      assert.deepStrictEqual(yield* taken("ping"), { count: before.count + 1, sum: before.sum + 2 })
      assert.strictEqual((yield* taken("tools/call", "-32602")).count, refused.count + 1)
    }))

  it.scoped("that is interrupted is counted as cancelled, and a tool's failure as a tool error", () =>
    Effect.gen(function*() {
      const { client, server } = yield* connected
      const [cancelled, failed] = [yield* taken("tools/call", "cancelled"), yield* taken("tools/call", "tool_error")]
      const call = yield* Effect.fork(client.callTool("slow"))
      yield* server.expectRequest("tools/call")
      yield* Fiber.interrupt(call)
      yield* server.expectNotification("notifications/cancelled")
      yield* exchange(server, client.callTool("fails"), "tools/call", { content: [], isError: true })
      assert.strictEqual((yield* taken("tools/call", "cancelled")).count, cancelled.count + 1)
      assert.strictEqual((yield* taken("tools/call", "tool_error")).count, failed.count + 1)
    }))
})

describe("Baggage and `tracestate`", () => {
  /** What the server gets beside the span. */
  const sent = (options: ClientTelemetry.Options) =>
    Effect.gen(function*() {
      const { client, server } = yield* Effect.provide(legacyClient(), ClientTelemetry.layer(options))
      const above = {
        ...Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16), context: Context.empty() }),
        tracestate: "rojo=1,congo=2"
      }
      const calling = Baggage.withEntries(client.ping({ meta: { traceparent: "mine" } }), {
        tenant: "acme",
        secret: "s"
      })
      const { params } = yield* exchange(server, Effect.withParentSpan(calling, above), "ping", {})
      const { traceparent, ...rest } = params!._meta as Record<string, string>
      assert.include(traceparent!, "a".repeat(32))
      return rest
    })
  it.scoped("leave for no server that the application does not name", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent({}), {})
      assert.deepStrictEqual(yield* sent({ baggage: {}, tracestate: {} }), {})
      const servers = ["https://example.com"]
      assert.deepStrictEqual(yield* sent({ baggage: { servers }, tracestate: { keys: ["rojo"], servers } }), {})
    }))

  it.scoped("leave with the keys that the application names", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent({ baggage: { keys: ["tenant", "other"] }, tracestate: { keys: ["congo"] } }), {
        baggage: "tenant=acme",
        tracestate: "congo=2"
      })
    }))

  it.scoped("leave whole for a server that the application names", () =>
    Effect.gen(function*() {
      const named = { servers: ["a scripted server"] }
      const all = yield* sent({ baggage: named, tracestate: named })
      assert.deepStrictEqual(all, { baggage: "tenant=acme,secret=s", tracestate: "rojo=1,congo=2" })
    }))
})

describe("A traced client over HTTP", () => {
  it.scopedLive("has the span of each request of HTTP below the span of the call or notification that it sends, in both eras", () =>
    Effect.gen(function*() {
      for (const version of ["2025-11-25", "2026-07-28"] as const) {
        const { recording, spans } = yield* recorder
        const Server = McpServer.layer({ name: "traced", version: "1.0.0" }, Layer.empty)
        const { handler } = yield* Effect.provide(WebHandler.make(), yield* Layer.build(Server))
        const http = FetchHttpClient.layer.pipe(
          Layer.provide(Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init))))
        )
        const client = Client.make(Remote.connector("http://localhost/mcp"), { versions: [version] })
        yield* Effect.scoped(Effect.flatMap(client, (client) => client.ping())).pipe(
          Effect.provide([http, ClientTelemetry.layer()]),
          Effect.withTracer(recording)
        )
        const above = spans.filter(({ name }) => name.endsWith("POST")).map(({ parent }) =>
          Option.getOrUndefined(parent) as Tracer.Span | undefined
        )
        const sent = version === "2025-11-25"
          ? ["initialize", "notifications/initialized", "ping"]
          : ["server/discover"]
        assert.includeMembers(above.map((span) => span?.name), sent)
        assert.isTrue(above.every((span) => span?.kind === "client"))
      }
    }))
})

describe("A session of a traced client", () => {
  it.effect("is measured when it ends, in seconds", () =>
    Effect.gen(function*() {
      const lasted = Effect.map(Metric.value(ClientTelemetry.sessionDuration), ({ count, sum }) => ({ count, sum }))
      const before = yield* lasted
      yield* Effect.scoped(Effect.zipRight(connected, TestClock.adjust("90 seconds")))
      assert.deepStrictEqual(yield* lasted, { count: before.count + 1, sum: before.sum + 90 })
    }))
})

describe("A client that is not traced", () => {
  it.scoped("sends no span", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient()
      const { params } = yield* Effect.withSpan(exchange(server, client.ping(), "ping", {}), "caller")
      assert.isUndefined(params)
    }))
})
