/**
 * One side alone, in memory: a server of a library and a client without a library, or a client of a library and a function that answers.
 * Both sides pass each other objects, over a pair without a queue: a side that sends calls the other side. The floor has no library on
 * either side.
 */
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as Direct from "@effect-mcp/core/Direct"
import * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Client as Sdk2Client } from "@modelcontextprotocol/client"
import { Client as Sdk1Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport as Sdk1Pair } from "@modelcontextprotocol/sdk/inMemory.js"
import { InMemoryTransport as Sdk2Pair } from "@modelcontextprotocol/server"
import { Effect, ManagedRuntime, Scope } from "effect"
import { Server } from "../AddServer.js"
import * as Parked from "../Parked.js"
import * as Raw from "../Raw.js"
import { answer } from "../servers/node.js"
import { BURST, calling, checkResult, type Holder, reporting, type Subject } from "../Workload.js"
import * as Sdk1 from "./sdk1.js"
import * as Sdk2 from "./sdk2.js"

const started = async (raw: Raw.Raw, close: () => Promise<void>): Promise<Subject> => {
  await raw.begin()
  return { run: raw.run, close }
}

/** The server alone. */
export const servers: Readonly<Record<string, () => Promise<Subject>>> = {
  own: async () => {
    const runtime = ManagedRuntime.make(Server)
    const scope = Effect.runSync(Scope.make())
    const near = await runtime.runPromise(Scope.extend(
      Effect.gen(function*() {
        const dispatcher = yield* Dispatcher.Dispatcher
        const [near, far] = yield* Direct.pair
        yield* Effect.forkScoped(dispatcher.accept(far))
        return near
      }),
      scope
    ))
    const raw = Raw.make(near.unsafeSend)
    runtime.runFork(Transport.run(near, raw.receive))
    return started(raw, () => runtime.dispose())
  },
  sdk1: async () => {
    const [near, far] = Sdk1Pair.createLinkedPair()
    const raw = Raw.make((message) => void near.send(message))
    near.onmessage = raw.receive
    const server = Sdk1.makeServer()
    await server.connect(far)
    return started(raw, () => server.close())
  },
  sdk2: async () => {
    const [near, far] = Sdk2Pair.createLinkedPair()
    const raw = Raw.make((message) => void near.send(message))
    near.onmessage = raw.receive
    const server = Sdk2.makeServer()
    await server.connect(far)
    return started(raw, () => server.close())
  },
  /** A function that parses nothing, checks nothing, and answers with an object in the next microtask. */
  bare: () => {
    const raw: Raw.Raw = Raw.make((message) => {
      if ("id" in message) queueMicrotask(() => raw.receive(answer(message.id, message.params)))
    })
    return started(raw, () => Promise.resolve())
  }
}

const info = { name: "bench", version: "1.0.0" }

/** The client alone. */
export const clients: Readonly<Record<string, () => Promise<Subject>>> = {
  own: async () => {
    const connector = Connector.make(
      "a function that answers",
      Effect.gen(function*() {
        const [near, far] = yield* Direct.pair
        const receive = (message: Transport.Delivery): void => {
          if ("method" in message && Message.isRequest(message)) far.unsafeSend(answer(message.id, message.params))
        }
        yield* Effect.forkScoped(Transport.run(far, receive))
        return near
      })
    )
    const runtime = ManagedRuntime.make(Client.layer(connector, { checkOutputs: false, versions: ["2025-11-25"] }))
    const client = await runtime.runPromise(Client.Client)
    return {
      run: (calls, inFlight) =>
        runtime.runPromise(Effect.forEach(
          Array.from({ length: calls }, (_, at) => at),
          (a) => Effect.map(client.callTool("add", { a, b: 1 }), (result) => checkResult(result, a, 1)),
          { concurrency: inFlight, discard: true }
        )),
      close: () => runtime.dispose()
    }
  },
  sdk1: async () => {
    const [near, far] = Sdk1Pair.createLinkedPair()
    far.onmessage = (message) => {
      if ("method" in message && "id" in message) void far.send(answer(message.id, message.params))
    }
    const client = new Sdk1Client(info)
    await client.connect(near)
    return calling(client)
  },
  sdk2: async () => {
    const [near, far] = Sdk2Pair.createLinkedPair()
    far.onmessage = (message) => {
      if ("method" in message && "id" in message) void far.send(answer(message.id, message.params))
    }
    const client = new Sdk2Client(info)
    await client.connect(near)
    return calling(client)
  },
  bare: servers.bare!
}

/** The floor of the rows about pairs: a call is a promise, an `AbortController` and an entry of a map, without a library. */
const call = (id: number, signal: AbortSignal): Promise<never> => {
  waiting.set(id, signal)
  return Parked.untilAborted(signal).finally(() => waiting.delete(id))
}

const waiting = new Map<number, AbortSignal>()

let lastId = 0

const park = Parked.parkWith((signal) => call(++lastId, signal))

const nothing = () => Promise.resolve()

export const bareCancel = (): Subject => Parked.cancelling(park, nothing)

export const bareHold = (): Holder => Parked.holding(park, nothing)

export const bareProgress = (): Subject => ({
  ...reporting((onProgress) => {
    for (let n = 1; n <= BURST; n++) onProgress()
    return Promise.resolve({ structuredContent: { sum: BURST + 1 } })
  }),
  close: nothing
})
