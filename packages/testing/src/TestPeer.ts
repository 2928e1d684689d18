/**
 * The other side, played by the test: it says what it is told to and takes what it hears in the order in which it hears it.
 * A script must be finished: what was heard and not expected fails the test when the scope closes.
 *
 * It says anything, right or wrong; what the side under test makes of it is the point.
 *
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import type * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Version from "@effect-mcp/protocol/Version"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestTransport from "./TestTransport.js"
import * as Transcript from "./Transcript.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface TestPeer {
  /** Says a message, whatever it is. Fails when nobody is left to hear it. */
  readonly send: (message: Message.Message) => Effect.Effect<void, LocalError.TransportError>
  /** Asks, under an id of its own unless one is given; gives the id. */
  readonly request: (
    method: string,
    params?: JsonObject,
    id?: Message.RequestId
  ) => Effect.Effect<Message.RequestId, LocalError.TransportError>
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void, LocalError.TransportError>
  /** The next thing that is heard, as soon as it is; dies when it is no message, and when the other side has hung up. */
  readonly next: Effect.Effect<Message.Message>
  /** The next thing, which must be a request of this method. */
  readonly expectRequest: (method: string) => Effect.Effect<Message.Request>
  /** The next thing, which must be a notification of this method; gives its parameters. */
  readonly expectNotification: (method: string) => Effect.Effect<JsonObject>
  /** The next thing, which must be the result of this request. */
  readonly expectResult: (id: Message.RequestId) => Effect.Effect<JsonObject>
  /** The next thing, which must be an error for this request, or for none that could be read. */
  readonly expectError: (id: Message.RequestId | undefined) => Effect.Effect<{
    readonly code: number
    readonly message: string
    readonly data?: unknown
  }>
  /** Proves that nothing was said: a `ping` is the next thing that is answered. */
  readonly expectSilence: Effect.Effect<void, LocalError.TransportError>
  /** The handshake, as a client; gives the server's result. */
  readonly initialize: (
    options?: { readonly version?: string | undefined; readonly capabilities?: JsonObject | undefined }
  ) => Effect.Effect<JsonObject, LocalError.TransportError>
  /** The handshake, as a server, with this result. */
  readonly initialized: (
    options?: { readonly version?: string | undefined; readonly capabilities?: JsonObject | undefined }
  ) => Effect.Effect<void, LocalError.TransportError>
  /** Waits until the other side has hung up. */
  readonly expectEnd: Effect.Effect<void>
  /** Hangs up. */
  readonly hangUp: Effect.Effect<void>
}

