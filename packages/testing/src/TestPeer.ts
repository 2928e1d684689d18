/**
 * Scripts the peer of the side under test, message by message. For a server under test, `client` makes a scripted client. For a client
 * under test, `server` makes a scripted server; `TestClient` does the same and also makes the handshake. `Replay` plays a recorded
 * conversation.
 *
 * @since 0.1.0
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Transport from "@effect-mcp/core/Transport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as TestTransport from "./TestTransport.js"
import * as Transcript from "./Transcript.js"

/**
 * The scripted peer of the side under test. The peer sends the messages of the test, also invalid messages, and never answers by itself.
 * The peer receives the messages of the other side one by one, in their order. Each `expect…` takes the next message, and dies when this
 * message is not the expected message. The `expect…` functions have no timeout. If a test needs a timeout, add the timeout in the test.
 *
 * A script must receive all messages. When the scope closes, it dies with the messages that the script has not received, except when the
 * test has already failed. It also dies when the other side has sent a message that the official schema does not allow.
 *
 * With revision 2025-11-25 or earlier, a scripted client begins with `initialize`, and a scripted server begins with `initialized`. With
 * revision 2026-07-28, a scripted client uses `modern`, which adds the revision to the `_meta` of each request. A scripted server begins
 * with `discovered`, which answers the request `server/discover` of the client.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as TestPeer from "@effect-mcp/testing/TestPeer"
 * import { Effect } from "effect"
 *
 * const Server = McpServer.layer(
 *   { name: "greeter", version: "1.0.0" },
 *   McpServer.tool(Tool.make("greet"), () => Effect.succeed("Hello!"))
 * )
 *
 * export const test = Effect.gen(function*() {
 *   const client = yield* TestPeer.client()
 *   yield* client.initialize({ version: "2025-06-18" })
 *   const id = yield* client.request("tools/call", { name: "greet" })
 *   const { content } = yield* client.expectResult(id)
 *   yield* client.expectSilence
 *   return content
 * }).pipe(Effect.scoped, Effect.provide(Server))
 * ```
 * @category models
 */
export interface TestPeer {
  /** Sends a message, valid or not. Fails when the connection is closed. */
  readonly send: (message: Message.Message) => Effect.Effect<void, LocalError.TransportError>
  /** Sends a request and returns its id. The default of `id` is a new id. */
  readonly request: (
    method: string,
    params?: JsonObject,
    id?: Message.RequestId
  ) => Effect.Effect<Message.RequestId, LocalError.TransportError>
  readonly notify: (method: string, params?: JsonObject) => Effect.Effect<void, LocalError.TransportError>
  /** Waits for the next message. Dies when the message is malformed or when the connection is closed. */
  readonly next: Effect.Effect<Message.Message>
  /** Takes the next message, which must be a request of this method. Dies otherwise. */
  readonly expectRequest: (method: string) => Effect.Effect<Message.Request>
  /** Takes the next message, which must be a notification of this method, and returns its parameters. Dies otherwise. */
  readonly expectNotification: (method: string) => Effect.Effect<JsonObject>
  /** Takes the next message, which must answer this request with success, and returns the result. Dies otherwise. */
  readonly expectResult: (id: Message.RequestId) => Effect.Effect<JsonObject>
  /**
   * Takes the next message, which must be an error for this request, and returns the error. For an error without an id, pass `undefined`.
   * Dies otherwise.
   */
  readonly expectError: (id: Message.RequestId | undefined) => Effect.Effect<{
    readonly code: number
    readonly message: string
    readonly data?: unknown
  }>
  /**
   * Checks that no other message arrives. Sends a request, and dies when the next message is not its result. The request is `ping`, or
   * `server/discover` for a client of revision 2026-07-28.
   */
  readonly expectSilence: Effect.Effect<void, LocalError.TransportError>
  /**
   * Returns the same peer as a client of revision 2026-07-28. Each request and notification gets the `_meta` that `requestMeta` makes from
   * the options. Members in the `_meta` of the message itself take precedence.
   *
   * @example
   * ```ts
   * import * as TestPeer from "@effect-mcp/testing/TestPeer"
   * import { Effect } from "effect"
   *
   * export const listed = Effect.gen(function*() {
   *   const client = (yield* TestPeer.client()).modern({ capabilities: { elicitation: { form: {} } } })
   *   return yield* client.expectResult(yield* client.request("tools/list"))
   * })
   * ```
   */
  readonly modern: (options?: ModernOptions) => TestPeer
  /** Makes the handshake as a client, and returns the result of the server. */
  readonly initialize: (
    options?: { readonly version?: string | undefined; readonly capabilities?: JsonObject | undefined }
  ) => Effect.Effect<JsonObject, LocalError.TransportError>
  /** Makes the handshake as a server with these capabilities. Default: every capability, and the newest revision that has a handshake. */
  readonly initialized: (
    options?: { readonly version?: string | undefined; readonly capabilities?: JsonObject | undefined }
  ) => Effect.Effect<void, LocalError.TransportError>
  /**
   * Answers the first request of a client of revision 2026-07-28, as a server with these capabilities. Default: every capability without
   * `listChanged`, and the newest revision.
   */
  readonly discovered: (
    options?: { readonly version?: string | undefined; readonly capabilities?: JsonObject | undefined }
  ) => Effect.Effect<void, LocalError.TransportError>
  /** Waits until the other side closes the connection. Dies when the other side sends a message instead. */
  readonly expectEnd: Effect.Effect<void>
  /** Closes the connection. */
  readonly hangUp: Effect.Effect<void>
}

