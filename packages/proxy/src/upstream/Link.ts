/**
 * A link is one session with the upstream and the calls of clients that run in the session. The link passes a question or a log
 * message of the upstream to the client whose call runs. While calls of several clients run, the upstream does not say which call a
 * message belongs to. Then the message reaches no client: what belongs to one client must not reach another.
 *
 * `Links` has the links of clients, `ListingLink` the link that lists the entries; `Forward` runs calls in links.
 */
import * as Client from "@effect-mcp/core/Client"
import type { ConnectError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Notification, RequestId } from "@effect-mcp/core/Message"
import * as Progress from "@effect-mcp/core/Progress"
import type { ClientCapabilities } from "@effect-mcp/core/protocol/Capabilities"
import { isAtLeast, type LoggingLevel, LoggingMessage } from "@effect-mcp/core/protocol/Logging"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/core/ServerSession"
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
import * as UpstreamQuestions from "./UpstreamQuestions.js"

/** A call of a client that waits for the upstream. */
export interface Running {
  /** The session of the client's request. A client that answers a question sends a new request, which has a new session. */
  readonly session: () => ServerSessionService
  readonly ask: UpstreamQuestions.Ask
}

export interface Link {
  readonly session: ClientSessionService
  /** Runs a call. While the call runs, its client gets the questions and log messages of the upstream. */
  readonly during: <A, E>(running: Running, call: Effect.Effect<A, E>) => Effect.Effect<A, E>
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
  /** Whether clients share the link. */
  readonly isShared: boolean
  /** The client that owns the link, for messages outside of any call; `undefined` when clients share the link. */
  readonly standalone: () => ServerSessionService | undefined
}

interface Self {
  readonly options: Options
  readonly session: ClientSessionService
  /** The calls that run; `during` writes it. */
  readonly running: Set<Running>
  readonly logs: Logs
  /** The level that was sent last, and the level that the upstream has acknowledged last; `setLevel` writes both. */
  readonly level: { sent: LoggingLevel | undefined; acknowledged: LoggingLevel | undefined }
}

/** Opens a link, which closes with the scope. */
export const open = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Link, ConnectError, Scope.Scope> {
  const running = new Set<Running>()
  const target = () => targetOf(options, running)
  const rootsChanges = yield* Queue.sliding<void>(1)
  const logs = yield* passLogs(() => target()?.session())
  const taskProgress = taskProgressOf()
  const session = yield* Client.make(options.connector, {
    ...options.client,
    onNotification: (notification) => {
      logs.receive(notification)
      taskProgress.receive(notification)
    },
    checkOutputs: false,
    prior: options.prior,
    features: UpstreamQuestions.features(options.capabilities, asking(target), {
      changes: Stream.fromQueue(rootsChanges)
    })
  })
  const self: Self = { options, session, running, logs, level: { sent: undefined, acknowledged: undefined } }
  yield* listen(self)
  return {
    session,
    reporting: taskProgress.reporting,
    during: (one, call) => during(self, one, call),
    setLevel: (wanted) => setLevel(self, wanted),
    rootsChanged: Effect.asVoid(Queue.offer(rootsChanges, undefined))
  }
})

/** The call that a message of the upstream belongs to; `undefined` when nobody can tell. */
const targetOf = (options: Options, running: ReadonlySet<Running>): Running | undefined => {
  const [first, ...others] = running
  if (first === undefined) {
    const session = options.standalone()
    return session === undefined ? undefined : { session: () => session, ask: UpstreamQuestions.ask(session) }
  }
  const { key } = first.session().client
  const isOne = others.every(({ session }) => key !== undefined && session().client.key === key)
  return isOne ? others.at(-1) ?? first : undefined
}

const asking = (target: () => Running | undefined): UpstreamQuestions.Ask => (question) =>
  Effect.suspend(() =>
    target()?.ask(question) ?? Effect.fail(
      new InvalidRequest({
        message:
          `The proxy cannot tell which client "${question.method}" is for: no call runs, or calls of several clients run`
      })
    )
  )

/** Passes on what the session reports outside of answers and log messages, until the scope closes. */
const listen = Effect.fnUntraced(function*({ options, running, session }: Self) {
  yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(
    session.elicitationsCompleted,
    (id) => targetOf(options, running)?.session().elicitationComplete(id) ?? Effect.void
  )))
  yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(
    session.diagnostics,
    (one) => Effect.logDebug(`The upstream "${options.name}":`, one)
  )))
  // Lets the listeners start before the link is used.
  yield* Effect.yieldNow()
})

const during = <A, E>({ logs, running, session }: Self, one: Running, call: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => running.add(one)),
    // Sends log messages before the answer: some clients receive no log message of a call after its answer.
    () => Effect.tap(call, () => logs.isIdle() ? Effect.void : raceFirst(logs.flush, Effect.ignore(session.ended))),
    () => Effect.sync(() => running.delete(one))
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
  target: () => ServerSessionService | undefined
): Effect.Effect<Logs, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Effect.Effect<void>>()
    let waiting = 0
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.flatten(queue.take))))
    return {
      receive: ({ method, params }) => {
        if (method !== "notifications/message" || waiting >= MAX_LOGS || !isLogMessage(params)) return
        const session = target()
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
