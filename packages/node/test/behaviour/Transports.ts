/**
 * The transports between a client and the server of the behaviours. Each knows how to start a server and to connect to it;
 * none knows the behaviours.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Connector from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Options as RemoteOptions } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Exit, Layer, Schedule, type Scope, Scope as Scopes } from "effect"
import { setMaxListeners } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundled, node, until } from "../Fixture.js"
import { pidsOf } from "../Processes.js"
import { createServer, listening as listeningWith, patient } from "../Shells.js"
import { tcpProxy } from "../TcpProxy.js"
import { inMemory, Report, type Reports, someIn, toFile } from "./Reports.js"
import * as Server from "./Server.js"

/** A running server. */
export interface Served {
  readonly connector: Connector.Connector
  /** The address for other clients; `undefined` when they cannot reach the server. */
  readonly address?: Address | undefined
  readonly reports: Reports
  /** Shuts the server down. */
  readonly close: Effect.Effect<void>
  /** The processes of the server; none when it runs in this one. */
  readonly processes: () => ReadonlyArray<number>
  /** Connects through a proxy that can cut the connections; only for HTTP. */
  readonly proxied?: Effect.Effect<Proxied, never, Scope.Scope> | undefined
}

export type Address =
  | { readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly url: string; readonly transport: "http" | "sse" }

export interface Proxied {
  readonly connector: Connector.Connector
  readonly cut: Effect.Effect<void>
}

type Reached = Pick<Served, "connector" | "address" | "proxied">

export type Kind = "memory" | "direct" | "stdio" | "http" | "sse"

export interface TestedTransport {
  readonly name: string
  readonly kind: Kind
  /** The revision that its clients request. */
  readonly version: Version.Version
  /** Whether streams can be resumed. */
  readonly resumes: boolean
  /** Whether the server remembers a client from one request to the next. */
  readonly sessions: boolean
  /**
   * Whether all requests of a client find what a handler has added to the server. Not so on several nodes without sessions: what
   * a handler adds is at its node, and an application adds the same to each node.
   */
  readonly keeps: boolean
  /** Opens the resources that all servers of the transport share; the inner effect starts a server. */
  readonly open: Effect.Effect<Effect.Effect<Served, never, Scope.Scope>, never, Scope.Scope>
}

export const tested = (
  name: string,
  kind: Kind,
  open: TestedTransport["open"],
  { keeps = true, resumes = false, sessions = true, version = Version.latestLegacy }: Partial<
    Pick<TestedTransport, "version" | "resumes" | "sessions" | "keeps">
  > = {}
): TestedTransport => ({ name, kind, version, resumes, sessions, keeps, open })

/** A server in this process. */
const inThisProcess = <A, E, R>(
  reach: (server: Layer.Layer<Dispatcher>) => Layer.Layer<A, E>,
  connect: Effect.Effect<Reached, never, R>
): Effect.Effect<Served, never, Exclude<R, A> | Scope.Scope> =>
  Effect.gen(function*() {
    const reports = yield* inMemory
    const scope = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
    const context = yield* Effect.orDie(Layer.buildWithScope(
      reach(Layer.provide(Server.layer, Layer.succeed(Report, reports.report))),
      scope
    ))
    const reached = yield* Effect.provide(connect, context)
    return { ...reached, reports, processes: () => [], close: Scopes.close(scope, Exit.void) }
  })

const memory = Effect.succeed(
  inThisProcess((server) => server, Effect.map(TestServer.connector(), (connector) => ({ connector })))
)

const direct = Effect.succeed(
  inThisProcess((server) => server, Effect.map(InProcess.connector, (connector) => ({ connector })))
)

/** The reports of a server in another process. */
const inFile: Effect.Effect<Reports & { readonly path: string }, never, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-reports-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const path = join(folder, "reports")
  yield* Effect.sync(() => writeFileSync(path, ""))
  const lines = () => readFileSync(path, "utf8").split("\n").slice(0, -1)
  return { path, report: toFile(path), lines, until: (text) => until(() => someIn(lines(), text)) }
})

