/**
 * Closing ends in time at every door, whatever an application does not end: a handler that cannot be interrupted, or whose finalizer
 * does not end, the release of a session layer or of features. A door may take its limits, added up, and a second: exactly where time
 * is virtual. Where it is real, each limit is a tenth of a second, and closing ends before the limits that the options have by default.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import type * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import type { CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import * as Remote from "@effect-mcp/core/Remote"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Deferred, Effect, Exit, Layer, Logger, Option, Scope, Stream, TestClock } from "effect"
import { PassThrough } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { patient, shellsAndMounts } from "./Shells.js"

const LIMIT = 100

interface Stuck {
  readonly handler: Effect.Effect<unknown>
  readonly session: Effect.Effect<unknown>
  readonly features: Effect.Effect<unknown>
}

const none: Stuck = { handler: Effect.never, session: Effect.void, features: Effect.void }

const uninterruptible = Effect.uninterruptible(Effect.never)
const endless = Effect.onInterrupt(Effect.never, () => Effect.never)

/** What does not end. */
const kinds: Readonly<Record<string, Stuck>> = {
  "a handler that cannot be interrupted": { ...none, handler: uninterruptible },
  "a handler whose finalizer does not end": { ...none, handler: endless },
  "a session layer whose release does not end": { ...none, session: Effect.never },
  "features whose release does not end": { ...none, features: Effect.never },
  "all of it": { handler: uninterruptible, session: Effect.never, features: Effect.never }
}

class Basket extends Context.Tag("test/Basket")<Basket, object>() {}

const server = (stuck: Stuck, started: Effect.Effect<unknown>) =>
  McpServer.layer(
    { name: "stuck", version: "1.0.0" },
    Layer.merge(
      McpServer.tool(Tool.make("stick"), () =>
        Effect.asVoid(Effect.zipRight(Effect.zipRight(Basket, started), stuck.handler))),
      Layer.scopedDiscard(Effect.addFinalizer(() =>
        stuck.features
      ))
    ),
    {
      closeTimeout: LIMIT,
      session: Layer.scoped(Basket, Effect.acquireRelease(Effect.succeed({}), () => stuck.session))
    }
  )

/** Calls the tool, and does not wait. */
type Call = Effect.Effect<unknown, unknown>

interface Door {
  /** How many limits there are, one after another. */
  readonly limits: number
  readonly open: Effect.Effect<Call, unknown, Dispatcher | Scope.Scope>
}

const calling = (
  connector: Connector.Connector,
  options: Client.Options = {}
): Effect.Effect<Call, unknown, never> =>
  Effect.gen(function*() {
    // The client stays open.
    const scope = yield* Scope.make()
    const client = yield* Scope.extend(Client.make(connector, options), scope)
    return client.callTool("stick")
  })

const remote = (url: string, options?: Parameters<typeof Remote.connector>[1]): Connector.Connector => {
  const connector = Remote.connector(url, options)
  return { ...connector, connect: Effect.provide(connector.connect, FetchHttpClient.layer) } as Connector.Connector
}

const legacy = { versions: ["2025-11-25"] } as const
const modern = { versions: ["2026-07-28"] } as const

/** A call of 2026-07-28. */
const posted = Message.request(1, "tools/call", {
  name: "stick",
  arguments: {},
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {}
  }
})

const sse: Door = {
  limits: 3,
  open: Effect.flatMap(
    HttpServer.make({ port: 0, node: patient, closeTimeout: LIMIT, legacy: { ssePath: "/sse" } }),
    ({ port }) => calling(remote(`http://127.0.0.1:${port}/sse`, { transport: "sse" }), legacy)
  )
}

/** Doors on a port. */
const http: ReadonlyArray<readonly [string, Door]> = [
  ...Object.entries(shellsAndMounts).flatMap(([name, shell]) =>
    [
      ["a session", {}, legacy],
      ["a POST without a session", { legacy: { sessions: false } }, legacy],
      ["a POST of 2026-07-28", {}, modern]
    ].map(([what, options, versions]) =>
      [`${name}, ${what}`, {
        limits: 3,
        open: Effect.flatMap(
          shell({ closeTimeout: LIMIT, ...options as object }),
          (port) => calling(remote(`http://127.0.0.1:${port}/mcp`), versions as Client.Options)
        )
      }] as const
    )
  ),
  ["node:http, HTTP+SSE", sse]
]

