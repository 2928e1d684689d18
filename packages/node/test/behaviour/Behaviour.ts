/**
 * A behaviour: a sentence and its test, with the clients and servers that the test uses. The other modules of this folder
 * list behaviours; `Transports` lists the transports that they run over.
 */
import * as Client from "@effect-mcp/core/Client"
import type { ClientFeatures } from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import * as Message from "@effect-mcp/core/Message"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Context, Effect, ExecutionStrategy, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { untilSuspended } from "../../../testing/test/support/Suspended.js"
import { until } from "../HttpFixture.js"
import type { Kind, Served, TestedTransport } from "./Transports.js"

export interface Behaviour {
  /** A sentence; a rule of the specification begins with its keyword. */
  readonly name: string
  /** The page of the specification with the rule. */
  readonly rule?: string | undefined
  /** The first revision in which the behaviour holds. Default: the oldest. */
  readonly since?: Version.Version | undefined
  /** The last revision in which the behaviour holds. Default: the newest. */
  readonly until?: Version.Version | undefined
  /** The kinds of transports that have the behaviour. Default: all. */
  readonly over?: ReadonlyArray<Kind> | undefined
  /** `true` when the server must remember the client from one request to the next. Default: it need not. */
  readonly sessions?: boolean | undefined
  /** `true` when a client must find what a handler has added to the server. Default: it need not. */
  readonly adds?: boolean | undefined
  /** `true` for transports whose streams can be resumed, `false` for the others. Default: both. */
  readonly resumes?: boolean | undefined
  readonly run: (setting: Setting["Type"]) => Effect.Effect<void, unknown, Scope.Scope>
}

/** Whether a transport has the behaviour. */
export const applies = (
  { adds = false, over, resumes, sessions = false, since, until }: Behaviour,
  transport: TestedTransport
): boolean =>
  (transport.sessions || !sessions) && (transport.keeps || !adds) &&
  (over === undefined || over.includes(transport.kind)) && (resumes === undefined || transport.resumes === resumes) &&
  (since === undefined || Version.isAtLeast(transport.version, since)) &&
  (until === undefined || Version.isAtLeast(until, transport.version))

/** Whether the clients of a transport speak a revision without a handshake. */
export const isModern = ({ version }: TestedTransport): boolean => Version.isModern(version)

/** A client, with a transcript of its messages in the order in which it sent and received them. */
export interface RecordedClient extends ClientSessionService {
  readonly name: string
  readonly transcript: Transcript.Transcript
  readonly close: Effect.Effect<void>
}

/** What a behaviour is tested with. */
export class Setting extends Context.Tag("test/behaviour/Setting")<Setting, {
  readonly transport: TestedTransport
  /** The server for tests that do not change it. */
  readonly served: Served
  /** A client of that server. */
  readonly client: RecordedClient
  /** A server for one test. */
  readonly ownServer: Effect.Effect<Served, never, Scope.Scope>
  /** One more client of a server. Default: of the shared one. */
  readonly connect: (
    options?: Client.Options<never, ClientFeatures>,
    served?: Pick<Served, "connector">
  ) => Effect.Effect<RecordedClient, unknown, Scope.Scope>
}>() {}

export const layer = (transport: TestedTransport): Layer.Layer<Setting> =>
  Layer.scoped(
    Setting,
    Effect.gen(function*() {
      const ownServer = yield* transport.open
      const served = yield* ownServer
      const connect = (
        options: Client.Options<never, ClientFeatures> = {},
        { connector }: Pick<Served, "connector"> = served
      ) =>
        Effect.gen(function*() {
          const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
          const transcript = Transcript.make()
          const name = `client-${randomUUID()}`
          const observed = Effect.flatMap(
            connector.connect,
            (transport) => TestTransport.observed(transport, "client", { transcript })
          )
          const session = yield* Scope.extend(
            Client.make(Connector.make(connector.name, observed), {
              clientInfo: { name, version: "1.0.0" },
              versions: [transport.version],
              ...options
            }),
            scope
          )
          return { ...session, name, transcript, close: Scope.close(scope, Exit.void) }
        })
      return { transport, served, ownServer, connect, client: yield* Effect.orDie(connect()) }
    })
  )

/** A unique key. */
export const key = (): string => `key-${randomUUID()}`

export const text = (text: string) => [{ type: "text" as const, text }]

/** The messages between the call of a tool with these arguments and its response, and those after it. */
export const messagesAbout = ({ transcript: { entries } }: RecordedClient, args: object) => {
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

/** Calls a tool that waits, and returns when its handler has begun. */
export const hold = (client: RecordedClient, { reports }: Pick<Served, "reports">, name: string) =>
  Effect.gen(function*() {
    const calling = yield* Effect.forkScoped(Effect.exit(client.callTool("hold", { key: name })))
    yield* reports.until(`${name} began`)
    return {
      /** How the call ended. */
      exit: Effect.flatten(Fiber.join(calling)),
      interrupt: Fiber.interrupt(calling)
    }
  })

/**
 * Makes calls that time out, each after a longer time, until one has reached its handler: on a busy machine a short time may be
 * over before. Gives the key of that call, and its error.
 */
export const timedOut = <E>(
  lines: () => ReadonlyArray<string>,
  call: (key: string, millis: number) => Effect.Effect<unknown, E>,
  millis = 200
): Effect.Effect<{ readonly name: string; readonly error: E }, unknown> =>
  Effect.gen(function*() {
    const name = key()
    const error = yield* Effect.flip(call(name, millis))
    return lines().includes(`${name} began`) ? { name, error } : yield* timedOut(lines, call, 2 * millis)
  })

/** Collects the elements of a stream in the background. */
export const collect = <A>(stream: Stream.Stream<A>) =>
  Effect.gen(function*() {
    const received: Array<A> = []
    const fiber = yield* Effect.forkScoped(Stream.runForEach(stream, (one) => Effect.sync(() => received.push(one))))
    yield* untilSuspended(fiber)
    return { received: received as ReadonlyArray<A>, count: (count: number) => until(() => received.length >= count) }
  })