/**
 * Plays one end of a pipe.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (transport: Transport.Transport): Effect.Effect<TestPeer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const heard = Outbox.make<Message.Incoming>()
    const unheard: Array<Message.Incoming> = []
    const reader = yield* Effect.forkDaemon(Effect.interruptible(Effect.ensuring(
      Transport.run(transport, (incoming) => {
        // What a transport says itself was said by nobody.
        if (!Transport.isUndelivered(incoming)) heard.unsafeOffer(incoming)
      }),
      Effect.sync(() => heard.end(Exit.void))
    )))
    yield* Effect.addFinalizer((exit) =>
      Effect.gen(function*() {
        yield* reader.interruptAsFork(reader.id())
        const rest = [...unheard, ...heard.unsafeTakeAll()]
        // A test that failed has said enough.
        if (rest.length > 0 && Exit.isSuccess(exit)) {
          yield* Effect.dieMessage(`The script ended, and this was not expected:\n${rest.map(show).join("\n")}`)
        }
      })
    )
    const tryNext: Effect.Effect<Option.Option<Message.Incoming>> = Effect.suspend(() => {
      const first = unheard.shift()
      if (first !== undefined) return Effect.succeedSome(first)
      return Effect.matchEffect(heard.takeAll, {
        onFailure: () => Effect.succeedNone,
        onSuccess: (messages) => {
          for (const message of messages) unheard.push(message)
          return tryNext
        }
      })
    })
    const next = Effect.flatMap(
      tryNext,
      Option.match({
        onNone: () => Effect.dieMessage("The other side has hung up"),
        onSome: (incoming) =>
          Message.isMalformed(incoming)
            ? Effect.dieMessage(`Expected a message, heard:\n${show(incoming)}`)
            : Effect.succeed(incoming)
      })
    )
    let lastId = 0
    const expect = <A>(what: string, f: (message: Message.Message) => A | undefined): Effect.Effect<A> =>
      Effect.flatMap(next, (message) => {
        const found = f(message)
        return found === undefined
          ? Effect.dieMessage(`Expected ${what}, heard:\n${show(message)}`)
          : Effect.succeed(found)
      })
    const request: TestPeer["request"] = (method, params, given) =>
      Effect.suspend(() => {
        const id = given ?? `test-${++lastId}`
        return Effect.as(transport.send(Message.request(id, method, params)), id)
      })
    const notify: TestPeer["notify"] = (method, params) => transport.send(Message.notification(method, params))
    const expectRequest: TestPeer["expectRequest"] = (method) =>
      expect(
        `a request "${method}"`,
        (message) => Message.isRequest(message) && message.method === method ? message : undefined
      )
    const expectNotification: TestPeer["expectNotification"] = (method) =>
      expect(
        `a notification "${method}"`,
        (message) => Message.isNotification(message) && message.method === method ? message.params ?? {} : undefined
      )
    const expectResult: TestPeer["expectResult"] = (id) =>
      expect(
        `the result of ${JSON.stringify(id)}`,
        (message) =>
          Message.isResponse(message) && message.id === id && Message.isSuccess(message) ? message.result : undefined
      )
    return {
      send: transport.send,
      request,
      notify,
      next,
      expectRequest,
      expectNotification,
      expectResult,
      expectError: (id) =>
        expect(
          `an error for ${JSON.stringify(id)}`,
          (message) =>
            Message.isResponse(message) && !Message.isSuccess(message) && (message.id ?? undefined) === id
              ? message.error
              : undefined
        ),
      expectSilence: Effect.flatMap(request("ping"), expectResult),
      initialize: (options) =>
        Effect.gen(function*() {
          const id = yield* request("initialize", {
            protocolVersion: options?.version ?? Version.latestLegacy,
            capabilities: options?.capabilities ?? {},
            clientInfo: { name: "test", version: "0.0.0" }
          })
          const result = yield* expectResult(id)
          yield* notify("notifications/initialized")
          return result
        }),
      initialized: (options) =>
        Effect.gen(function*() {
          const { id } = yield* expectRequest("initialize")
          yield* transport.send(Message.success(id, {
            protocolVersion: options?.version ?? Version.latestLegacy,
            capabilities: options?.capabilities ?? {},
            serverInfo: { name: "test", version: "0.0.0" }
          }))
          yield* expectNotification("notifications/initialized")
        }),
      expectEnd: Effect.flatMap(
        tryNext,
        Option.match({
          onNone: () => Effect.void,
          onSome: (message) => Effect.dieMessage(`Expected the other side to hang up, heard:\n${show(message)}`)
        })
      ),
      hangUp: Effect.asVoid(reader.interruptAsFork(reader.id()))
    }
  })

/**
 * Plays the client of the server in the context. What the server says is put to the official schema, what the test says is
 * not.
 *
 * @since 0.1.0
 * @category constructors
 */
export const client = (
  options?: TestTransport.Options
): Effect.Effect<TestPeer, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    const { client: mine, server: theirs } = yield* TestTransport.pair({
      ...options,
      oracle: options?.oracle ?? "server"
    })
    yield* Effect.forkScoped(dispatcher.accept(theirs))
    return yield* make(mine)
  })

/**
 * Plays the server of whoever connects with the connector, which can be used once. What the client says is put to the
 * official schema, what the test says is not.
 *
 * @since 0.1.0
 * @category constructors
 */
export const server = (
  options?: TestTransport.Options
): Effect.Effect<readonly [TestPeer, Connector.Connector], never, Scope.Scope> =>
  Effect.gen(function*() {
    const { client: theirs, server: mine } = yield* TestTransport.pair({
      ...options,
      oracle: options?.oracle ?? "client"
    })
    return [yield* make(mine), Connector.fromTransport(theirs, "a scripted server")] as const
  })

const show = (incoming: Message.Incoming): string =>
  Message.isMalformed(incoming)
    ? `? ${incoming.message}`
    : Transcript.line({ from: "client", message: incoming }).replace(/^client /, "")
