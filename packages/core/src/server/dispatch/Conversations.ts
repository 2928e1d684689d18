/**
 * The conversations of a server, for `Dispatch`. A conversation is the exchange of messages with one client, on a transport or in an HTTP
 * session. This module begins the conversations, and ends all of them when the server's scope closes.
 *
 * A conversation runs in the server's context. One fiber reads a transport, and ends the conversations of the transport when the transport
 * ends (`PipeClients`). No fiber reads an HTTP session: the session passes each message to its conversation (`SessionConversation`).
 * `EraOfMessage` decides whether the modules in `legacy` or in `modern` serve a message.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Conversation from "../../jsonrpc/Conversation.js"
import type { TransportError } from "../../jsonrpc/LocalError.js"
import type { Channel, Side } from "../../jsonrpc/Side.js"
import type { Sender, Transport } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Release from "../../kit/Release.js"
import { coalesced } from "../../kit/SingleFlight.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as Version from "../../protocol/Version.js"
import type { Caller } from "../Authenticator.js"
import type * as Dispatcher from "../Dispatcher.js"
import { Connection } from "../legacy/Connection.js"
import * as SessionFacts from "../legacy/SessionFacts.js"
import * as Authentication from "../runtime/Authentication.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { Open } from "../runtime/SessionConversation.js"
import * as Defects from "../telemetry/Defects.js"
import * as Metrics from "../telemetry/Metrics.js"
import { Pipe, type Started } from "./PipeClients.js"
import type { TracedServer } from "./Tracing.js"

/** A conversation whose transport the server reads. */
export interface ReadConversation {
  /** Ends when the transport and all its conversations have ended. */
  readonly ended: Effect.Effect<void>
  /** Calls back when the transport and its conversations have ended. Calls back immediately if they have already ended. */
  readonly onEnd: (callback: () => void) => void
  /** Ends the conversations: interrupts their handlers, and answers the requests that have no answer yet. */
  readonly close: Effect.Effect<void>
}

export interface Conversations {
  /**
   * Begins a conversation, and reads the transport as soon as the caller is authenticated. After the server has closed, this function does
   * not read the transport.
   */
  readonly read: (transport: Transport, caller?: Caller) => ReadConversation
  /** Begins a conversation. The caller passes the messages to it. The server calls `onEnd` when it closes the conversation. */
  readonly feed: Open
  /** Runs an effect for each open conversation. */
  readonly forEach: (run: (connection: Connection) => Effect.Effect<void>) => Effect.Effect<void>
  /** The number of open conversations. */
  readonly size: number
}

export const make = (
  server: Env["server"],
  /**
   * Makes the functions that serve the messages of a conversation. The conversation may have these revisions; `undefined` allows all
   * revisions of the server.
   */
  side: Env["side"],
  options: Dispatcher.Options
): Effect.Effect<Conversations, never, Scope.Scope> =>
  Effect.gen(function*() {
    const begin = yield* Conversation.factory
    const runtime = yield* EffectInternals.currentServices()
    const conversations = new ServerConversations({
      server,
      side,
      options,
      begin,
      runtime,
      serverScope: yield* Effect.scope
    })
    yield* Metrics.requests.observe(() => conversations.sum((_, { inFlight }) => inFlight()))
    yield* Metrics.subscriptions.observe(() => conversations.sum(({ subscriptions }) => subscriptions?.size ?? 0))
    yield* Effect.addFinalizer(() => conversations.close)
    return conversations
  })

interface Env {
  readonly server: Pick<TracedServer, "authenticate" | "limits" | "session" | "tracing" | "versions">
  readonly side: (connection: Connection, versions: ReadonlyArray<Version.Version> | undefined) => Side
  readonly options: Dispatcher.Options
  readonly begin: Effect.Effect.Success<typeof Conversation.factory>
  readonly runtime: EffectInternals.Services
  readonly serverScope: Scope.Scope
}

