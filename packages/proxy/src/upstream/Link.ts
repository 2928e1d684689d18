/**
 * Opens links. A link is one session with the upstream, together with the calls of clients that run in this session. The upstream sends
 * questions and log messages, and each of them belongs to a call. `CallOfMessage` finds the call, and the link passes the message to the
 * client of the call. When the call is not clear, a link that belongs to one client passes the message to this client. In a link that
 * clients share, no client gets such a message, because it could reach the wrong client.
 *
 * `Links` has the links that belong to one client each. `ListingLink` has the link that clients share, and that reads the upstream's lists.
 * `Sessions` chooses the link of a client. `Forward` runs calls in links.
 */
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Connector } from "@effect-mcp/core/Connector"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import { type Notification, type RequestId, stream } from "@effect-mcp/core/Message"
import * as Progress from "@effect-mcp/core/Progress"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { isAtLeast, type LoggingLevel, LoggingMessage } from "@effect-mcp/core/protocol/Logging"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
import type { OwnCalls } from "@effect-mcp/core/unstable/client/ListPace"
import * as Listening from "@effect-mcp/core/unstable/kit/Listening"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as SchemaCheck from "@effect-mcp/core/unstable/protocol/SchemaCheck"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as CallOfMessage from "./CallOfMessage.js"
import { HintsRead } from "./ListedHints.js"
import * as UpstreamQuestions from "./UpstreamQuestions.js"

/** A call of a client that waits for the upstream. */
export interface Running {
  /**
   * Returns the session of the client's latest request. This is a different session after the client has answered a question with a new
   * request.
   */
  readonly session: () => ServerSessionService
  readonly ask: UpstreamQuestions.Ask
}

