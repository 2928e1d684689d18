/**
 * The one layer that all transports feed: it runs a supervised conversation for each transport that a listener yields.
 * Adding a transport to a server is adding a layer on top of this one.
 *
 * It chooses the era of each conversation, and knows no method and no feature.
 *
 * @since 0.1.0
 */
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { Delivery, Listener, Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Connection } from "./legacy/Connection.js"
import * as Serve from "./legacy/Serve.js"
import * as StatelessConversation from "./legacy/StatelessConversation.js"
import * as Subscriptions from "./legacy/Subscriptions.js"
import type { RegistryService } from "./Registry.js"
import * as Changes from "./runtime/Changes.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface DispatcherService {
  /**
   * Serves one client until it hangs up, or the server is gone. Interrupting ends the conversation: what is in flight is
   * stopped and answered.
   */
  readonly accept: (transport: Transport) => Effect.Effect<void>
  /**
   * Serves every client that a listener yields, until it yields no more and all have hung up. Fails with the listener;
   * then the conversations it began are ended.
   */
  readonly listen: <E, R>(listener: Listener<E, R>) => Effect.Effect<void, E, R>
  /**
   * Begins a conversation for who feeds it: what the client says is handed over by `receive`, and the transport is only
   * spoken to. It runs in the server's context, until it is closed; `onEnd` runs when the server closes it.
   */
  readonly open: (transport: Transport, onEnd: () => void) => FedConversation
  /**
   * Serves one message that belongs to no conversation, and was not preceded by a handshake: the answer leaves on the
   * channel. The client cannot be asked. What is in flight ends with the server, or with what this gives, which may be
   * called as long as there was no answer.
   */
  readonly exchange: (incoming: Message.Incoming, channel: Channel, version: LegacyVersion) => () => void
  /** The revisions that the server speaks. */
  readonly versions: ReadonlyArray<LegacyVersion>
  /** How many listeners are being listened to. */
  readonly listeners: () => number
  /** How many conversations are going on. */
  readonly conversations: () => number
}

/**
 * A conversation that is going on, for who feeds it.
 *
 * @since 0.1.0
 * @category models
 */
export interface FedConversation {
  /** Takes in one more message; answers to it leave on the channel. */
  readonly receive: (incoming: Delivery, channel?: Channel) => void
  /** Ends the conversation: what is in flight is stopped and answered. Safe to run twice; the first waits for all of it. */
  readonly close: Effect.Effect<void>
  /** The revision that was agreed on; none before `initialize` was answered. */
  readonly version: () => LegacyVersion | undefined
  /** How many requests of the client are being answered. */
  readonly inFlight: () => number
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Dispatcher extends Context.Tag("@effect-mcp/server/Dispatcher")<Dispatcher, DispatcherService>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How many requests of one client may be in flight; more are answered with -32000. Default: 64. */
  readonly maxInFlight?: number | undefined
  /** How many requests may be in flight that came without a session, of all clients together. Default: 4,096. */
  readonly maxExchanges?: number | undefined
  /** How long closing a conversation waits for handlers that cannot be interrupted. Default: 5 seconds. */
  readonly closeTimeout?: Duration.DurationInput | undefined
  /** How long a request to a client waits, unless it says so itself. Default: 60 seconds. */
  readonly requestTimeout?: Duration.DurationInput | undefined
}

