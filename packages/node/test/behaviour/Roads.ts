/**
 * The roads between a client and the server of the behaviours: each knows how to open a server at its end. What is asked
 * there, and what a road cannot do, is not known here.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Remote from "@effect-mcp/client/Remote"
import type { Options as RemoteOptions } from "@effect-mcp/client/RemoteOptions"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import type { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as EventStore from "@effect-mcp/server/EventStore"
import * as HttpEndpoint from "@effect-mcp/server/HttpEndpoint"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as TestServer from "@effect-mcp/testing/TestServer"
import type { Scope } from "effect"
import { Context, Effect, Exit, Layer, Schedule, Scope as Scopes } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cable } from "../Cable.js"
import { bundled, node, pidsOf, until } from "../Fixture.js"
import * as Server from "./Server.js"
import type { Told } from "./Told.js"
import { inMemory, someIn, Tell, toFile } from "./Told.js"

/** A server at the end of a road. */
export interface Served {
  readonly connector: Connector.Connector
  /** Where clients that are not ours find it, where they can. */
  readonly address?: Address | undefined
  readonly told: Told
  /** Ends the server, as its operator would. */
  readonly close: Effect.Effect<void>
  /** The processes that serve, where they are not this one. */
  readonly processes: () => ReadonlyArray<number>
  /** Another way to the same server, whose connections can be cut; where there are connections. */
  readonly cabled?: Effect.Effect<Cabled, never, Scope.Scope> | undefined
}

export type Address =
  | { readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly url: string; readonly transport: "http" | "sse" }

export interface Cabled {
  readonly connector: Connector.Connector
  readonly cut: Effect.Effect<void>
}

type Reached = Pick<Served, "connector" | "address" | "cabled">

export type Kind = "memory" | "direct" | "stdio" | "http" | "sse"

export interface Road {
  readonly name: string
  readonly kind: Kind
  /** The revision that its clients ask for. */
  readonly version: LegacyVersion
  /** Whether streams can be resumed. */
  readonly resumes: boolean
  /** What is needed once for all servers of the road; then a server, as often as wanted. */
  readonly open: Effect.Effect<Effect.Effect<Served, never, Scope.Scope>, never, Scope.Scope>
}

const road = (
  name: string,
  kind: Kind,
  open: Road["open"],
  { resumes = false, version = Version.latestLegacy }: Partial<Pick<Road, "version" | "resumes">> = {}
): Road => ({ name, kind, version, resumes, open })

/** The server in this process, below something that listens to it. */
const inThisProcess = <A, E, R>(
  reach: (server: Layer.Layer<Dispatcher>) => Layer.Layer<A, E>,
  connect: Effect.Effect<Reached, never, R>
): Effect.Effect<Served, never, Exclude<R, A> | Scope.Scope> =>
  Effect.gen(function*() {
    const told = yield* inMemory
    const scope = yield* Effect.acquireRelease(Scopes.make(), (scope) => Scopes.close(scope, Exit.void))
    const context = yield* Effect.orDie(Layer.buildWithScope(
      reach(Layer.provide(Server.layer, Layer.succeed(Tell, told.tell))),
      scope
    ))
    const reached = yield* Effect.provide(connect, context)
    return { ...reached, told, processes: () => [], close: Scopes.close(scope, Exit.void) }
  })

const memory = Effect.succeed(
  inThisProcess((server) => server, Effect.map(TestServer.connector(), (connector) => ({ connector })))
)

const direct = Effect.succeed(
  inThisProcess((server) => server, Effect.map(InProcess.connector, (connector) => ({ connector })))
)

/** What a server in another process tells. */
const inFile: Effect.Effect<Told & { readonly path: string }, never, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-told-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const path = join(folder, "told")
  yield* Effect.sync(() => writeFileSync(path, ""))
  const lines = () => readFileSync(path, "utf8").split("\n").slice(0, -1)
  return { path, tell: toFile(path), lines, until: (text) => until(() => someIn(lines(), text)) }
})

const stdio: Road["open"] = Effect.map(bundled("behaviourServer.ts"), (program) =>
  Effect.map(inFile, (told) => {
    const processes = () => pidsOf(told.path)
    const address = { command: node, args: [program, told.path] }
    return {
      address,
      connector: StdioClient.connector({
        ...address,
        stderr: "ignore",
        closeTimeouts: { grace: "1 minute" }
      }),
      told,
      processes,
      close: Effect.zipRight(
        Effect.sync(() => processes().forEach((pid) => process.kill(pid, "SIGTERM"))),
        until(() => processes().length === 0)
      )
    }
  }))

/** Clients that find their way back at once. */
const remote = (
  port: number,
  path: string,
  transport: RemoteOptions["transport"]
): Effect.Effect<Reached, never, HttpClient> =>
  Effect.map(Effect.context<HttpClient>(), (context) => {
    const to = (url: string) => {
      const { connect, name } = Remote.connector(url + path, { transport, reconnect: Schedule.spaced("10 millis") })
      return Connector.make(
        name,
        Effect.mapInputContext(connect, (own: Context.Context<Scope.Scope>) => Context.merge(context, own))
      )
    }
    const here = `http://127.0.0.1:${port}`
    return {
      address: { url: here + path, transport: transport === "sse" ? "sse" : "http" },
      connector: to(here),
      cabled: Effect.map(cable(port), ({ cut, url }) => ({ connector: to(url), cut }))
    }
  })

type Client = Layer.Layer<HttpClient>

const withClient = (
  client: Client,
  served: Effect.Effect<Served, never, HttpClient | Scope.Scope>
): Road["open"] =>
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
): Road["open"] =>
  withClient(
    client,
    inThisProcess(
      (server) =>
        HttpServer.layer({ port: 0, ssePath: "/sse", retry: "10 millis", ...options }).pipe(
          Layer.provide(server),
          Layer.provide(store)
        ),
      Effect.flatMap(
        HttpServer.HttpServer,
        ({ port }) => remote(port, transport === "sse" ? "/sse" : "/mcp", transport)
      )
    )
  )

const mounted = (client: Client): Road["open"] =>
  withClient(
    client,
    inThisProcess(
      (server) =>
        HttpEndpoint.serve({ retry: "10 millis" }).pipe(
          Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
          Layer.provide(EventStore.layerMemory()),
          Layer.provide(server)
        ),
      Effect.flatMap(
        PlatformServer.HttpServer,
        ({ address }) => remote(address._tag === "TcpAddress" ? address.port : 0, "/mcp", "streamable")
      )
    )
  )

export const roads: ReadonlyArray<Road> = [
  road("a wire in memory", "memory", memory),
  road("a wire in memory, in the words of 2024-11-05", "memory", memory, { version: "2024-11-05" }),
  road("no wire", "direct", direct),
  road("stdio", "stdio", stdio),
  road("Streamable HTTP", "http", listening(FetchHttpClient.layer, {}, Layer.empty)),
  road(
    "Streamable HTTP that always streams",
    "http",
    listening(NodeHttpClient.layerUndici, { responses: "stream" }, EventStore.layerMemory()),
    { resumes: true }
  ),
  road("Streamable HTTP on the platform's server", "http", mounted(NodeHttpClient.layer), { resumes: true }),
  road("HTTP+SSE", "sse", listening(FetchHttpClient.layer, {}, Layer.empty, "sse"))
]
