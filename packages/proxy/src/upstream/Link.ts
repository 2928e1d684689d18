/**
 * A link is one session with the upstream and the calls of clients that run in the session. The link passes a question or a log message of
 * the upstream to the client whose call runs. `CallOfMessage` says which call a message belongs to. When that cannot be told, the message
 * reaches no client: what belongs to one client must not reach another.
 *
 * `Links` has the links of clients, and `ListingLink` the link that lists the entries. `Sessions` chooses the link of a client, and
 * `Forward` runs calls in links.
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
  /** The session of the client's request. A client that answers a question sends a new request, which has a new session. */
  readonly session: () => ServerSessionService
  readonly ask: UpstreamQuestions.Ask
}

export interface Link {
  readonly session: ClientSessionService
  /** Completes when the session has ended and no request gets the link any more. `ListingLink` and `Links` complete it. */
  readonly gone: Deferred.Deferred<void>
  /** The calls that run in the link; where the link follows the lists of all clients, the calls of all clients. */
  readonly calls: OwnCalls
  /** Collects the caching hints of the lists that are read in the link. */
  readonly hints: HintsRead
  /**
   * Runs a call. While the call runs, its client gets the questions and log messages of the upstream. The call tells `marks` by what the
   * messages of the upstream name it.
   */
  readonly during: <A, E>(
    running: Running,
    call: (marks: CallOfMessage.Marks) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /**
   * Runs a call, and reports the progress of the token that the call passes to `listen`. All progress is reported before the call
   * ends.
   */
  readonly reporting: <A, E>(
    report: (progress: Progress.Progress) => Effect.Effect<void>,
    call: (listen: (token: RequestId) => void) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E>
  /** Sets the level from which the upstream sends log messages; in a shared link, the lowest level that was set. */
  readonly setLevel: (level: LoggingLevel) => Effect.Effect<void>
  /** Notifies the upstream that the roots of the client have changed. */
  readonly rootsChanged: Effect.Effect<void>
}

export interface Options {
  readonly name: string
  readonly connector: Connector
  readonly client: Client.Options
  readonly capabilities: ClientCapabilities
  /** An earlier session with the upstream, whose era and revision the new session uses. */
  readonly prior?: ClientSessionService | undefined
  /** What counts the calls of the link: first the link's own. */
  readonly calls: readonly [OwnCalls, ...ReadonlyArray<OwnCalls>]
  /** Whether clients share the link. */
  readonly isShared: boolean
  /** The client that owns the link, for messages outside of any call; `undefined` when clients share the link. */
  readonly standalone: () => ServerSessionService | undefined
}

interface Self {
  readonly options: Options
  readonly session: ClientSessionService
  /** The calls that run, each with its marks; `during` writes it. */
  readonly running: Map<Running, CallOfMessage.Marks>
  readonly logs: Logs
  /** The level that was sent last, and the level that the upstream has acknowledged last; `setLevel` writes both. */
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

/** The client that gets a notification of the upstream; `undefined` when the client cannot be told. */
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
      // It does not matter in which of its calls a client gets a notification.
      return areOfOneClient(found.calls) ? found.calls.at(-1)?.session() : undefined
  }
}

/** Asks the client of the call that a question belongs to. The client that owns the link is asked outside of its calls, if need be. */
const asking = (options: Options, running: Self["running"]) => (question: UpstreamQuestions.Question) =>
  // An answer that came just before, and names a task, reaches its call first.
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

/** The only one of a client's calls that does not wait for an answer of the client. */
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
    ? "no call runs that it belongs to"
    : `${found.calls.length} calls run, and the upstream does not say which of them asks; call one after another`)

/** Passes on what the session reports outside of answers and log messages, until the scope closes. */
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
    // Sends log messages before the answer: some clients receive no log message of a call after its answer.
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
    // The level counts as set, unless the upstream does not acknowledge it.
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
  /** Waits until the messages that have arrived are sent. */
  readonly flush: Effect.Effect<void>
}

/** How many log messages of a session may wait for clients. */
export const MAX_LOGS = 256

/**
 * Passes the log messages of one session on, in their order. `target` gives the client of a message when the message arrives. While a
 * client reads slowly, `MAX_LOGS` messages wait, and later messages are dropped.
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

/** How many progress notifications of a call wait for a slow client, before the oldest is dropped. */
const MAX_PROGRESS = 256

interface TaskProgress extends Pick<Link, "reporting"> {
  readonly receive: (notification: Notification) => void
}

/**
 * Reports the progress of calls that have become tasks at an upstream up to 2025-11-25. The progress arrives after the call was
 * answered, so the client's own progress of a call has ended; the notifications have the token of the call.
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