/**
 * Conversations run in the scope and the context of the server, whoever hands over their transports: they end with it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  server: Serve.Server,
  registry: RegistryService,
  options: Options
): Effect.Effect<DispatcherService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const serving = Serve.make(server)
    const connections = new Set<Connection>()
    let listeners = 0
    yield* Changes.announce(registry, (kind) =>
      Effect.forEach([...connections], (connection) => connection.announce(changeOf[kind]), { discard: true }))
    yield* registry.onUpdate((uri) =>
      Effect.forEach([...connections], (connection) =>
        Subscriptions.updated(connection, uri), { discard: true })
    )
    const run = yield* FiberSet.makeRuntime<never, any, never>()
    const converser = yield* Conversation.factory
    const conversationOptions = (connection: () => Connection): Conversation.Options => ({
      maxInFlight: options.maxInFlight,
      closeTimeout: options.closeTimeout,
      timeout: options.requestTimeout ?? "60 seconds",
      // Before `initialize` no revision is agreed on.
      batches: () => connection().accepted && Version.hasBatches(connection().version)
    })
    // What the application's session layer is built in; without one, nothing is put into it.
    const home = yield* Effect.scope
    const sessionScope = (): Scope.CloseableScope | undefined =>
      server.session === undefined ? undefined : Effect.runSync(Scope.make())
    const leave = (connection: Connection, scope: Scope.CloseableScope | undefined): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!connections.delete(connection)) return Effect.void
        return scope === undefined
          ? connection.silence
          : Effect.zipRight(connection.silence, Scope.close(scope, Exit.void))
      })

    const converse = (transport: Transport): Effect.Effect<void> =>
      Effect.scoped(Effect.gen(function*() {
        let connection!: Connection
        const scope = sessionScope()
        // Before the conversation, so that it closes after it: handlers use what is in it to their end.
        yield* Effect.addFinalizer(() => leave(connection, scope))
        const conversation = yield* Conversation.make(
          transport,
          (outbound) => Serve.side(serving, connection = new Connection(outbound, scope ?? home)),
          conversationOptions(() => connection)
        )
        connections.add(connection)
        yield* Effect.catchAll(
          conversation.ended,
          (error) => Effect.logDebug(`A conversation ended: ${error.message}`, error)
        )
      }))

    const fed = new Set<FedConversation>()
    let closing = false
    const open = (transport: Transport, onEnd: () => void): FedConversation => {
      let connection!: Connection
      const scope = sessionScope()
      const conversation = converser(
        transport,
        (outbound) => Serve.side(serving, connection = new Connection(outbound, scope ?? home)),
        conversationOptions(() => connection)
      )
      connections.add(connection)
      const opened: FedConversation = {
        receive: conversation.receive,
        close: Effect.suspend(() => {
          const byServer = fed.delete(opened) && closing
          return Effect.zipRight(
            Effect.zipRight(conversation.close, leave(connection, scope)),
            byServer ? Effect.sync(onEnd) : Effect.void
          )
        }),
        version: () => connection.accepted ? connection.version : undefined,
        inFlight: conversation.inFlight
      }
      fed.add(opened)
      if (closing) run(opened.close)
      return opened
    }
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closing = true
        return Effect.forEach([...fed], ({ close }) => close, { concurrency: "unbounded", discard: true })
      })
    )
    const exchanges = yield* StatelessConversation.make(serving, options)
    const accept = (transport: Transport): Effect.Effect<void> =>
      Effect.acquireUseRelease(
        Effect.sync(() => run(Effect.interruptible(converse(transport)))),
        (fiber) => Effect.flatMap(Fiber.await(fiber), whyEnded),
        Fiber.interrupt
      )
    const listen = <E, R>(listener: Listener<E, R>): Effect.Effect<void, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => listeners++),
        () =>
          Effect.scoped(Effect.gen(function*() {
            const clients = yield* FiberSet.make<void>()
            yield* Stream.runForEach(listener, (transport) => FiberSet.run(clients, accept(transport)))
            yield* FiberSet.awaitEmpty(clients)
          })),
        () => Effect.sync(() => listeners--)
      )
    return {
      accept,
      listen,
      open,
      exchange: exchanges,
      versions: server.versions,
      listeners: () => listeners,
      conversations: () => connections.size
    }
  })

// A server that is gone serves nobody: that is how a conversation ends, too.
const whyEnded = (exit: Exit.Exit<void>): Effect.Effect<void> =>
  Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? exit : Effect.void

const changeOf = {
  tools: Methods.toolListChanged,
  resources: Methods.resourceListChanged,
  prompts: Methods.promptListChanged
} as const
