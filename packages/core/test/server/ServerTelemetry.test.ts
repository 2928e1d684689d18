import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, Layer, Metric, Option, Schema, TestClock, Tracer } from "effect"
import { act, byHeader, call, connect, GreetLive, internalError, result, serve, until } from "./Serving.js"

/** A tracer that records its spans. */
const tracing = () => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind, options) => {
      const attributes = new Map(Object.entries(options?.attributes ?? {}))
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: (spans.length + 1).toString(16).padStart(16, "0"),
        traceId: Option.match(parent, { onNone: () => "1".padStart(32, "0"), onSome: ({ traceId }) => traceId }),
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (endTime, exit) => {
          ;(span as { status: Tracer.SpanStatus }).status = { _tag: "Ended", startTime, endTime, exit }
        },
        attribute: (key, value) => attributes.set(key, value),
        event: () => {},
        addLinks: () => {}
      }
      spans.push(span)
      return span
    },
    context: (f) => f()
  })
  return { spans, layer: Layer.setTracer(tracer) }
}

const traced = (features: Layer.Layer<never, never, never>) => {
  const { layer, spans } = tracing()
  return {
    spans,
    named: (name: string) => spans.filter((span) => span.name === name),
    server: serve(features).pipe(Layer.provide(ServerTelemetry.layer()), Layer.provide(layer))
  }
}

const attributesOf = (span: Tracer.Span | undefined) => Object.fromEntries(span!.attributes)

