/**
 * Makes the `Dispatcher` of a server, for `Build`. The dispatcher serves the conversations of transports (`Conversations`) and the requests
 * without a session, and notifies all clients of changes. `Endpoint` and `HttpTransports` use further members of the dispatcher
 * (`Entrances`).
 *
 * `serve` of the dispatcher serves one message that belongs to no conversation. The result is a stream of the messages for the sender. One
 * `Requests` object runs these messages and the POSTs without a session, so they share their limits.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as Requests from "../../jsonrpc/runtime/Requests.js"
import type { RequestSide } from "../../jsonrpc/Side.js"
import type { Listener, Transport } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Outbox from "../../kit/Outbox.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as Version from "../../protocol/Version.js"
import type { Caller, Refuses } from "../Authenticator.js"
import type { Change } from "../ChangeBus.js"
import { Dispatcher, type DispatcherService, type Options } from "../Dispatcher.js"
import type { Headers } from "../http/HttpExchange.js"
import { ABANDON_AFTER } from "../http/ResolvedOptions.js"
import type { Connection } from "../legacy/Connection.js"
import * as Initialize from "../legacy/Initialize.js"
import * as LegacyServerSide from "../legacy/ServerSide.js"
import * as Subscriptions from "../legacy/Subscriptions.js"
import * as RequestFacts from "../modern/RequestFacts.js"
import * as ModernServerSide from "../modern/ServerSide.js"
import type { Subscriptions as ModernSubscriptions } from "../modern/Subscriptions.js"
import * as NodeChanges from "../nodes/NodeChanges.js"
import type { Kind, RegistryService } from "../Registry.js"
import { AnswerChannel } from "../runtime/AnswerChannel.js"
import * as Authentication from "../runtime/Authentication.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as Permission from "../runtime/Permission.js"
import * as RequestOrigin from "../runtime/RequestOrigin.js"
import type { Server } from "../runtime/Server.js"
import type { Open } from "../runtime/SessionConversation.js"
import * as Defects from "../telemetry/Defects.js"
import * as Metrics from "../telemetry/Metrics.js"
import type { ReadConversation } from "./Conversations.js"
import * as Conversations from "./Conversations.js"
import * as EraOfMessage from "./EraOfMessage.js"
import type { ServerTasks } from "./ServerTasks.js"
import type { TracedServer } from "./Tracing.js"

/** The members of a dispatcher that HTTP endpoints use. Every dispatcher that `make` makes has these members. */
export interface Entrances extends
  DispatcherService,
  Pick<
    TracedServer,
    "authenticate" | "documents" | "observers" | "requiredScopes" | "session" | "taskScopes" | "tracing"
  >
{
  readonly open: Open
  /** Runs the requests that belong to no conversation. The limits of these requests apply to all endpoints of the server together. */
  readonly requests: Requests.Requests
  readonly legacy: LegacyServerSide.LegacyServerSide | undefined
  readonly modern: ModernServerSide.ModernServerSide | undefined
}

/** The `Dispatcher` with the members for HTTP endpoints. The two tags have the same key, because they identify the same service. */
export const Entrances: Context.Tag<Dispatcher, Entrances> = Context.GenericTag<Dispatcher, Entrances>(Dispatcher.key)

export const make = (
  server: TracedServer,
  registry: RegistryService,
  tasks: ServerTasks | undefined,
  options: Options
): Effect.Effect<Entrances, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { limits, versions } = server
    const scope = yield* Effect.scope
    const legacy = versions.some(Version.isLegacy) ? LegacyServerSide.make(server, tasks?.legacy) : undefined
    const modern = versions.some(Version.isModern) ? ModernServerSide.make(server, tasks?.modern) : undefined
    if (modern !== undefined) yield* Metrics.subscriptions.observe(() => modern.subscriptions.size)
    const conversations = yield* Conversations.make(
      server,
      (connection, only = versions) =>
        EraOfMessage.side(
          { legacy, modern: only.some(Version.isModern) ? modern : undefined } as EraOfMessage.Eras,
          connection,
          only
        ),
      options
    )
    const requests = yield* Requests.make({
      limits: {
        running: limits.maxExchanges,
        waiting: limits.maxWaiting,
        text: limits.maxWaitingText
      },
      perClient: {
        limit: limits.maxInFlight,
        clientOf: RequestOrigin.principalOf
      },
      closeTimeout: options.closeTimeout ?? TimeLimit.CLOSE,
      report: Defects.report(options)
    })
    yield* Metrics.requests.observe(() => requests.size)
    const changed = yield* NodeChanges.deliver(registry, deliverTo(conversations, modern?.subscriptions, registry))
    if (modern !== undefined) {
      modern.subscriptions.deliver = (kind, principal) => changed({ _tag: "List", kind, principal })
    }

    const listeners = new Listeners(conversations)
    return {
      accept: (transport, caller) =>
        Effect.suspend(() => {
          const { close, ended } = conversations.read(transport, caller)
          return Effect.onInterrupt(ended, () => close)
        }),
      listen: (listener, caller) => listeners.listen(listener, caller),
      serve: single(server, legacy, modern, requests, scope),
      authenticate: server.authenticate,
      documents: server.documents,
      observers: server.observers,
      requiredScopes: server.requiredScopes,
      taskScopes: server.taskScopes,
      session: server.session,
      tracing: server.tracing,
      open: conversations.feed,
      requests,
      legacy,
      modern,
      versions,
      listening: Effect.acquireRelease(listeners.begin, () => listeners.end),
      listeners: () => listeners.size,
      listenersEnded: listeners.ended,
      conversations: () => conversations.size
    }
  })