/**
 * Mutable fields: the open conversations by their connections, the effects that close the conversations, and whether the server has begun
 * to close all conversations.
 */
class ServerConversations implements Conversations {
  private readonly connections = new Map<Connection, { readonly inFlight: () => number }>()
  private readonly closes = new Set<Effect.Effect<void>>()
  private readonly report: ReturnType<typeof Defects.report>
  private closing = false

  constructor(private readonly env: Env) {
    this.report = Defects.report(env.options)
  }

  forEach(run: (connection: Connection) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => Effect.forEach([...this.connections.keys()], run, { discard: true }))
  }

  get size(): number {
    return this.connections.size
  }

  sum(of: (connection: Connection, conversation: { readonly inFlight: () => number }) => number): number {
    let total = 0
    for (const [connection, conversation] of this.connections) total += of(connection, conversation)
    return total
  }

  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closing = true
      return Effect.forEach([...this.closes], (close) => close, { concurrency: "unbounded", discard: true })
    })
  }

  private start(transport: Sender, versions?: ReadonlyArray<Version.Version>, afterId?: number): Started {
    const { begin, options, server, serverScope, side } = this.env
    const { limits } = server
    // Only a session layer needs a scope for each conversation.
    const scope = server.session === undefined ? undefined : Effect.runSync(Scope.make())
    let connection!: Connection
    const conversation = begin(
      transport,
      (outbound) => side(connection = new Connection(outbound, scope ?? serverScope), versions),
      {
        maxInFlight: limits.maxInFlight,
        maxWaiting: limits.maxWaiting,
        maxWaitingText: limits.maxWaitingText,
        heartbeat: options.heartbeat === undefined ? undefined : {
          ...options.heartbeat,
          method: () => connection.accepted ? Methods.ping.name : undefined
        },
        closeTimeout: options.closeTimeout,
        report: this.report,
        timeout: limits.requestTimeout,
        afterId,
        // Before `initialize` the two sides have not agreed on a revision.
        batches: () => connection.accepted && Version.hasBatches(connection.version)
      }
    )
    this.connections.set(connection, conversation)
    const lasted = server.tracing &&
      EffectInternals.exitOf(EffectInternals.runFork(this.env.runtime, server.tracing.session))
    let releasing: Deferred.Deferred<void> | undefined
    // Runs after the handlers have ended, because handlers use the services of the session until they end.
    const release = Effect.suspend(() => {
      if (releasing !== undefined) return Deferred.await(releasing)
      const released = releasing = EffectInternals.deferred<void>()
      this.connections.delete(connection)
      const closeSession = connection.closeSession()
      const recorded = lasted?._tag === "Success" ? lasted.value : Effect.void
      const stopping = Effect.zipRight(
        Effect.zipRight(connection.stopAnnouncing(options.closeTimeout), recorded),
        closeSession === undefined
          ? Effect.void
          : Release.within(closeSession, "What features keep for a client", options.closeTimeout)
      )
      return Effect.uninterruptible(Effect.intoDeferred(
        scope === undefined ? stopping : Effect.zipRight(
          stopping,
          Release.within(Scope.close(scope, Exit.void), "The session layer of a client", options.closeTimeout)
        ),
        released
      ))
    })
    return { connection, conversation, release }
  }

  readonly read: Conversations["read"] = (transport, caller = { _tag: "Other" }) => {
    const { options, runtime, server: { authenticate } } = this.env
    if (this.closing) return { ended: Effect.void, close: Effect.void, onEnd: (callback) => callback() }
    const identified = authenticate === undefined
      ? { transport, before: Effect.void }
      : identify(authenticate, transport, caller)
    const pipe = new Pipe({
      transport: identified.transport,
      versions: this.env.server.versions,
      hasHeartbeat: options.heartbeat !== undefined,
      start: (afterId) => this.start(identified.transport, undefined, afterId),
      fork: (effect) => void EffectInternals.runFork(runtime, effect)
    })
    const ended = EffectInternals.deferred<void>()
    const end = Effect.onExit(pipe.release, () =>
      Effect.sync(() => {
        this.closes.delete(close)
        EffectInternals.done(ended, Effect.void)
      }))
    const reader = EffectInternals.runFork(
      runtime,
      Effect.onExit(
        Effect.interruptible(Effect.zipRight(identified.before, pipe.read)),
        () => pipe.close.pipe(Effect.zipRight(Effect.catchAll(pipe.ended, logged)), Effect.zipRight(end))
      )
    )
    const close: Effect.Effect<void> = pipe.close.pipe(
      // This code interrupts the reader after it has closed the conversations, because the last responses need the transport. The fiber
      // that reads a transport may be uninterruptible.
      Effect.zipRight(Effect.suspend(() => {
        EffectInternals.interrupt(reader)
        return TimeLimit.exit(reader, options.closeTimeout)
      })),
      Effect.zipRight(end)
    )
    this.closes.add(close)
    return { ended: Deferred.await(ended), close, onEnd: (callback) => reader.addObserver(callback) }
  }

  readonly feed: Conversations["feed"] = (transport, onEnd, { shared, versions } = {}) => {
    const { options, runtime } = this.env
    const { connection, conversation, release } = this.start(transport, versions)
    if (shared?.facts !== undefined) SessionFacts.restore(connection, shared.facts)
    if (shared !== undefined) {
      connection.persist = coalesced(Effect.suspend(() => shared.store(SessionFacts.toJson(connection))))
      connection.isLost = () => shared.isLost
    }
    let ending = false
    const watching = options.heartbeat === undefined ? undefined : EffectInternals.runFork(
      runtime,
      Effect.catchAll(conversation.heartbeat, (error) => Effect.zipRight(logged(error), Effect.sync(onEnd)))
    )
    const close: Effect.Effect<void> = Effect.suspend(() => {
      const byServer = !ending && this.closing
      ending = true
      if (watching !== undefined) EffectInternals.interrupt(watching)
      return Effect.zipRight(
        Effect.zipRight(conversation.close, release),
        Effect.sync(() => {
          this.closes.delete(close)
          if (byServer) onEnd()
        })
      )
    })
    this.closes.add(close)
    if (this.closing) EffectInternals.runFork(runtime, close)
    return {
      receive: conversation.receive,
      close,
      version: () => connection.accepted ? connection.version : undefined,
      inFlight: conversation.inFlight
    }
  }
}

