/**
 * Three nodes of the server of the behaviours as one transport: each request of a client goes to the next node, and each node
 * has another HTTP shell. What the nodes share is in memory here; other packages run the suite over their stores.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as SealKeys from "@effect-mcp/core/SealKeys"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { shells } from "../Shells.js"
import { tcpProxy } from "../TcpProxy.js"
import { inMemory, Report } from "./Reports.js"
import * as Server from "./Server.js"
import { connector, tested, type TestedTransport } from "./Transports.js"

export type Shared =
  | ChangeBus.ChangeBus
  | EventStore.EventStore
  | Inbox.Inbox
  | SealKeys.SealKeys
  | SessionDirectory.SessionDirectory

/** What the nodes of one server share; the inner effect opens it for one node. */
export type Sharing = Effect.Effect<Effect.Effect<Context.Context<Shared>, never, Scope.Scope>, never, Scope.Scope>

/** A store of several servers, until the scope closes. */
export type Store = Effect.Effect<Sharing, never, Scope.Scope>

const memory: Store = Effect.succeed(Effect.map(
  Layer.build(Layer.mergeAll(
    ChangeBus.layerMemory,
    EventStore.layerMemory,
    Inbox.layerMemory,
    SealKeys.layerMemory,
    SessionDirectory.layerMemory
  )),
  Effect.succeed
))

/** Connects to the next of these ports with each request. */
const spread = (ports: ReadonlyArray<number>, client: HttpClient.HttpClient, transport: "streamable" | "sse") => {
  let requests = 0
  return connector(
    `http://127.0.0.1:${ports[0]}${transport === "sse" ? "/sse" : "/mcp"}`,
    Context.make(
      HttpClient.HttpClient,
      HttpClient.mapRequest(client, (request) => {
        const url = new URL(request.url)
        url.port = `${ports[requests++ % ports.length]}`
        return HttpClientRequest.setUrl(request, url.href)
      })
    ),
    transport
  )
}

const open = (store: Store, transport: "streamable" | "sse" = "streamable"): TestedTransport["open"] =>
  Effect.zipWith(Layer.build(FetchHttpClient.layer), store, (context, sharing) =>
    Effect.gen(function*() {
      const client = Context.get(context, HttpClient.HttpClient)
      const reports = yield* inMemory
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const ports = yield* Scope.extend(
        Effect.gen(function*() {
          const share = yield* sharing
          const state = yield* Layer.build(Server.state)
          return yield* Effect.forEach(Object.values(shells), (shell) =>
            Effect.gen(function*() {
              const all = Context.merge(yield* share, Context.add(state, Report, reports.report))
              const dispatcher = yield* Effect.provide(Layer.build(Server.node), all)
              return yield* Effect.provide(
                shell({ drainTimeout: 0, legacy: { ssePath: "/sse", retry: "10 millis" } }),
                Context.merge(all, dispatcher)
              )
            }))
        }),
        scope
      )
      return {
        connector: spread(ports, client, transport),
        proxied: Effect.map(Effect.forEach(ports, tcpProxy), (proxies) => ({
          connector: spread(proxies.map(({ url }) => Number(new URL(url).port)), client, transport),
          cut: Effect.forEach(proxies, ({ cut }) => cut, { discard: true })
        })),
        reports,
        processes: () => [],
        close: Scope.close(scope, Exit.void)
      }
    }))

type HttpVersion = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28"

/** Three nodes, with clients of each of these revisions; those of 2024-11-05 over HTTP+SSE, or over Streamable HTTP. */
export const nodes = (
  place: string,
  store: Store,
  versions: ReadonlyArray<HttpVersion>,
  oldest: "sse" | "streamable" = "sse"
): ReadonlyArray<TestedTransport> =>
  versions.map((version) => {
    const name = `three nodes that share ${place}, at revision ${version}`
    if (version === "2024-11-05" && oldest === "sse") return tested(name, "sse", open(store, "sse"), { version })
    const isModern = Version.isModern(version)
    return tested(name, "http", open(store), { version, resumes: !isModern, keeps: !isModern })
  })

export const inOneProcess = nodes("memory", memory, [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28"
])