const stdio: TestedTransport["open"] = Effect.map(
  bundled("behaviourServer.ts"),
  (program) =>
    Effect.map(inFile, (reports) => {
      const processes = () => pidsOf(reports.path)
      const address = { command: node, args: [program, reports.path] }
      return {
        address,
        connector: StdioClient.connector({
          ...address,
          stderr: "ignore",
          closeTimeouts: { grace: "1 minute" }
        }),
        reports,
        processes,
        close: Effect.zipRight(
          Effect.sync(() => processes().forEach((pid) => process.kill(pid, "SIGTERM"))),
          until(() => processes().length === 0)
        )
      }
    })
)

/** A connector to a URL with an HTTP client. It reconnects quickly. */
export const connector = (
  url: string,
  client: Context.Context<HttpClient>,
  transport: RemoteOptions["transport"] = "streamable"
): Connector.Connector => {
  const { connect, name } = Remote.connector(url, { transport, reconnect: Schedule.spaced("10 millis") })
  return Connector.make(
    name,
    Effect.mapInputContext(connect, (own: Context.Context<Scope.Scope>) => Context.merge(client, own))
  )
}

/** Connectors for a server on a port. */
const remote = (
  port: number,
  path: string,
  transport: RemoteOptions["transport"]
): Effect.Effect<Reached, never, HttpClient> =>
  Effect.map(Effect.context<HttpClient>(), (context) => {
    const to = (url: string) => connector(url + path, context, transport)
    const here = `http://127.0.0.1:${port}`
    return {
      address: { url: here + path, transport: transport === "sse" ? "sse" : "http" },
      connector: to(here),
      proxied: Effect.map(tcpProxy(port), ({ cut, url }) => ({ connector: to(url), cut }))
    }
  })

type Client = Layer.Layer<HttpClient>

const withClient = (
  client: Client,
  served: Effect.Effect<Served, never, HttpClient | Scope.Scope>
): TestedTransport["open"] =>
  Effect.map(Layer.build(client), (context) =>
    Effect.mapInputContext(
      served,
      (own: Context.Context<Scope.Scope>) => Context.merge(context, own)
    ))

const listening = (
  client: Client,
  options: Partial<HttpServer.Options>,
  store: Layer.Layer<EventStore.EventStore> | Layer.Layer<never>,
  transport: "streamable" | "sse" = "streamable"
): TestedTransport["open"] =>
  withClient(
    client,
    inThisProcess(
      (server) =>
        HttpServer.layer({ port: 0, node: patient, legacy: { ssePath: "/sse", retry: "10 millis" }, ...options }).pipe(
          Layer.provide(server),
          Layer.provide(store)
        ),
      Effect.flatMap(
        HttpServer.HttpServer,
        ({ port }) => remote(port, transport === "sse" ? "/sse" : "/mcp", transport)
      )
    )
  )

