/**
 * The server of Effect MCP for all subjects, with the tools that `offered` names, in both eras. Each subject decides how it reaches the
 * server: over HTTP, over a pair of transports, or in process.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema } from "effect"
import { parked } from "./Parked.js"
import { offered } from "./Workload.js"

const schemas = {
  parameters: { a: Schema.Number, b: Schema.Number },
  success: Schema.Struct({ sum: Schema.Number })
}

interface Arguments {
  readonly a: number
  readonly b: number
}

type Handler = (input: Arguments) => Effect.Effect<{ readonly sum: number }, never, ServerSession.ServerSession>

export const Add = Tool.make("add", schemas)

export const info = { name: "bench", version: "1.0.0" }

const add = ({ a, b }: Arguments) => Effect.succeed({ sum: a + b })

export const AddLive = McpServer.tool(Add, add)

const handlers: Readonly<Record<string, Handler>> = {
  /** Sends one notification before its result. */
  addSlowly: ({ a, b }) =>
    Effect.flatMap(
      ServerSession.ServerSession,
      (session) => Effect.as(session.progress(1, { total: 2 }), { sum: a + b })
    ),
  /** Sends `a` notifications before its result. */
  report: ({ a, b }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession.ServerSession
      for (let n = 1; n <= a; n++) yield* session.progress(n, { total: a })
      return { sum: a + b }
    }),
  /** Ends when it is cancelled. */
  park: () =>
    Effect.flatMap(
      ServerSession.ServerSession,
      (session) =>
        Effect.zipRight(
          session.progress(1),
          // For a function without a parameter, `Effect.async` would make an `AbortController` each time.
          Effect.async<never>((_) => {
            parked.begun++
            return Effect.sync(() => parked.ended++)
          })
        )
    )
}

const Features = Layer.mergeAll(
  AddLive,
  ...offered.slice(1).map((name) => McpServer.tool(Tool.make(name, schemas), handlers[name] ?? add))
)

export const Server = McpServer.layer(info, Features)

/** The same server, which accepts more calls in flight than one client may have by default. */
export const WideServer = McpServer.layer(info, Features, { limits: { maxInFlight: 100_000 } })
