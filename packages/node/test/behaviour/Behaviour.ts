/**
 * What a behaviour is: a sentence, and what to do to see that it holds; and what it is given to do it with. Which there are is
 * said in the rooms beside this one; over which roads they run, in `Roads`.
 */
import * as Client from "@effect-mcp/client/Client"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import type { Features } from "@effect-mcp/client/Features"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Context, Effect, ExecutionStrategy, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { until } from "../HttpFixture.js"
import type { Kind, Road, Served } from "./Roads.js"

export interface Behaviour {
  /** A sentence; a rule of the specification begins with its keyword. */
  readonly name: string
  /** The page that the rule is on. */
  readonly rule?: string | undefined
  /** The first revision that knows what this is about. Default: the first of all. */
  readonly since?: LegacyVersion | undefined
  /** The last revision that it holds in. Default: the last of all. */
  readonly until?: LegacyVersion | undefined
  /** Over which roads it makes sense. Default: all. */
  readonly over?: ReadonlyArray<Kind> | undefined
  /** Whether it holds only where streams can be resumed, or only where they cannot. */
  readonly resumes?: boolean | undefined
  readonly run: (stage: Stage["Type"]) => Effect.Effect<void, unknown, Scope.Scope>
}

/** Whether it is to be expected over a road. */
export const applies = ({ over, resumes, since, until }: Behaviour, road: Road): boolean =>
  (over === undefined || over.includes(road.kind)) && (resumes === undefined || road.resumes === resumes) &&
  (since === undefined || Version.isAtLeast(road.version, since)) &&
  (until === undefined || Version.isAtLeast(until, road.version))

/** A client, and all that was said between it and the server, as it has heard it. */
export interface Visitor extends ClientSessionService {
  readonly name: string
  readonly said: Transcript.Transcript
  readonly close: Effect.Effect<void>
}

/** What a behaviour has at hand. */
export class Stage extends Context.Tag("test/behaviour/Stage")<Stage, {
  readonly road: Road
  /** The server that behaviours share which leave no trace in it. */
  readonly served: Served
  /** The client that they share. */
  readonly client: Visitor
  /** A server that nobody else knows. */
  readonly alone: Effect.Effect<Served, never, Scope.Scope>
  /** One more client of a server; of the shared one, unless it is said which. */
  readonly visit: (
    options?: Client.Options<never, Features>,
    served?: Pick<Served, "connector">
  ) => Effect.Effect<Visitor, unknown, Scope.Scope>
}>() {}

export const layer = (road: Road): Layer.Layer<Stage> =>
  Layer.scoped(
    Stage,
    Effect.gen(function*() {
      const alone = yield* road.open
      const served = yield* alone
      const visit = (
        options: Client.Options<never, Features> = {},
        { connector }: Pick<Served, "connector"> = served
      ) =>
        Effect.gen(function*() {
          const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
          const said = Transcript.make()
          const name = `client-${randomUUID()}`
          const session = yield* Scope.extend(
            Client.make(heard(connector, said), {
              clientInfo: { name, version: "1.0.0" },
              versions: [road.version],
              ...options
            }),
            scope
          )
          return { ...session, name, said, close: Scope.close(scope, Exit.void) }
        })
      return { road, served, alone, visit, client: yield* Effect.orDie(visit()) }
    })
  )

/** Writes down what is said, in the order in which the client says and hears it. */
const heard = ({ connect, name }: Connector.Connector, said: Transcript.Transcript): Connector.Connector =>
  Connector.make(
    name,
    Effect.map(connect, (transport) => {
      const write = (message: Message.Message) => said.add({ from: "client", message })
      return {
        ...transport,
        incoming: transport.incoming,
        run: (receive) =>
          Transport.run(transport, (delivery) => {
            if (!Transport.isUndelivered(delivery) && !Message.isMalformed(delivery)) {
              said.add({ from: "server", message: delivery })
            }
            receive(delivery)
          }),
        send: (message) => Effect.zipRight(Effect.sync(() => write(message)), transport.send(message)),
        unsafeSend: (message) => {
          write(message)
          return transport.unsafeSend(message)
        }
      }
    })
  )

/** A key that no other test has. */
export const key = (): string => `key-${randomUUID()}`

export const text = (text: string) => [{ type: "text" as const, text }]

/** The whole conversation about one call of a tool: where it was called, where its answer came, what came in between. */
export const around = ({ said: { entries } }: Visitor, args: object) => {
  const wanted = JSON.stringify(args)
  const called = entries.findIndex(({ from, message }) =>
    from === "client" && Message.isRequest(message) && JSON.stringify(message.params?.arguments) === wanted
  )
  const id = (entries[called]?.message as Message.Request | undefined)?.id
  const answered = entries.findIndex(({ from, message }, at) =>
    at > called && from === "server" && Message.isResponse(message) && message.id === id
  )
  return {
    id,
    isAnswered: answered !== -1,
    between: entries.slice(called + 1, answered === -1 ? undefined : answered).map(({ message }) => message),
    after: answered === -1 ? [] : entries.slice(answered + 1).map(({ message }) => message)
  }
}

/** A call that waits on the server, from when it does. */
export const holding = (client: Visitor, { told }: Pick<Served, "told">, name: string) =>
  Effect.gen(function*() {
    const calling = yield* Effect.forkScoped(Effect.exit(client.callTool("hold", { key: name })))
    yield* told.until(`${name} began`)
    return {
      /** How it ended. */
      exit: Effect.flatten(Fiber.join(calling)),
      interrupt: Fiber.interrupt(calling)
    }
  })

/** What a stream of what is told brings, from before this returns on. */
export const hearing = <A>(stream: Stream.Stream<A>) =>
  Effect.gen(function*() {
    const heard: Array<A> = []
    const fiber = yield* Effect.forkScoped(Stream.runForEach(stream, (one) => Effect.sync(() => heard.push(one))))
    yield* Effect.repeat(Effect.yieldNow(), {
      until: () => Effect.map(Fiber.status(fiber), ({ _tag }) => _tag === "Suspended")
    })
    return { heard: heard as ReadonlyArray<A>, count: (count: number) => until(() => heard.length >= count) }
  })
