/**
 * The laws of three nodes of a server that share their services: clients whose every request goes to another node see the same as with
 * one node. The test has the engine of the services and the HTTP servers of the nodes.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Ask from "@effect-mcp/core/Ask"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Law from "@effect-mcp/testing/Law"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

export interface Node {
  readonly port: number
  /** How many sessions it serves. */
  readonly sessions: () => number
  /** Its list of tools has changed. */
  readonly changed: Effect.Effect<void>
  /** Shuts it down. */
  readonly leave: Effect.Effect<void>
}

type Nodes = readonly [Node, Node, Node]

const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const

type Version = typeof versions[number]

const text = { success: Schema.String }

/** Where the nodes serve HTTP+SSE. */
export const SSE_PATH = "/sse"

/** The tools of each node. */
export const features = Layer.mergeAll(
  McpServer.tool(
    Tool.make("greet", { parameters: { name: Schema.String }, ...text }),
    ({ name }) => Effect.succeed(`Hello, ${name}!`)
  ),
  McpServer.tool(Tool.make("count", text), () =>
    Effect.gen(function*() {
      const { progress } = yield* RequestContext
      for (let n = 1; n <= 20; n++) yield* progress(n)
      return "20"
    })),
  McpServer.tool(Tool.make("sure", text), () =>
    Effect.gen(function*() {
      const { ask } = yield* ServerSession
      return JSON.stringify(yield* Effect.orDie(ask({ sure: Ask.confirm("Sure?") })))
    }))
)

/** A client whose every request goes to the next node. */
export const client = (nodes: ReadonlyArray<Pick<Node, "port">>, version: Version) => {
  let requests = 0
  const spread = HttpClient.mapRequest((request: HttpClientRequest.HttpClientRequest) => {
    const url = new URL(request.url)
    url.port = `${nodes[requests++ % nodes.length]!.port}`
    return HttpClientRequest.setUrl(request, url.href)
  })
  const http = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, spread))
  const connector = version === "2024-11-05"
    ? Remote.connector(`http://127.0.0.1${SSE_PATH}`, { transport: "sse" })
    : Remote.connector("http://127.0.0.1/mcp")
  return Client.make(connector, {
    versions: [version],
    features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { confirmed: true } }))
  }).pipe(Effect.provide(Layer.provide(http, FetchHttpClient.layer)))
}

/** Greets through the nodes, so many times. */
export const greet = (
  one: Effect.Effect.Success<ReturnType<typeof client>>,
  times: number,
  expect: Law.Expect
) =>
  Effect.forEach(
    Array.from({ length: times }),
    (_, n) =>
      Effect.flatMap(one.callTool("greet", { name: `${n}` }), ({ content }) =>
        expect(textOf(content) === `Hello, ${n}!`, `the answer to greeting ${n} is ${JSON.stringify(content)}`)),
    {
      discard: true
    }
  )

const textOf = ([first]: ReadonlyArray<unknown>) =>
  typeof first === "object" && first !== null && "text" in first ? first.text : undefined

const sure = (one: Effect.Effect.Success<ReturnType<typeof client>>, expect: Law.Expect) =>
  Effect.flatMap(
    one.callTool("sure"),
    ({ content }) =>
      expect(textOf(content) === `{"sure":true}`, `the answer of the user came as ${JSON.stringify(content)}`)
  )

/** Whether a server of the revision may ask the user. */
const asks = (version: Version) => version !== "2024-11-05" && version !== "2025-03-26"

const served = (version: Version) =>
  Law.make<Nodes>(
    `serve a client whose requests arrive at any of them, at ${version}`,
    (nodes, expect) =>
      Effect.gen(function*() {
        const one = yield* client(nodes, version)
        const changes = yield* Effect.fork(Stream.runHead(one.listChanges))
        yield* one.awaitSubscription
        yield* greet(one, 12, expect)
        const progress: Array<number> = []
        yield* one.callTool("count", {}, { onProgress: ({ progress: n }) => Effect.sync(() => progress.push(n)) })
        yield* expect(
          progress.at(-1) === 20 && progress.every((n, at) => at === 0 || progress[at - 1]! < n),
          `the progress came as ${progress.join()}`
        )
        if (asks(version)) yield* sure(one, expect)
        yield* nodes[2].changed
        yield* Fiber.join(changes)
      })
  )

const kept = (version: Version) =>
  Law.make<Nodes>(
    `keep the session of a client when one of them shuts down, at ${version}`,
    (three, expect) =>
      Effect.gen(function*() {
        const nodes: Array<Node> = [...three]
        const one = yield* client(nodes, version)
        const owner = nodes.findIndex(({ sessions }) => sessions() === 1)
        yield* nodes[owner]!.leave
        nodes.splice(owner, 1)
        yield* greet(one, 6, expect)
        if (asks(version)) yield* sure(one, expect)
        const sessions = nodes.reduce((all, { sessions }) => all + sessions(), 0)
        yield* expect(sessions === 1, `the nodes serve ${sessions} sessions`)
      })
  )

const notified = Law.make<Nodes>(
  "notify the clients of all of them, in every revision, of a change at any of them, once each",
  (nodes, expect) =>
    Effect.gen(function*() {
      const heard = yield* Effect.forEach(
        versions.flatMap((version) =>
          nodes.map((node, at) => ({ name: `of node ${at}, at ${version},`, node, version }))
        ),
        ({ name, node, version }) =>
          Effect.gen(function*() {
            const one = yield* client([node], version)
            const count = yield* SubscriptionRef.make(0)
            yield* Effect.forkScoped(
              Stream.runForEach(one.listChanges, () => SubscriptionRef.update(count, (n) => n + 1))
            )
            yield* one.awaitSubscription
            return { count, name }
          }),
        { concurrency: "unbounded" }
      )
      // The last change comes from the node of the first one: a second notification of one before it is there by then.
      const changes = [...nodes, nodes[0]]
      for (const [at, { changed }] of changes.entries()) {
        yield* changed
        for (const { count } of heard) {
          yield* Stream.runHead(Stream.filter(count.changes, (n) => n > at))
        }
      }
      for (const { count, name } of heard) {
        const n = yield* SubscriptionRef.get(count)
        yield* expect(n === changes.length, `a client ${name} was notified ${n} times of ${changes.length} changes`)
      }
    })
)

/** All laws. A conversation of HTTP+SSE, at 2024-11-05, ends with its node. */
export const laws: ReadonlyArray<Law.Law<Nodes>> = [
  ...versions.map(served),
  notified,
  ...(["2025-03-26", "2025-06-18", "2025-11-25"] as const).map(kept)
]