const doors: Readonly<Record<string, Door>> = {
  "a pipe": { limits: 3, open: Effect.flatMap(TestServer.connector(), (connector) => calling(connector, legacy)) },
  "a pipe, at 2026-07-28": {
    limits: 3,
    open: Effect.flatMap(TestServer.connector(), (connector) => calling(connector, modern))
  },
  "in process": { limits: 3, open: Effect.flatMap(InProcess.connector, (connector) => calling(connector, legacy)) },
  "standard streams": {
    limits: 3,
    open: Effect.gen(function*() {
      const [input, output] = [new PassThrough(), new PassThrough()]
      output.resume()
      yield* Layer.build(StdioServer.layerWith({ input, output }))
      return Effect.sync(() => input.write(`${JSON.stringify(posted)}\n`))
    })
  },
  "Dispatcher.serve": {
    limits: 2,
    open: Effect.map(Dispatcher, (dispatcher) => Stream.runDrain(dispatcher.serve(posted)))
  },
  "Dispatcher.serve, up to 2025-11-25": {
    limits: 2,
    open: Effect.map(
      Dispatcher,
      (dispatcher) => Stream.runDrain(dispatcher.serve(Message.request(1, "tools/call", { name: "stick" })))
    )
  },
  "a web handler that is disposed": {
    limits: 3,
    open: Effect.gen(function*() {
      const { handler } = yield* WebHandler.make({ closeTimeout: LIMIT })
      const headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-method": "tools/call",
        "mcp-name": "stick",
        "mcp-protocol-version": "2026-07-28"
      }
      return Effect.promise(() =>
        handler(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(posted) }))
      )
    })
  }
}

/** Closes the scope, and checks that this takes no longer than it may. */
const closes = (scope: Scope.CloseableScope, limits: number, isVirtual: boolean) =>
  Effect.gen(function*() {
    const closing = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
    if (!isVirtual) {
      const ended = yield* Effect.timeoutOption(Effect.disconnect(closing.await), "4500 millis")
      return assert.isTrue(Option.isSome(ended), "closing took longer than the limits that are given")
    }
    yield* TestClock.adjust(limits * LIMIT + 1000)
    // Promises and streams of Node go on in later turns.
    for (let turn = 0; turn < 20 && closing.unsafePoll() === null; turn++) yield* Effect.promise(() => setImmediate())
    assert.isNotNull(closing.unsafePoll(), `closing took longer than ${limits} limits and a second`)
  })

const silent = Effect.provide(Logger.remove(Logger.defaultLogger))

describe.concurrent("Closing a server ends in time", () => {
  const closing = ({ limits, open }: Door, stuck: Stuck, isVirtual: boolean) =>
    silent(Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(server(stuck, Deferred.succeed(started, undefined)), scope)
      const call = yield* open.pipe(Effect.provide(context), Scope.extend(scope))
      yield* Effect.forkDaemon(call)
      yield* Deferred.await(started)
      yield* closes(scope, limits, isVirtual)
    }))

  for (const [what, stuck] of Object.entries(kinds)) {
    for (const [name, door] of Object.entries(doors)) {
      it.effect(`${name}: with ${what}`, () => closing(door, stuck, true))
    }
    for (const [name, door] of http) {
      // How an end is bounded is the same behind all HTTP shells.
      if (name.startsWith("node:http") || what === "all of it") {
        it.live(`${name}: with ${what}`, () => closing(door, stuck, false))
      }
    }
  }
})

/** A server that asks its client, and logs. */
const asking = McpServer.layer(
  { name: "asking", version: "1.0.0" },
  McpServer.tool(Tool.make("ask"), () =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      yield* session.log("info", "asking")
      yield* Effect.ignore(session.createMessage({
        messages: [{ role: "user", content: { type: "text", text: "?" } }],
        maxTokens: 1
      }))
    })),
  { closeTimeout: LIMIT }
)

const answer: CreateMessageResult = { role: "assistant", content: { type: "text", text: "!" }, model: "test" }

