import * as Client from "@effect-mcp/core/Client"
import type { ClientFeatures } from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { TransportError } from "@effect-mcp/core/LocalError"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Version from "@effect-mcp/core/protocol/Version"
import type { Registry } from "@effect-mcp/core/Registry"
import type { Options as ProxyOptions } from "@effect-mcp/proxy/Proxy"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import type * as TestTransport from "@effect-mcp/testing/TestTransport"
import { Chunk, Context, Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { untilSuspended } from "../../testing/test/support/Suspended.js"

type Versions = readonly [Version.Version, ...Array<Version.Version>]

export const legacy: Versions = ["2025-11-25"]
export const modern: Versions = ["2026-07-28"]

/** The revisions of the client of the proxy, and of the upstream. */
export const pairs: ReadonlyArray<readonly [name: string, client: Versions, upstream: Versions]> = [
  ["legacy to legacy", legacy, legacy],
  ["modern to modern", modern, modern],
  ["legacy to modern", legacy, modern],
  ["modern to legacy", modern, legacy]
]

export type Features = Layer.Layer<never, never, Registry>

export const server = (
  features: Features,
  options: McpServer.Options = {},
  name = "upstream",
  transport: TestTransport.Options = {}
): Effect.Effect<Connector.Connector, never, Scope.Scope> =>
  fromLayer(McpServer.layer({ name, version: "1.0.0" }, features, options), transport)

/** The connector of a server. */
export const fromLayer = (
  server: Layer.Layer<Dispatcher>,
  transport: TestTransport.Options = {}
): Effect.Effect<Connector.Connector, never, Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(server)
    return yield* Effect.provideService(TestServer.connector(transport), Dispatcher, Context.get(context, Dispatcher))
  })

export interface Options {
  readonly client?: Versions
  readonly upstream?: Versions
  readonly proxy?: ProxyOptions
  /** The application's own features. */
  readonly own?: Features
  readonly features?: Layer.Layer<never, never, ClientFeatures>
  readonly server?: McpServer.Options
  readonly transport?: TestTransport.Options
}

/** A client of a proxy in front of a server with these features. */
export const proxied = (features: Features, options: Options = {}) =>
  Effect.flatMap(
    server(features, { versions: options.upstream ?? legacy, ...options.server }, "upstream", options.transport),
    (upstream) => gateway(upstream, options)
  )

/** A client of a proxy in front of this server. */
export const gateway = (upstream: Connector.Connector, options: Options = {}) =>
  Effect.flatMap(
    entrance(upstream, options),
    (connector) =>
      Client.make(connector, { versions: options.client ?? legacy, features: options.features ?? Layer.empty })
  )

/** The connector of a proxy in front of this server. */
export const entrance = (upstream: Connector.Connector, options: Options = {}) =>
  server(
    Layer.merge(options.own ?? Layer.empty, Proxy.layer(upstream, { name: "up", ...options.proxy })),
    {},
    "gateway",
    options.transport
  )

export const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** The elements of the stream from now on. */
export const received = <A>(stream: Stream.Stream<A>): Effect.Effect<Queue.Dequeue<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<A>()
    const listening = yield* Effect.forkScoped(Stream.runForEach(stream, (one) => queue.offer(one)))
    yield* untilSuspended(listening)
    return queue
  })

/** A connector whose connections a test counts, ends and refuses. */
export const controlled = (connector: Connector.Connector) => {
  const open = new Set<Scope.CloseableScope>()
  const closed = Effect.runSync(Queue.unbounded<void>())
  const state = { count: 0, refuses: false, hangs: false }
  return {
    state,
    open,
    /** Has an element for each connection that was closed. */
    closed,
    /** Ends all connections, as a server that is killed. */
    kill: Effect.suspend(() => Effect.forEach([...open], (scope) => Scope.close(scope, Exit.void), { discard: true })),
    connector: Connector.make(
      connector.name,
      Effect.suspend(() => {
        state.count++
        if (state.hangs) return Effect.never
        return state.refuses
          ? Effect.fail(new TransportError({ reason: "Open", message: "secret path" }))
          : Effect.gen(function*() {
            const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
            open.add(own)
            yield* Scope.addFinalizer(own, Effect.sync(() => open.delete(own) && closed.unsafeOffer()))
            return yield* Scope.extend(connector.connect, own)
          })
      })
    )
  }
}