const mounted = (client: Client): TestedTransport["open"] =>
  withClient(
    client,
    inThisProcess(
      (server) =>
        HttpEndpoint.layerWith({ legacy: { retry: "10 millis" } }).pipe(
          Layer.provideMerge(PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
          Layer.provide(EventStore.layerMemory),
          Layer.provide(server)
        ),
      Effect.flatMap(
        PlatformServer.HttpServer,
        ({ address }) => remote(address._tag === "TcpAddress" ? address.port : 0, "/mcp", "streamable")
      )
    )
  )

/** A web handler on an HTTP server for such handlers. */
const adapted = (client: Client): TestedTransport["open"] =>
  withClient(
    client,
    inThisProcess(
      (server) =>
        Layer.scoped(Port, listeningWith(WebHandler.make({ legacy: { retry: "10 millis" } }))).pipe(
          Layer.provide(EventStore.layerMemory),
          Layer.provide(server)
        ),
      Effect.flatMap(Port, (port) => remote(port, "/mcp", "streamable"))
    )
  )

class Port extends Context.Tag("test/behaviour/Port")<Port, number>() {}

/** A client that calls the handler in this process, over connections that can be cut. */
const calling = (handler: WebHandler.Handler): Effect.Effect<Proxied, never, Scope.Scope> =>
  Effect.gen(function*() {
    const connect = () => {
      const connections = new AbortController()
      setMaxListeners(0, connections.signal)
      return connections
    }
    let connections = connect()
    const fetch = (input: RequestInfo | URL, init?: RequestInit) => {
      const { signal } = connections
      const request = new Request(input, {
        ...init,
        signal: AbortSignal.any([signal, ...init?.signal ? [init.signal] : []])
      })
      const cut = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      return Promise.race([handler(request), cut]).then((response) =>
        new Response(response.body?.pipeThrough(new TransformStream(), { signal }), response)
      )
    }
    const client = yield* Layer.build(
      Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
    )
    return {
      connector: connector("http://localhost/mcp", client),
      cut: Effect.sync(() => {
        connections.abort()
        connections = connect()
      })
    }
  })

class InThisProcess extends Context.Tag("test/behaviour/InThisProcess")<InThisProcess, WebHandler.Handler>() {}

/** A handler that cannot be reached once it has closed. */
const untilClosed = <R>(make: Effect.Effect<WebHandler.WebHandlerService, never, R>) =>
  Effect.gen(function*() {
    const closed = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => closed.abort()))
    const { handler } = yield* make
    return (request: Request) =>
      closed.signal.aborted ? Promise.reject(new TypeError("fetch failed")) : handler(request)
  })

const called = (options: HttpOptions): TestedTransport["open"] =>
  Effect.succeed(inThisProcess(
    (server) => Layer.provide(Layer.scoped(InThisProcess, untilClosed(WebHandler.make(options))), server),
    Effect.gen(function*() {
      const handler = yield* InThisProcess
      const { connector } = yield* calling(handler)
      return { connector, proxied: calling(handler) }
    })
  ))

export const transports: ReadonlyArray<TestedTransport> = [
  tested("a pair in memory", "memory", memory),
  tested("a pair in memory, at revision 2024-11-05", "memory", memory, { version: "2024-11-05" }),
  tested("no transport, in process", "direct", direct),
  tested("stdio", "stdio", stdio),
  tested("Streamable HTTP", "http", listening(FetchHttpClient.layer, {}, Layer.empty)),
  tested(
    "Streamable HTTP that always streams",
    "http",
    listening(NodeHttpClient.layerUndici, { responses: "stream" }, EventStore.layerMemory),
    { resumes: true }
  ),
  tested(
    "Streamable HTTP without sessions",
    "http",
    listening(FetchHttpClient.layer, { legacy: { sessions: false } }, Layer.empty),
    { sessions: false }
  ),
  tested("Streamable HTTP on the platform's server", "http", mounted(NodeHttpClient.layer), { resumes: true }),
  tested("a web handler in process", "http", called({})),
  tested("a web handler in process, without sessions", "http", called({ legacy: { sessions: false } }), {
    sessions: false
  }),
  tested("a web handler on an HTTP server", "http", adapted(FetchHttpClient.layer), { resumes: true }),
  tested("HTTP+SSE", "sse", listening(FetchHttpClient.layer, {}, Layer.empty, "sse")),
  ...([
    ["a pair in memory", "memory", memory],
    ["no transport, in process", "direct", direct],
    ["stdio", "stdio", stdio],
    ["Streamable HTTP", "http", listening(FetchHttpClient.layer, {}, Layer.empty)],
    [
      "Streamable HTTP that always streams",
      "http",
      listening(NodeHttpClient.layerUndici, { responses: "stream" }, Layer.empty)
    ],
    ["Streamable HTTP on the platform's server", "http", mounted(NodeHttpClient.layer)],
    ["a web handler in process", "http", called({})],
    ["a web handler on an HTTP server", "http", adapted(NodeHttpClient.layerUndici)]
  ] as const).map(([name, kind, open]) =>
    tested(`${name}, at revision ${Version.latestModern}`, kind, open, { version: Version.latestModern })
  )
]