const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`

describe("Every message of a traced server", () => {
  it.scoped("is a span, with the names of the conventions", () => {
    const { named, server, spans } = traced(GreetLive as never)
    return Effect.gen(function*() {
      const peer = yield* connect()
      const id = yield* call(peer, "greet", { name: "Ada" })
      yield* peer.expectResult(id)
      assert.deepStrictEqual(spans.map(({ name }) => name), [
        "initialize",
        "notifications/initialized",
        "tools/call greet"
      ])
      assert.isTrue(spans.every(({ kind, status }) => kind === "server" && status._tag === "Ended"))
      assert.deepStrictEqual(attributesOf(named("tools/call greet")[0]), {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "jsonrpc.request.id": String(id),
        "gen_ai.tool.name": "greet",
        "gen_ai.operation.name": "execute_tool"
      })
    }).pipe(Effect.provide(server))
  })

  it.scoped("is a child of its sender's span, where `_meta` names one", () => {
    const { named, server } = traced(GreetLive as never)
    return Effect.gen(function*() {
      const peer = yield* connect()
      for (const _meta of [{ traceparent }, { traceparent: "00-zz" }, {}]) {
        yield* peer.expectResult(
          yield* peer.request("tools/call", { name: "greet", arguments: { name: "Ada" }, _meta })
        )
      }
      const parents = named("tools/call greet").map(({ parent }) => Option.getOrUndefined(parent))
      assert.deepInclude(parents[0], { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true })
      assert.deepStrictEqual(parents.slice(1), [undefined, undefined])
    }).pipe(Effect.provide(server))
  })

  it.scoped("is the parent of the spans of its handler", () => {
    const { named, server } = traced(act(Effect.withSpan(Effect.void, "inside")) as never)
    return Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "act")
      const [inside] = named("inside")
      assert.strictEqual(Option.getOrThrow(inside!.parent).spanId, named("tools/call act")[0]!.spanId)
    }).pipe(Effect.provide(server))
  })

  it.scoped("has no error where it asks the client, which sends the request again with the answer", () => {
    const { named, server } = traced(
      act(
        Effect.flatMap(
          ServerSession,
          (session) => Effect.orDie(session.elicit({ message: "Sure?", schema: Schema.Struct({}) }))
        )
      ) as never
    )
    return Effect.gen(function*() {
      const client = yield* Client.make(yield* TestServer.connector(), {
        features: TestFeatures.elicitation([{ action: "accept", content: {} }]),
        versions: ["2026-07-28"]
      })
      yield* client.callTool("act")
      const spans = named("tools/call act")
      assert.deepStrictEqual(spans.map(({ attributes }) => attributes.get("error.type")), [undefined, undefined])
    }).pipe(Effect.provide(server))
  })

  it.scoped("records a failure by its type, without its message", () => {
    const { named, server } = traced(Layer.mergeAll(
      GreetLive,
      act(Effect.dieMessage("secret"), "dies"),
      act(Effect.never, "waits")
    ) as never)
    return Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "greet", { name: 5 })
      assert.deepStrictEqual<unknown>(yield* result(peer, "dies"), internalError)
      yield* peer.expectError(yield* call(peer, "nobody"))
      yield* peer.expectError(yield* peer.request("made/up"))
      const waiting = yield* call(peer, "waits")
      yield* peer.notify("notifications/cancelled", { requestId: waiting })
      yield* until(() => named("tools/call waits")[0]?.status._tag === "Ended")
      const errorOf = (name: string) => attributesOf(named(name)[0])["error.type"]
      assert.strictEqual(errorOf("tools/call greet"), "tool_error")
      assert.strictEqual(errorOf("tools/call dies"), "_OTHER")
      assert.strictEqual(errorOf("tools/call nobody"), "-32602")
      assert.strictEqual(errorOf("tools/call waits"), "cancelled")
      assert.strictEqual(errorOf("_OTHER"), "-32601")
      assert.notInclude(JSON.stringify(named("tools/call dies").map(attributesOf)), "secret")
    }).pipe(Effect.provide(server))
  })
})

describe("The metrics of a server", () => {
  const count = (method: string, error?: string) => {
    const byMethod = Metric.tagged(ServerTelemetry.operationDuration, "mcp.method.name", method)
    return Effect.map(
      Metric.value(error === undefined ? byMethod : Metric.tagged(byMethod, "error.type", error)),
      (state) => ({ count: state.count, sum: state.sum })
    )
  }

  it.scoped("count messages by method and kind of error, in seconds", () => {
    const { server } = traced(Layer.mergeAll(GreetLive, act(Effect.sleep("3 seconds"), "slow")) as never)
    return Effect.gen(function*() {
      const before = yield* count("tools/call")
      const failed = yield* count("_OTHER", "-32601")
      const peer = yield* connect()
      const id = yield* call(peer, "slow")
      yield* TestClock.adjust("3 seconds")
      yield* peer.expectResult(id)
      yield* peer.expectError(yield* peer.request("made/up/1"))
      yield* peer.expectError(yield* peer.request("made/up/2"))
      const after = yield* count("tools/call")
      assert.deepStrictEqual(after, { count: before.count + 1, sum: before.sum + 3 })
      assert.strictEqual((yield* count("_OTHER", "-32601")).count, failed.count + 2)
    }).pipe(Effect.provide(server))
  })

  it.scoped("record how long a session lasted", () => {
    const { server } = traced(GreetLive as never)
    const lasted = Effect.map(Metric.value(ServerTelemetry.sessionDuration), ({ count, sum }) => ({ count, sum }))
    return Effect.gen(function*() {
      const before = yield* lasted
      const peer = yield* connect()
      yield* TestClock.adjust("90 seconds")
      yield* peer.hangUp
      yield* peer.expectEnd
      const after = yield* Effect.repeat(
        Effect.zipRight(Effect.yieldNow(), lasted),
        { until: ({ count }) => count > before.count }
      )
      assert.deepStrictEqual(after, { count: before.count + 1, sum: before.sum + 90 })
    }).pipe(Effect.provide(server))
  })
})

describe("A server without the layer", () => {
  it.scoped("makes no spans, whatever the tracer", () => {
    const { layer, spans } = tracing()
    return Effect.gen(function*() {
      const peer = yield* connect()
      yield* result(peer, "greet", { name: "Ada" })
      assert.deepStrictEqual(spans, [])
    }).pipe(Effect.provide(serve(GreetLive).pipe(Layer.provide(layer))))
  })
})

describe("Over HTTP, the span of a message", () => {
  const url = "http://localhost:3000/mcp"
  const ids = (span: Tracer.AnySpan) => ({ traceId: span.traceId, spanId: span.spanId })
  const ofHttp = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`

  /** The spans of one call. `_meta` and the header name spans of the caller where they are given. */
  const called = (options: ServerTelemetry.Options, meta: object, headers: Record<string, string>, user = false) => {
    const { layer, spans } = tracing()
    const server = serve(
      act(Effect.withSpan(Effect.void, "inside")) as never,
      user ? byHeader : {}
    ).pipe(Layer.provide(ServerTelemetry.layer(options)))
    return Effect.gen(function*() {
      const { handler } = yield* WebHandler.make()
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "act",
          arguments: {},
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            ...meta
          }
        }
      })
      const own = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "act" }
      yield* Effect.promise(() =>
        handler(
          new Request(url, {
            method: "POST",
            body,
            headers: {
              accept: "application/json, text/event-stream",
              "content-type": "application/json",
              ...own,
              ...headers
            }
          })
        )
      )
      const named = (name: string) => spans.find((span) => span.name === name)!
      return { http: named("http.server POST"), message: named("tools/call act"), inside: named("inside"), spans }
    }).pipe(Effect.scoped, Effect.provide(server), Effect.provide(layer))
  }
  const linked = ({ links }: Tracer.Span) => links.map(({ span }) => ids(span))
  const parentOf = ({ parent }: Tracer.Span) => Option.getOrUndefined(Option.map(parent, ids))
  const caller = { traceId: "a".repeat(32), spanId: "b".repeat(16) }

  it.effect("is below that of its sender, and links to that of the request", () =>
    Effect.gen(function*() {
      const { http, inside, message, spans } = yield* called({ newTrace: "never" }, { traceparent }, {
        traceparent: ofHttp
      })
      assert.deepStrictEqual(parentOf(message), caller)
      assert.deepStrictEqual(linked(message), [ids(http)])
      assert.deepStrictEqual(parentOf(http), { traceId: "c".repeat(32), spanId: "d".repeat(16) })
      assert.deepStrictEqual(parentOf(inside), ids(message))
      assert.isTrue(spans.every(({ status }) => status._tag === "Ended"))
      assert.deepInclude(attributesOf(http), { "http.response.status_code": 200 })
    }))

  it.effect("is below that of the request where `_meta` names none", () =>
    Effect.gen(function*() {
      for (const meta of [{}, { traceparent: "00-zz" }, { traceparent: ["a"] }]) {
        const { http, message } = yield* called({ newTrace: "never" }, meta, {})
        assert.deepStrictEqual(parentOf(message), ids(http))
        assert.deepStrictEqual(linked(message), [])
      }
    }))

  it.effect("begins a new trace for a caller without a user, with links to that of the caller", () =>
    Effect.gen(function*() {
      for (const options of [{}, { newTrace: "always" }] as const) {
        const { http, message } = yield* called(options, { traceparent }, { traceparent: ofHttp })
        assert.strictEqual(parentOf(http), undefined)
        assert.deepStrictEqual(linked(http), [{ traceId: "c".repeat(32), spanId: "d".repeat(16) }])
        assert.deepStrictEqual(parentOf(message), ids(http))
        assert.deepStrictEqual(linked(message), [caller])
      }
    }))

  it.effect("goes on with the trace of a user", () =>
    Effect.gen(function*() {
      const { http, message } = yield* called({}, { traceparent }, { traceparent: ofHttp, authorization: "ada" }, true)
      assert.deepStrictEqual(parentOf(message), caller)
      assert.deepStrictEqual(linked(message), [ids(http)])
      assert.strictEqual(http.traceId, "c".repeat(32))
    }))
})