export interface Link {
  readonly session: ClientSessionService
  /** `ListingLink` and `Links` complete this when the session has ended and no new request gets the link. */
  readonly gone: Deferred.Deferred<void>
  /** Counts the calls that run in the link. In the shared link this is the number of the calls of all clients. */
  readonly calls: OwnCalls
  /** Collects the caching hints of the lists that the session of the link reads. */
  readonly hints: HintsRead
  /**
   * Runs a call. While the call runs, its client gets the questions and log messages that belong to the call. `call` adds the ids of its
   * requests and of its task to `marks`, so that `CallOfMessage` can find the call.
   */
  readonly during: <A, E>(
    running: Running,
    call: (marks: CallOfMessage.Marks) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /**
   * Runs a call, and passes its progress to `report`. `call` passes its progress token to `listen`. `reporting` ends after `report` has run
   * for all progress that has arrived.
   */
  readonly reporting: <A, E>(
    report: (progress: Progress.Progress) => Effect.Effect<void>,
    call: (listen: (token: RequestId) => void) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /**
   * Sets the lowest level of the log messages that the upstream sends. In a shared link, the upstream gets the lowest level that any client
   * has set.
   */
  readonly setLevel: (level: LoggingLevel) => Effect.Effect<void>
  /** Notifies the upstream that the roots of the client have changed. */
  readonly rootsChanged: Effect.Effect<void>
}

export interface Options {
  readonly name: string
  readonly connector: Connector
  readonly client: Client.Options
  readonly capabilities: ClientCapabilities
  /** An earlier session with the upstream. The new session uses the same protocol revision. */
  readonly prior?: ClientSessionService | undefined
  /** The counters of running calls. The first counter belongs to this link. Every call in the link also changes the other counters. */
  readonly calls: readonly [OwnCalls, ...ReadonlyArray<OwnCalls>]
  /** Whether clients share the link. */
  readonly isShared: boolean
  /**
   * Returns a session of the client to which the link belongs, for messages that do not belong to a call. Returns `undefined` when clients
   * share the link.
   */
  readonly standalone: () => ServerSessionService | undefined
}

interface Self {
  readonly options: Options
  readonly session: ClientSessionService
  /** The running calls, each with its marks. `during` adds and removes calls. */
  readonly running: Map<Running, CallOfMessage.Marks>
  readonly logs: Logs
  /** The level that was sent last, and the level that the upstream has acknowledged last. `setLevel` writes both. */
  readonly level: { sent: LoggingLevel | undefined; acknowledged: LoggingLevel | undefined }
}

/** Opens a link, which closes with the scope. */
export const open = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Link, ConnectError, Scope.Scope> {
  const running: Self["running"] = new Map()
  const rootsChanges = yield* Queue.sliding<void>(1)
  const logs = yield* passLogs((message) => notified(options, running, message))
  const taskProgress = taskProgressOf()
  const hints = new HintsRead()
  const session = yield* Client.make(options.connector, {
    ...options.client,
    onNotification: (notification) => {
      logs.receive(notification)
      taskProgress.receive(notification)
    },
    onCacheHints: hints.see,
    checkOutputs: false,
    prior: options.prior,
    features: UpstreamQuestions.features(options.capabilities, asking(options, running), {
      changes: Stream.fromQueue(rootsChanges)
    })
  })
  const self: Self = { options, session, running, logs, level: { sent: undefined, acknowledged: undefined } }
  yield* listen(self)
  return {
    session,
    gone: yield* Deferred.make<void>(),
    calls: options.calls[0],
    hints,
    reporting: taskProgress.reporting,
    during: (one, call) => during(self, one, call),
    setLevel: (wanted) => setLevel(self, wanted),
    rootsChanged: Effect.asVoid(Queue.offer(rootsChanges, undefined))
  }
})

/** Returns the session of the client that gets a notification of the upstream; `undefined` when the client cannot be determined. */
const notified = (
  options: Options,
  running: Self["running"],
  message: CallOfMessage.Named
): ServerSessionService | undefined => {
  const found = CallOfMessage.of(running, message)
  switch (found._tag) {
    case "Call":
      return found.running.session()
    case "Outside":
      return options.standalone()
    case "Several":
      // All calls belong to one client, so any of the calls can pass the notification to this client.
      return areOfOneClient(found.calls) ? found.calls.at(-1)?.session() : undefined
  }
}

/**
 * Asks the client of the call to which a question belongs. When the call is not clear and the link belongs to one client, asks this client
 * outside of its calls.
 */
const asking = (options: Options, running: Self["running"]) => (question: UpstreamQuestions.Question) =>
  // An answer with the id of a task may have arrived just before the question. The call must read this answer first, so that the question
  // can be found by the task.
  Effect.flatMap(Effect.zipLeft(FeatureContext, Effect.yieldNow()), ({ call, meta }) => {
    const found = CallOfMessage.of(running, { call, meta })
    const asks = found._tag === "Call"
      ? found.running
      : found._tag === "Several"
      ? onlyBusy(running, found.calls)
      : undefined
    const marks = asks === undefined ? undefined : running.get(asks)
    if (asks !== undefined && marks !== undefined) {
      marks.questions++
      return Effect.ensuring(asks.ask(question), Effect.sync(() => marks.questions--))
    }
    const owner = options.standalone()
    return owner === undefined
      ? Effect.fail(new InvalidRequest({ message: unknown(question.method, found) }))
      : UpstreamQuestions.ask(owner)(question)
  })

/**
 * Returns the only call that does not wait for an answer of its client, among several calls of one client. Returns `undefined` when the
 * calls belong to several clients, and when the number of such calls is not one.
 */
const onlyBusy = (running: Self["running"], calls: ReadonlyArray<Running>): Running | undefined => {
  const busy = areOfOneClient(calls) ? calls.filter((one) => running.get(one)?.questions === 0) : []
  return busy.length === 1 ? busy[0] : undefined
}

const areOfOneClient = (calls: ReadonlyArray<Running>): boolean => {
  const [key, ...keys] = calls.map(({ session }) => session().client.key)
  return key !== undefined && keys.every((other) => other === key)
}

const unknown = (method: string, found: CallOfMessage.Found<Running>): string =>
  `The proxy cannot tell which call "${method}" is for: ` + (found._tag !== "Several"
    ? "it belongs to no running call"
    : `${found.calls.length} calls run, and the upstream does not say which of them asks; call one after another`)

/** Until the scope closes, passes notifications about completed elicitations to clients, and logs the diagnostics of the session. */
const listen = Effect.fnUntraced(function*({ options, running, session }: Self) {
  yield* Listening.fork(
    session.elicitationsCompleted,
    (id) => notified(options, running, {})?.elicitationComplete(id) ?? Effect.void
  )
  yield* Listening.fork(session.diagnostics, (one) => Effect.logDebug(`The upstream "${options.name}":`, one))
})

const during = <A, E>(
  { logs, options, running, session }: Self,
  one: Running,
  call: (marks: CallOfMessage.Marks) => Effect.Effect<A, E>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const marks = CallOfMessage.marks()
      running.set(one, marks)
      for (const calls of options.calls) calls.mark()
      return marks
    }),
    // Sends the waiting log messages before the answer, because some clients ignore log messages of a call after its answer.
    (marks) =>
      Effect.tap(call(marks), () => logs.isIdle() ? Effect.void : raceFirst(logs.flush, Effect.ignore(session.ended))),
    () =>
      Effect.sync(() => {
        running.delete(one)
        for (const calls of options.calls) calls.mark()
      })
  )