/** Makes the function that delivers a change to the clients of this node. */
const deliverTo = (
  conversations: Conversations.Conversations,
  subscriptions: ModernSubscriptions | undefined,
  registry: RegistryService
): (change: Change) => Effect.Effect<void> => {
  const announce = (kind: Kind) =>
    Effect.zipRight(
      conversations.forEach((connection) => announceTo(connection, kind)),
      subscriptions?.announce(kind) ?? Effect.void
    )
  return (change) => {
    switch (change._tag) {
      case "List":
        return change.principal === undefined
          ? announce(change.kind)
          : subscriptions?.announceTo(change.principal, change.kind) ?? Effect.void
      case "Resource":
        return Effect.zipRight(
          conversations.forEach(Subscriptions.updated(change.uri)),
          subscriptions?.updated(change.uri) ?? Effect.void
        )
      case "Extension":
        return subscriptions?.extended(change.notification) ?? Effect.void
      case "Unknown":
        return Effect.all([
          Effect.forEach(kinds.filter(registry.offers), announce, { discard: true }),
          conversations.forEach(Subscriptions.allUpdated),
          subscriptions?.allUpdated ?? Effect.void
        ], { discard: true })
    }
  }
}

/** Counts the running listeners of a dispatcher, in the mutable field `size`. */
class Listeners {
  size = 0
  private readonly unused = EffectInternals.latch(true)
  /** Ends when no listener is running. */
  readonly ended = this.unused.await
  readonly begin = Effect.sync(() => {
    this.size++
    EffectInternals.close(this.unused)
  })
  readonly end = Effect.sync(() => {
    if (--this.size === 0) EffectInternals.open(this.unused)
  })

  constructor(private readonly conversations: Conversations.Conversations) {}

  listen<E, R>(listener: Listener<E, R>, caller?: (transport: Transport) => Caller): Effect.Effect<void, E, R> {
    return Effect.acquireUseRelease(
      Effect.map(this.begin, () => new Set<ReadConversation>()),
      (clients) =>
        Effect.zipRight(
          Stream.runForEach(listener, (transport) =>
            Effect.sync(() => {
              const client = this.conversations.read(transport, caller?.(transport))
              clients.add(client)
              client.onEnd(() => clients.delete(client))
            })),
          Effect.suspend(() => Effect.forEach([...clients], ({ ended }) => ended, { discard: true }))
        ),
      (clients) =>
        Effect.ensuring(
          Effect.forEach([...clients], ({ close }) => close, { concurrency: "unbounded", discard: true }),
          this.end
        )
    )
  }
}

const kinds: ReadonlyArray<Kind> = ["tools", "resources", "prompts"]

/**
 * Notifies a client of revision 2025-11-25 or earlier that a list has changed, outside of any request. The client receives the notification
 * only if the server advertised `listChanged`.
 */
const announceTo = (connection: Connection, kind: Kind): Effect.Effect<void> => connection.announce(notifications[kind])

const notifications = {
  tools: Methods.toolListChanged,
  resources: Methods.resourceListChanged,
  prompts: Methods.promptListChanged
} as const

type Messages = Stream.Stream<Message.Message>

/**
 * Makes `serve` of the `Dispatcher`: finds the user, chooses the modules that serve the message (`legacy` or `modern`), and starts the
 * request. When the stream is closed early, a request of revision 2026-07-28 or later is interrupted. With an earlier revision, the handler
 * goes on for at most `ABANDON_AFTER`.
 */