/**
 * The metadata that a client of revision 2026-07-28 sends with each request.
 *
 * @category models
 */
export interface ModernOptions {
  /** The protocol revision. Default: the newest revision. */
  readonly version?: string | undefined
  /** The capabilities of the client. Default: none. */
  readonly capabilities?: JsonObject | undefined
  /** The lowest level of log messages that the client wants. Default: the client wants no log messages. */
  readonly logLevel?: string | undefined
  readonly progressToken?: Message.RequestId | undefined
}

/**
 * Makes the `_meta` of a request of revision 2026-07-28: revision, client info, capabilities, and the other members of the options.
 *
 * @category utils
 */
export const requestMeta = (
  { capabilities = {}, logLevel, progressToken, version = Version.latestModern }: ModernOptions = {}
): JsonObject => ({
  [Meta.keys.protocolVersion]: version,
  [Meta.keys.clientInfo]: { name: "test", version: "0.0.0" },
  [Meta.keys.clientCapabilities]: capabilities,
  ...(logLevel === undefined ? undefined : { [Meta.keys.logLevel]: logLevel }),
  ...(progressToken === undefined ? undefined : { [Meta.keys.progressToken]: progressToken })
})

/** Every capability, because a client refuses to call methods whose capability the server does not declare. */
const everyCapability = {
  completions: {},
  logging: {},
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  tools: { listChanged: true }
}

/**
 * Every capability without `listChanged`, because a client would subscribe to the changes that a server of revision 2026-07-28 declares.
 */
const everyModernCapability = { completions: {}, logging: {}, prompts: {}, resources: {}, tools: {} }

/**
 * Scripts one end of a transport.
 *
 * @category constructors
 */
