/**
 * Many clients of 2026-07-28 that subscribe and leave while the lists of the server change, in memory and over sockets.
 * At each kind of server, many clients subscribe and leave again and again: forty in a short run, a hundred in `npm run test:long`,
 * where the work is six times as much, because each of them reads the list again after each change.
 */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type * as Connector from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import * as Remote from "@effect-mcp/core/Remote"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Chunk, Deferred, Effect, ExecutionStrategy, Exit, Layer, type Scope, Scope as Scopes, Stream } from "effect"
import { act, info, until } from "./HttpFixture.js"
import { shells } from "./Shells.js"

const CLIENTS = process.env.EFFECT_MCP_TEST_LONG === undefined ? 40 : 100

/** How many subscriptions the server takes. */
const MAX = CLIENTS + 20

type Connect = Effect.Effect<Connector.Connector<any>, never, Dispatcher | Scope.Scope>

const transports: Readonly<Record<string, Connect>> = {
  "a pair in memory": TestServer.connector(),
  ...Object.fromEntries(
    Object.entries(shells).map(([name, start]) => [
      name,
      Effect.map(start({ path: "/mcp" }), (port) => Remote.connector(`http://127.0.0.1:${port}/mcp`))
    ])
  )
}

/** A server to which tools can be added, and from which they can be removed. */
const changing = Effect.gen(function*() {
  const registered = yield* Deferred.make<RegistryService>()
  const found = Layer.effectDiscard(Effect.flatMap(Registry, (registry) => Deferred.succeed(registered, registry)))
  const server = yield* Layer.build(
    McpServer.layer(info, Layer.merge(act(Effect.void), found), { limits: { maxListens: MAX } })
  )
  const registry = yield* Deferred.await(registered)
  const add = (name: string) =>
    Effect.gen(function*() {
      const scope = yield* Scopes.make()
      yield* Layer.buildWithScope(act(Effect.void, name), scope).pipe(Effect.provideService(Registry, registry))
      return Scopes.close(scope, Exit.void)
    })
  return { add, server }
})

/** A client that reads the list of tools, and again after each change. */
const follow = (connector: Connector.Connector<any>) =>
  Effect.gen(function*() {
    const scope = yield* Scopes.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Scopes.extend(
      Effect.gen(function*() {
        let view = ""
        const client = yield* Client.make(connector, { versions: ["2026-07-28"], checkOutputs: false })
        const read = Effect.map(Stream.runCollect(client.tools), (tools) => {
          view = Chunk.toReadonlyArray(tools).map(({ name }) => name).sort().join(" ")
        })
        const subscribed = yield* Deferred.make<void>()
        const changes = Stream.merge(
          Stream.fromEffect(Deferred.await(subscribed)),
          Stream.buffer(client.listChanges, { capacity: 1, strategy: "sliding" })
        )
        yield* Effect.forkScoped(Effect.ignore(Stream.runForEach(changes, () => read)))
        yield* Effect.yieldNow()
        yield* client.awaitSubscription
        yield* Deferred.succeed(subscribed, undefined)
        return { view: () => view, leave: Scopes.close(scope, Exit.void) }
      }),
      scope
    )
  })

describe("Clients that subscribe and leave while the lists change", () => {
  for (const [name, connect] of Object.entries(transports)) {
    it.scopedLive(
      `all learn of the last change, and leave no subscription, over ${name}`,
      () =>
        Effect.gen(function*() {
          const { add, server } = yield* changing
          const connector = yield* Effect.provide(connect, server)
          const each = <A, E, R>(count: number, f: (n: number) => Effect.Effect<A, E, R>) =>
            Effect.forEach(Array.from({ length: count }, (_, n) => n), f, { concurrency: 10 })
          const clients = yield* each(CLIENTS, (n) =>
            Effect.gen(function*() {
              const remove = n % 10 === 0 ? yield* add(`tool-${n}`) : Effect.void
              const first = yield* follow(connector)
              if (n % 20 === 0) yield* remove
              if (n % 2 === 0) return first
              yield* first.leave
              return yield* follow(connector)
            }))
          yield* add("last")
          yield* until(() => clients.every(({ view }) => view().includes("last")))
          assert.lengthOf(new Set(clients.map(({ view }) => view())), 1)
          yield* each(CLIENTS, (n) => clients[n]!.leave)
          // More than would find a place beside those that have left.
          const again = yield* each(MAX - CLIENTS + 10, () => follow(connector))
          yield* add("later")
          yield* until(() => again.every(({ view }) => view().includes("later")))
        }).pipe(Effect.provide(FetchHttpClient.layer)),
      180_000
    )
  }
})