/**
 * Makes a transport that adds the user of the caller to each message. The effect `before` finds the user. Run this effect before you read
 * the first message.
 */
const identify = (
  authenticate: Authentication.Authenticate,
  transport: Transport,
  caller: Caller
): { readonly transport: Transport & Channel; readonly before: Effect.Effect<void> } => {
  const { canRequest, canSend, run } = transport
  let origin: RequestOrigin.RequestOrigin = caller._tag === "Http"
    ? { ...RequestOrigin.none, headers: caller.request.headers }
    : RequestOrigin.none
  return {
    transport: {
      incoming: transport.incoming,
      send: (message) => transport.send(message),
      unsafeSend: (message, options) => transport.unsafeSend(message, options),
      ...(run === undefined ? undefined : { run: (receive) => transport.run!(receive) }),
      canSend: canSend && (() => transport.canSend!()),
      ...(canRequest === undefined ? undefined : { canRequest: () => transport.canRequest!() }),
      exchanges: transport.exchanges,
      get origin() {
        return origin
      }
    },
    before: Effect.match(Authentication.find(authenticate, caller), {
      onFailure: (refusal) => void (origin = { ...origin, refusal }),
      onSuccess: ({ principal, user }) => void (origin = { ...origin, principal, user })
    })
  }
}

const logged = (error: TransportError): Effect.Effect<void> =>
  Effect.logDebug(`A conversation ended: ${error.message}`, error)
