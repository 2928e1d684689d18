/**
 * Effect MCP: client and server over a pair of transports, or in process.
 * The code is that of an ordinary application.
 */
import type { ClientSession } from "@effect-mcp/client"
import { Client } from "@effect-mcp/client"
import { Tool } from "@effect-mcp/definition"
import { Connector, Transport } from "@effect-mcp/jsonrpc"
import { Version } from "@effect-mcp/protocol"
import { Dispatcher, InProcess, McpServer } from "@effect-mcp/server"
import { Effect, Exit, Layer, ManagedRuntime, Schema } from "effect"
import type { Subject } from "../Workload.js"
import { check } from "../Workload.js"

const Add = Tool.make("add", {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
})

const Server = McpServer.layer(
  { name: "bench", version: "1.0.0" },
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
)

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
const start = (makeConnector: typeof pair) => async (): Promise<Subject> => {
  const runtime = ManagedRuntime.make(
    Layer.unwrapScoped(
      Effect.map(
        makeConnector,
        (connector) => Client.layer(connector, { versions: Version.legacy, checkOutputs: false })
      )
    ).pipe(
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