const setLevel = ({ level, options, session }: Self, wanted: LoggingLevel): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { sent } = level
    const isSet = sent !== undefined && (options.isShared ? isAtLeast(wanted, sent) : wanted === sent)
    if (isSet || session.serverCapabilities.logging === undefined) return Effect.void
    // The level counts as set until the upstream refuses it.
    level.sent = wanted
    return session.setLoggingLevel(wanted).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) level.acknowledged = wanted
          else if (level.sent === wanted) level.sent = level.acknowledged
        })
      ),
      Effect.ignore
    )
  })

interface Logs {
  readonly receive: (notification: Notification) => void
  /** Whether no message waits. */
  readonly isIdle: () => boolean
  /** Waits until the clients have got all messages that have arrived. */
  readonly flush: Effect.Effect<void>
}

/** The most log messages of a session that wait for clients. */
export const MAX_LOGS = 256

/**
 * Passes the log messages of one session to clients, in their order. `target` returns the session of the client for a message. When a
 * client reads slowly, up to `MAX_LOGS` messages wait. The function drops further messages.
 */
export const passLogs = (
  target: (message: CallOfMessage.Named) => ServerSessionService | undefined
): Effect.Effect<Logs, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Effect.Effect<void>>()
    let waiting = 0
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.flatten(queue.take))))
    return {
      receive: ({ method, params, [stream]: call }) => {
        if (method !== "notifications/message" || waiting >= MAX_LOGS || !isLogMessage(params)) return
        const session = target({ call, meta: params?._meta as JsonObject | undefined })
        if (session === undefined) return
        const { data, level, logger } = params as LoggingMessage
        waiting++
        queue.unsafeOffer(Effect.ensuring(session.log(level, data, logger), Effect.sync(() => waiting--)))
      },
      isIdle: () => waiting === 0,
      flush: Effect.flatMap(Deferred.make<void>(), (done) => {
        queue.unsafeOffer(Deferred.succeed(done, undefined))
        return Deferred.await(done)
      })
    }
  })

const isLogMessage = SchemaCheck.compile(LoggingMessage)

/** The most progress notifications of a call that wait for a slow client. When there are more, the oldest notification is dropped. */
const MAX_PROGRESS = 256

interface TaskProgress extends Pick<Link, "reporting"> {
  readonly receive: (notification: Notification) => void
}

/**
 * Makes the functions that report the progress of calls that have become tasks at an upstream of revision 2025-11-25 or earlier. This
 * progress arrives after the answer to the request of the call. So the `onProgress` of the request does not get the progress. The
 * notifications still have the token of the call.
 */
const taskProgressOf = (): TaskProgress => {
  const listeners = new Map<unknown, (progress: Progress.Progress) => void>()
  return {
    receive: ({ method, params }) => {
      const listener = method === Progress.METHOD ? listeners.get(Progress.token(params)) : undefined
      const progress = listener === undefined ? undefined : Progress.fromParams(params)
      if (progress !== undefined) listener?.(progress)
    },
    reporting: (report, call) =>
      Effect.scoped(Effect.gen(function*() {
        const arrived = Outbox.make<Progress.Progress>(MAX_PROGRESS)
        const tokens: Array<RequestId> = []
        yield* Effect.addFinalizer(() => Effect.sync(() => tokens.forEach((token) => listeners.delete(token))))
        const reported = yield* Effect.forkScoped(Stream.runForEach(arrived.stream, report))
        const value = yield* call((token) => {
          tokens.push(token)
          listeners.set(token, (progress) => void arrived.unsafeSlide(progress, progress.message?.length))
        })
        arrived.end(Exit.void)
        yield* Fiber.join(reported)
        return value
      }))
  }
}
