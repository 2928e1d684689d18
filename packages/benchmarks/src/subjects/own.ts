/**
 * Effect MCP as a subject of the benchmark: client and server over a pair of transports, or in process. An ordinary application has the
 * same code. `cell` and `served` run it beside the other subjects.
 */
import * as Client from "@effect-mcp/core/Client"
import type * as ClientSession from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { Server, WideServer } from "../AddServer.js"
import * as Parked from "../Parked.js"
import { BURST, checkResult, type Holder, inTurn, reporting, type Subject } from "../Workload.js"

const pair = Effect.map(Dispatcher.Dispatcher, (dispatcher) =>
  Connector.make(
    "a pair of transports",
    Effect.gen(function*() {
      const [client, server] = yield* Transport.memory()
      yield* Effect.forkScoped(dispatcher.accept(server))
      return client
    })
  ))

// `checkOutputs` is false, because the official client checks outputs only after it has listed the tools, and it does not list them here.
const connect = async (makeConnector: typeof pair, version: Version.Version, server = Server) => {
  const options = { checkOutputs: false, versions: [version], limits: { maxCalls: 100_000 } } as const
  const runtime = ManagedRuntime.make(
    Layer.unwrapScoped(Effect.map(makeConnector, (connector) => Client.layer(connector, options))).pipe(
      Layer.provide(server)
    )
  )
  return { client: await runtime.runPromise(Client.Client), runtime, close: () => runtime.dispose() }
}

const calls = (client: ClientSession.ClientSessionService, count: number): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    for (let i = 0; i < count; i++) checkResult(yield* client.callTool("add", { a: i, b: 1 }), i, 1)
  })

const start = (makeConnector: typeof pair) => async (version: Version.Version): Promise<Subject> => {
  const { client, close, runtime } = await connect(makeConnector, version)
  return {
    run: (count, inFlight) =>
      runtime.runPromise(
        inFlight === 1 ? calls(client, count) : Effect.all(
          Array.from({ length: inFlight }, () => calls(client, Math.ceil(count / inFlight))),
          { concurrency: "unbounded", discard: true }
        )
      ),
    close
  }
}

export const overPair = start(pair)

export const overDirect = start(InProcess.connector)

/** A program made of promises, which runs each call by itself. */
export const fromPromises = async (): Promise<Subject> => {
  const { client, close, runtime } = await connect(InProcess.connector, "2025-11-25")
  return {
    run: (calls, inFlight) =>
      inTurn(
        calls,
        inFlight,
        async (a) => checkResult(await runtime.runPromise(client.callTool("add", { a, b: 1 })), a, 1)
      ),
    close
  }
}

export const progressOfPair = async (): Promise<Subject> => {
  const { client, close, runtime } = await connect(pair, "2025-11-25")
  return {
    ...reporting((onProgress) =>
      runtime.runPromise(client.callTool("report", { a: BURST, b: 1 }, { onProgress: () => Effect.sync(onProgress) }))
    ),
    close
  }
}

const parking = async () => {
  const { client, close, runtime } = await connect(pair, "2025-11-25", WideServer)
  const park: Parked.Park = async (count) => {
    const calls = Array.from({ length: count }, () => Effect.forkDaemon(client.callTool("park", { a: 1, b: 1 })))
    const fibers = await runtime.runPromise(Effect.all(calls))
    return () => runtime.runPromise(Fiber.interruptAll(fibers))
  }
  return { park, close }
}

export const cancel = async (): Promise<Subject> => {
  const { close, park } = await parking()
  return Parked.cancelling(park, close)
}

export const hold = async (): Promise<Holder> => {
  const { close, park } = await parking()
  return Parked.holding(park, close)
}