const single = (
  { authenticate, requiredScopes, versions }: Pick<Server, "authenticate" | "requiredScopes" | "versions">,
  legacy: LegacyServerSide.LegacyServerSide | undefined,
  modern: ModernServerSide.ModernServerSide | undefined,
  requests: Requests.Requests,
  /** The scope of the server. It ends a request that goes on after its stream was closed. */
  scope: Scope.Scope
): DispatcherService["serve"] => {
  const choose = EraOfMessage.chooser(versions)
  const legacyVersions = versions.filter(Version.isLegacy)

  const sideOf = (request: Message.Request, era: Version.Era, headers: Headers | undefined): RequestSide => {
    if (era === "modern") {
      return modern!.posted({ envelope: RequestFacts.envelopeOfRequest(request, headers, versions), headers })
    }
    const version = Initialize.versionOf(request, headers?.[VERSION], legacyVersions)
    return typeof version === "string"
      ? legacy!.to(Initialize.withoutHandshake(request, version))
      : refusing(version, era)
  }

  const start = (
    channel: SingleChannel,
    request: Message.Request,
    side: RequestSide,
    era: Version.Era
  ): Effect.Effect<Messages, never, Scope.Scope> => {
    const { outbox } = channel
    const started = Effect.acquireRelease(Effect.sync(() => requests.start(channel, request, side)), (active) => {
      const isRunning = () => active?.answered === false
      const end = Effect.sync(() => {
        if (isRunning()) active!.cancel()
        outbox.end(Exit.void)
      })
      if (era === "modern" || !isRunning()) return end
      // Reads the messages in place of the client, so that the handler is not suspended.
      const rest = TimeLimit.end(Effect.forever(outbox.takeAll), ABANDON_AFTER)
      // A fiber that a finalizer forks cannot be interrupted, and this fiber must end with the server.
      return Effect.forkIn(Effect.ensuring(Effect.ignore(Effect.interruptible(rest)), end), scope)
    })
    return Effect.as(started, outbox.stream)
  }

  return (given, caller = { _tag: "Other" }) => {
    const incoming = MessageText.fromValue(given)
    const headers = caller._tag === "Http" ? caller.request.headers : undefined
    const user = authenticate === undefined ? Effect.succeed(ANYBODY) : Authentication.find(authenticate, caller)
    return Stream.unwrapScoped(Effect.flatMap(Effect.either(user), (found) => {
      if (Message.isMalformed(incoming)) return Effect.succeed(ofMalformed(incoming))
      // Drops the response, because the server has sent no request to which the response could belong.
      if (Message.isResponse(incoming)) return Effect.succeed(Stream.empty)
      const chosen = choose(incoming, headers?.[VERSION])
      const era = typeof chosen === "string" ? chosen : legacy === undefined ? "modern" : "legacy"
      const refusal = Either.isLeft(found)
        ? found.left
        : found.right.user && Permission.refusal(found.right.user, requiredScopes(incoming))
      const error = refusal ?? (typeof chosen === "string" ? undefined : chosen)
      const facts = Either.getOrElse(found, () => ANYBODY)
      const origin = { ...RequestOrigin.none, ...facts, headers: headers ?? {}, services: caller.services }
      if (Message.isRequest(incoming)) {
        const side = error === undefined ? sideOf(incoming, era, headers) : refusing(error, era)
        return start(new SingleChannel(origin), incoming, side, era)
      }
      // Without a session, a legacy notification has no meaning, because the server stores nothing about the client.
      const isServed = error === undefined && era === "modern" && !requests.closing
      if (isServed && RequestFacts.refusalOfNotification(incoming, headers, versions) === undefined) {
        ModernServerSide.notify(requests, modern!, incoming, origin)
      }
      return Effect.succeed(Stream.empty)
    }))
  }
}

/** Buffers the notifications and the response of a request for the reader of the stream. The response ends the stream. */
class SingleChannel extends AnswerChannel {
  readonly outbox = Outbox.make<Message.Message>()

  constructor(readonly origin: RequestOrigin.RequestOrigin) {
    super()
  }

  protected get buffer() {
    return this.outbox
  }

  // An arrow function, because a sender calls it without its object.
  readonly unsafeSend = (message: Message.Message): boolean => {
    const isTaken = this.outbox.unsafeOffer(message)
    if (Message.isResponse(message)) this.outbox.end(Exit.void)
    return isTaken
  }

  canRequest(): boolean {
    return false
  }
}

const VERSION = "mcp-protocol-version"

const ANYBODY: Pick<RequestOrigin.RequestOrigin, "principal" | "user"> = { principal: undefined, user: undefined }

const ofMalformed = (malformed: Message.Malformed): Messages =>
  malformed.kind === "request" || malformed.kind === "unknown"
    ? Stream.make(Message.malformedResponse(malformed))
    : Stream.empty

/** Answers a request immediately with an error. The request does not wait for other requests to end. */
const refusing = (error: Refuses, era: Version.Era): RequestSide => ({
  ownLimit: () => UNLIMITED,
  onRequest: () => ({ effect: Effect.void, reply: () => HandlerOutcome.fromCause(Cause.fail(error), era) })
})

const UNLIMITED = { enter: () => true, leave: () => {} }
