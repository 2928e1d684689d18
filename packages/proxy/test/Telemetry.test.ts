import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as ServerTelemetry from "@effect-mcp/core/ServerTelemetry"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Context, Deferred, Effect, Layer, Option, Schema, Tracer } from "effect"
import { type Features, fromLayer, pairs, server } from "./Setting.js"

const claimed = { traceId: "a".repeat(32), spanId: "b".repeat(16) }
const meta = {
  traceparent: `00-${claimed.traceId}-${claimed.spanId}-01`,
  tracestate: "vendor=1",
  baggage: "tenant=acme"
}

/** A tracer that records its spans. */
const tracing = () => {
  const spans: Array<Tracer.Span> = []
  const hex = (length: number) => (spans.length + 1).toString(16).padStart(length, "0")
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: hex(16),
        traceId: Option.match(parent, { onNone: () => hex(32), onSome: ({ traceId }) => traceId }),
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes: new Map(),
        links,
        sampled: true,
        kind,
        end: () => {},
        attribute: () => {},
        event: () => {},
        addLinks: () => {}
      }
      spans.push(span)
      return span
    },
    context: (f) => f()
  })
  return { named: (name: string) => spans.find((span) => span.name === name), layer: Layer.setTracer(tracer) }
}

class User extends Context.Tag("test/User")<User, string>() {}

const authenticator = Authenticator.make(User, {
  id: (name) => name,
  http: ({ headers }) =>
    headers.authorization === undefined ? Effect.fail(HttpRefusal.unauthorized("Bearer")) : Effect.succeed("ada")
})

const traceOf = ({ baggage, traceparent, tracestate }: Readonly<Record<string, unknown>>) => ({
  traceparent,
  tracestate,
  baggage
})

/** What an upstream reads of the trace in a call that a client has sent to the proxy over HTTP. */
const overHttp = (options: ServerTelemetry.Options | undefined, user = false) =>
  Effect.gen(function*() {
    const seen = yield* Deferred.make<object>()
    const look = McpServer.tool(Tool.make("look"), () =>
      Effect.flatMap(RequestContext, ({ meta }) => Effect.asVoid(Deferred.succeed(seen, traceOf(meta)))))
    const upstream = yield* server(look, { versions: ["2026-07-28"] })
    const { layer, named } = tracing()
    const proxy = Proxy.layer(upstream, { name: "up" }) as Features
    const gateway = McpServer.layer({ name: "gateway", version: "1.0.0" }, proxy, user ? { authenticator } : {}).pipe(
      Layer.provide(options === undefined ? Layer.empty : ServerTelemetry.layer(options)),
      Layer.provide(layer)
    )
    yield* Effect.gen(function*() {
      const { handler } = yield* WebHandler.make()
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        ...meta
      }
      const params = { name: "look", arguments: {}, _meta }
      yield* Effect.promise(() =>
        handler(
          new Request("http://localhost:3000/mcp", {
            method: "POST",
            body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
            headers: {
              accept: "application/json, text/event-stream",
              "content-type": "application/json",
              "mcp-protocol-version": "2026-07-28",
              "mcp-method": "tools/call",
              "mcp-name": "look",
              ...(user ? { authorization: "Bearer ada" } : undefined)
            }
          })
        )
      )
    }).pipe(Effect.scoped, Effect.provide(gateway))
    return { seen: yield* Deferred.await(seen), span: named("tools/call look") }
  })

const of = (span: Tracer.AnySpan | undefined) => ({
  traceparent: `00-${span?.traceId}-${span?.spanId}-01`,
  tracestate: undefined,
  baggage: undefined
})

describe("The trace that an upstream reads", () => {
  it.scoped("is that of the proxy, where the proxy has begun a new trace for a caller without a user", () =>
    Effect.gen(function*() {
      for (const options of [{}, { newTrace: "always" }] as const) {
        const { seen, span } = yield* overHttp(options)
        assert.notStrictEqual(span?.traceId, claimed.traceId)
        assert.deepStrictEqual(seen, of(span))
      }
    }))

  it.scoped("is that of the caller, below the span of the proxy, where the proxy goes on with the trace", () =>
    Effect.gen(function*() {
      for (const called of [overHttp({ newTrace: "never" }), overHttp({}, true)]) {
        const { seen, span } = yield* called
        assert.strictEqual(span?.traceId, claimed.traceId)
        assert.notStrictEqual(span?.spanId, claimed.spanId)
        assert.deepStrictEqual(seen, of(span))
      }
    }))

  it.scoped("is that of the caller, where the proxy makes no spans", () =>
    Effect.gen(function*() {
      const { seen } = yield* overHttp(undefined)
      assert.deepStrictEqual(seen, { traceparent: meta.traceparent, tracestate: undefined, baggage: undefined })
    }))

  for (const [name, client, upstream] of pairs) {
    it.scoped(`is below the span of the proxy in notifications of an extension, too (${name})`, () =>
      Effect.gen(function*() {
        const Stock = Extension.make("com.example/stock", {
          settings: { client: Schema.Struct({}), server: Schema.Struct({}) },
          notifications: {
            sold: Extension.notification("notifications/stock/sold", {
              from: "client",
              params: Schema.Struct({ item: Schema.String })
            })
          }
        })
        const extensions = [Stock]
        const seen = yield* Deferred.make<object>()
        const Sold = MethodHandler.notification(
          Stock.notifications.sold,
          () => Effect.flatMap(RequestContext, ({ meta }) => Effect.asVoid(Deferred.succeed(seen, traceOf(meta))))
        )
        const { layer, named } = tracing()
        const connector = yield* fromLayer(
          McpServer.layer({ name: "upstream", version: "1.0.0" }, Sold as Features, { versions: upstream, extensions })
        )
        const gateway = yield* fromLayer(
          McpServer.layer(
            { name: "gateway", version: "1.0.0" },
            Proxy.layer(connector, { name: "up", client: { extensions } }) as Features,
            { extensions }
          ).pipe(Layer.provide(ServerTelemetry.layer()), Layer.provide(layer))
        )
        const session = yield* Client.make(gateway, { versions: client, extensions })
        yield* session.notify("notifications/stock/sold", { item: "tea", _meta: meta })
        assert.deepStrictEqual(yield* Deferred.await(seen), of(named("_OTHER")))
      }))
  }
})