export const make = (transport: Transport.Transport): Effect.Effect<TestPeer, never, Scope.Scope> =>
  Effect.gen(function*() {
    // `None` means the end of the connection.
    const received = yield* Queue.unbounded<Option.Option<Message.Incoming>>()
    // A fiber that is interrupted before it has begun reports the end, too, because it begins uninterruptible.
    const reader = yield* Effect.uninterruptible(Effect.forkDaemon(Effect.ensuring(
      Effect.interruptible(Transport.run(transport, (incoming) => {
        // The transport reports undelivered messages. These reports are not messages of the peer.
        if (!(incoming instanceof Transport.Undelivered)) {
          Queue.unsafeOffer(received, Option.some(incoming))
        }
      })),
      Queue.offer(received, Option.none())
    )))
    yield* Effect.addFinalizer((exit) =>
      Effect.gen(function*() {
        yield* Fiber.interruptFork(reader)
        const rest = Arr.getSomes(yield* EffectInternals.takeWaiting(received))
        yield* Queue.offer(received, Option.none())
        // A test that has failed reports its own error.
        if (rest.length > 0 && Exit.isSuccess(exit)) {
          yield* Effect.dieMessage(`The script ended before it received:\n${rest.map(show).join("\n")}`)
        }
      })
    )
    // The end stays in the queue, so that each later wait for a message finds it.
    const tryNext = Effect.tap(
      Queue.take(received),
      (incoming) => Option.isNone(incoming) ? Queue.offer(received, incoming) : Effect.void
    )
    const next = Effect.flatMap(
      tryNext,
      Option.match({
        onNone: () => Effect.dieMessage("The other side has closed the connection"),
        onSome: (incoming) =>
          Message.isMalformed(incoming)
            ? Effect.dieMessage(`Expected a message, received:\n${show(incoming)}`)
            : Effect.succeed(incoming)
      })
    )
    let lastId = 0
    const expect = <A>(what: string, f: (message: Message.Message) => A | undefined): Effect.Effect<A> =>
      Effect.flatMap(next, (message) => {
        const found = f(message)
        return found === undefined
          ? Effect.dieMessage(`Expected ${what}, received:\n${show(message)}`)
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
    const peer: TestPeer = {
      send: transport.send,
      modern: (options) => {
        const withMeta = (params?: JsonObject): JsonObject => ({
          ...params,
          _meta: { ...requestMeta(options), ...(params?.["_meta"] as JsonObject | undefined) }
        })
        const own: TestPeer["request"] = (method, params, id) => request(method, withMeta(params), id)
        return {
          ...peer,
          request: own,
          notify: (method, params) => notify(method, withMeta(params)),
          expectSilence: Effect.flatMap(own("server/discover"), expectResult)
        }
      },
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
            capabilities: options?.capabilities ?? everyCapability,
            serverInfo: { name: "test", version: "0.0.0" }
          }))
          yield* expectNotification("notifications/initialized")
        }),
      discovered: (options) =>
        Effect.gen(function*() {
          const { id } = yield* expectRequest("server/discover")
          yield* transport.send(Message.success(id, {
            resultType: "complete",
            supportedVersions: [options?.version ?? Version.latestModern],
            capabilities: options?.capabilities ?? everyModernCapability,
            ttlMs: 0,
            cacheScope: "private",
            _meta: { [Meta.keys.serverInfo]: { name: "test", version: "0.0.0" } }
          }))
        }),
      expectEnd: Effect.flatMap(
        tryNext,
        Option.match({
          onNone: () => Effect.void,
          onSome: (message) =>
            Effect.dieMessage(`Expected the other side to close the connection, received:\n${show(message)}`)
        })
      ),
      hangUp: Fiber.interruptFork(reader)
    }
    return peer
  })

/**
 * Scripts a client of the server in the context. The messages of the server are checked against the official schema. The messages of the
 * script are not checked.
 *
 * @category utils
 */
export const client = (
  options?: TestTransport.Options & {
    /** The facts about the client that a transport passes to the authenticator. Default: a client in the process of the server. */
    readonly as?: Authenticator.Caller | undefined
  }
): Effect.Effect<TestPeer, never, Dispatcher | Scope.Scope> =>
  Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    const { client: mine, server: theirs } = yield* TestTransport.pair({
      ...options,
      oracle: options?.oracle ?? "server"
    })
    yield* Effect.forkScoped(dispatcher.accept(theirs, options?.as ?? Authenticator.inProcess))
    return yield* make(mine)
  })

/**
 * Scripts a server for the client that connects with the connector. The connector can be used only one time. The messages of the client are
 * checked against the official schema. The messages of the script are not checked.
 *
 * @category utils
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
