/**
 * The setting of the tests with the official clients at 2026-07-28: the server of the behaviours over stdio, all HTTP shells
 * and streams, a client that tests share, and the messages of a client.
 */
import { layer, type Vitest } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { layer as settingLayer, Setting } from "../behaviour/Behaviour.js"
import { type Served, type TestedTransport, transports } from "../behaviour/Transports.js"
import { type Answers, clients, type Official } from "./OfficialClients.js"

export const failureOf = <A>(effect: Effect.Effect<A, any>): Effect.Effect<any> =>
  Effect.orDieWith(Effect.flip(effect), String)

/** A client for tests that do not change it. */
export class Shared extends Context.Tag("test/interop/Shared")<Shared, Official>() {}

/** The methods of the requests that the client sent. */
export const methodsOf = ({ transcript }: Official): ReadonlyArray<string> =>
  transcript.entries.flatMap(({ from, message }) => from === "client" && "method" in message ? [message.method] : [])

/** The types of the results that the server sent. */
export const resultTypes = ({ transcript }: Official): ReadonlyArray<unknown> =>
  transcript.entries.flatMap(({ from, message }) =>
    from === "server" && "result" in message ? [message.result.resultType] : []
  )

const chosen = [
  "stdio",
  "Streamable HTTP",
  "Streamable HTTP that always streams",
  "Streamable HTTP on the platform's server",
  "a web handler on an HTTP server"
]

const settingOf = (transport: TestedTransport, connectTo: (typeof clients.modern)[keyof typeof clients.modern]) => {
  const connect = (served: Served, answers?: Answers) => connectTo(served.address!, answers)
  const another = (answers: Answers = {}) => Effect.flatMap(Setting, ({ served }) => connect(served, answers))
  return {
    transport,
    /** One more client of the shared server. */
    another,
    /** A client and its own server. */
    alone: Effect.gen(function*() {
      const served = yield* (yield* Setting).ownServer
      return { served, client: yield* connect(served) }
    })
  }
}

type It = Vitest.MethodsNonLive<Setting | Shared, true>

/** Declares tests for each client and transport. */
export const each = (declare: (it: It, setting: ReturnType<typeof settingOf>) => void): void => {
  for (const transport of transports.filter(({ name }) => chosen.includes(name))) {
    for (const [name, connectTo] of Object.entries(clients.modern)) {
      const setting = settingOf(transport, connectTo)
      const shared = Layer.scoped(Shared, Effect.orDie(setting.another()))
      layer(Layer.provideMerge(shared, settingLayer(transport)), { excludeTestServices: true })(
        `A server of Effect MCP and ${name} at 2026-07-28 over ${transport.name}`,
        (it) => declare(it, setting)
      )
    }
  }
}