/** Features of a client that do not end. */
const features: Readonly<
  Record<string, (started: Effect.Effect<unknown>) => Layer.Layer<never, never, ClientFeatures.ClientFeatures>>
> = {
  "a handler that cannot be interrupted": (started) =>
    ClientFeatures.sampling(() => Effect.as(Effect.zipRight(started, uninterruptible), answer)),
  "a handler whose finalizer does not end": (started) =>
    ClientFeatures.sampling(() => Effect.as(Effect.zipRight(started, endless), answer)),
  "a handler of logs that cannot be interrupted": (started) =>
    Layer.merge(
      ClientFeatures.logging(() => uninterruptible),
      ClientFeatures.sampling(() => Effect.as(Effect.zipRight(started, Effect.never), answer))
    ),
  "changes of roots whose finalizer does not end": (started) =>
    Layer.merge(
      ClientFeatures.roots(Effect.succeed([]), { changes: Stream.ensuring(Stream.never, Effect.never) }),
      ClientFeatures.sampling(() => Effect.as(Effect.zipRight(started, Effect.never), answer))
    ),
  "features whose release does not end": (started) =>
    Layer.merge(
      Layer.scopedDiscard(Effect.addFinalizer(() => Effect.never)),
      ClientFeatures.sampling(() => Effect.as(Effect.zipRight(started, Effect.never), answer))
    )
}

/** How a client reaches the server, and how many limits its closing has. */
interface Way {
  readonly limits: number
  readonly options: Client.Options
  readonly connector: Effect.Effect<Connector.Connector, unknown, Dispatcher | Scope.Scope>
}

const overHttp = (options: Parameters<typeof Remote.connector>[1], path = "/mcp") =>
  Effect.map(
    HttpServer.make({ port: 0, node: patient, closeTimeout: LIMIT, legacy: { ssePath: "/sse" } }),
    ({ port }) => remote(`http://127.0.0.1:${port}${path}`, { ...options, closeTimeout: LIMIT })
  )

const ways: Readonly<Record<string, Way>> = {
  "a pipe": { limits: 4, options: legacy, connector: TestServer.connector() },
  "a pipe, at 2026-07-28": { limits: 4, options: modern, connector: TestServer.connector() },
  "in process": { limits: 4, options: legacy, connector: InProcess.connector }
}

const overNetwork: Readonly<Record<string, Way>> = {
  "Streamable HTTP": { limits: 6, options: legacy, connector: overHttp({}) },
  "Streamable HTTP, at 2026-07-28": { limits: 6, options: modern, connector: overHttp({}) },
  "HTTP+SSE": { limits: 6, options: legacy, connector: overHttp({ transport: "sse" }, "/sse") }
}

describe.concurrent("Closing a client ends in time", () => {
  const closing = (
    { connector, limits, options }: Way,
    stuck: (typeof features)[string],
    how: "a client" | "a group",
    isVirtual: boolean
  ) =>
    silent(Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const servers = yield* Scope.make()
      const context = yield* Layer.buildWithScope(asking, servers)
      const connected = yield* connector.pipe(Effect.provide(context), Scope.extend(servers))
      const scope = yield* Scope.make()
      const own = { ...options, closeTimeout: LIMIT, features: stuck(Deferred.succeed(started, undefined)) }
      const call = yield* (how === "a client"
        ? Effect.map(Client.make(connected, own), (client) => client.callTool("ask"))
        : Effect.map(
          Effect.tap(ClientSessionGroup.make(), (group) => group.connect("one", connected, own)),
          (group) => group.callTool("ask")
        )).pipe(Scope.extend(scope))
      yield* Effect.forkDaemon(call as Call)
      yield* Deferred.await(started)
      yield* closes(scope, limits, isVirtual)
    }))

  for (const [what, stuck] of Object.entries(features)) {
    for (const [name, way] of Object.entries(ways)) {
      it.effect(`a client over ${name}: with ${what}`, () => closing(way, stuck, "a client", true))
    }
    it.effect(`a group over a pipe: with ${what}`, () => closing(ways["a pipe"]!, stuck, "a group", true))
    for (const [name, way] of Object.entries(overNetwork)) {
      it.live(`a client over ${name}: with ${what}`, () => closing(way, stuck, "a client", false))
    }
  }
})
