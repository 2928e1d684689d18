/**
 * Effect MCP: client and server over a pair of transports, or in process.
 * The code is that of an ordinary application.
 */
import * as Client from "@effect-mcp/client/Client"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import type * as Version from "@effect-mcp/protocol/Version"
import * as Dispatcher from "@effect-mcp/server/Dispatcher"
import * as InProcess from "@effect-mcp/server/InProcess"
import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import { Server } from "../AddServer.js"
import { check, type Subject } from "../Workload.js"

const pair = Effect.map(Dispatcher.Dispatcher, (dispatcher) =>
  Connector.make(
    "a pair of transports",
    Effect.gen(function*() {
      const [client, server] = yield* Transport.memory()
      yield* Effect.forkScoped(dispatcher.accept(server))
      return client
    })
  ))

const calls = (client: ClientSession.ClientSessionService, count: number): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    for (let i = 0; i < count; i++) {
      const { structuredContent } = yield* client.callTool("add", { a: i, b: 1 })
      check((structuredContent as { readonly sum?: unknown } | undefined)?.sum, i, 1)
    }
  })

// The official client validates results by output schemas only after it has listed the tools, which this one does not.
const start = (makeConnector: typeof pair) => async (version: Version.Version): Promise<Subject> => {
  const options = { checkOutputs: false, versions: [version] } as const
  const runtime = ManagedRuntime.make(
    Layer.unwrapScoped(Effect.map(makeConnector, (connector) => Client.layer(connector, options))).pipe(
      Layer.provide(Server)
    )
  )
  await runtime.runPromise(Effect.void)
  return {
    run: (count, inFlight) =>
      runtime.runPromise(Effect.flatMap(Client.Client, (client) =>
        inFlight === 1 ? calls(client, count) : Effect.all(
          Array.from({ length: inFlight }, () => calls(client, Math.ceil(count / inFlight))),
          { concurrency: "unbounded", discard: true }
        ))),
    close: () => runtime.runPromiseExit(Effect.void).then(Exit.asVoid).then(() => runtime.dispose())
  }
}

export const overPair = start(pair)

export const overDirect = start(InProcess.connector)
