/**
 * One session with the upstream, and the calls of clients that run in it. A question or a log message of the upstream goes to
 * the client whose call runs. Where calls of several clients run, and the upstream does not say which one it means, it goes to
 * none of them: what belongs to one client must not reach another.
 *
 * `Links` opens a link for each client, `Supervisor` the one that lists; `Forward` runs calls in links.
 */
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import { raceFirst } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import type { ClientCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import { isAtLeast } from "@effect-mcp/protocol/Logging"
import { InvalidRequest } from "@effect-mcp/protocol/McpError"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Logs from "./Logs.js"
import type { Ask } from "./Questions.js"
import * as Questions from "./Questions.js"
import * as TaskProgress from "./TaskProgress.js"

/** A call of a client that waits for the upstream. */
export interface Running {
  /** The request of the client. It changes when the client sends the request again with an answer. */
  readonly session: () => ServerSessionService
  readonly ask: Ask
}

export interface Link {
  readonly session: ClientSessionService
  /** Runs a call; meanwhile its client gets the questions of the upstream. */
  readonly during: <A, E>(running: Running, call: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** See `TaskProgress`. */
  readonly reporting: TaskProgress.TaskProgress["reporting"]
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
  /** The session that reached the upstream before, which spares this one the search for the era. */
  readonly prior?: ClientSessionService | undefined
  /** Whether clients share the link. */
  readonly isShared: boolean
  /** The client of the link outside of its calls; `undefined` when the link has no client of its own. */
  readonly standalone: () => ServerSessionService | undefined
}

/** Opens a link, which closes with the scope. */
export const open = (options: Options): Effect.Effect<Link, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const running = new Set<Running>()
    // The level that was sent last; it counts as set until the upstream does not acknowledge it.
    let level: LoggingLevel | undefined
    let acknowledged: LoggingLevel | undefined
    const rootsChanges = yield* Queue.sliding<void>(1)
    const target = (): Running | undefined => {
      const [first, ...others] = running
      if (first === undefined) {
        const session = options.standalone()
        return session === undefined ? undefined : { session: () => session, ask: Questions.ask(session) }
      }
      const { key } = first.session().client
      const isOne = others.every(({ session }) => key !== undefined && session().client.key === key)
      return isOne ? others.at(-1) ?? first : undefined
    }
    const ask: Ask = (question) =>
      Effect.suspend(() =>
        target()?.ask(question) ?? Effect.fail(
          new InvalidRequest({ message: `"${question.method}" belongs to no call, or not to one client alone` })
        )
      )
    const logs = yield* Logs.make(() => target()?.session())
    const taskProgress = TaskProgress.make()
    const session = yield* Client.make(options.connector, {
      ...options.client,
      onNotification: (notification) => {
        logs.receive(notification)
        taskProgress.receive(notification)
      },
      checkOutputs: false,
      prior: options.prior,
      features: Questions.features(options.capabilities, ask, { changes: Stream.fromQueue(rootsChanges) })
    })
    yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(
      session.elicitationsCompleted,
      (id) => target()?.session().elicitationComplete(id) ?? Effect.void
    )))
    yield* Effect.forkScoped(Effect.interruptible(Stream.runForEach(
      session.diagnostics,
      (one) => Effect.logDebug(`The upstream "${options.name}":`, one)
    )))
    // The listeners have started when this returns.
    yield* Effect.yieldNow()
    return {
      session,
      reporting: taskProgress.reporting,
      during: (one, call) =>
        Effect.acquireUseRelease(
          Effect.sync(() => running.add(one)),
          // A log message belongs before the answer: some clients receive none after it.
          () =>
            Effect.tap(call, () => logs.isIdle() ? Effect.void : raceFirst(logs.flush, Effect.ignore(session.ended))),
          () => Effect.sync(() => running.delete(one))
        ),
      setLevel: (wanted) =>
        Effect.suspend(() => {
          const isSet = level !== undefined && (options.isShared ? isAtLeast(wanted, level) : wanted === level)
          if (isSet || session.serverCapabilities.logging === undefined) return Effect.void
          level = wanted
          return session.setLoggingLevel(wanted).pipe(
            Effect.onExit((exit) =>
              Effect.sync(() => {
                if (Exit.isSuccess(exit)) acknowledged = wanted
                else if (level === wanted) level = acknowledged
              })
            ),
            Effect.ignore
          )
        }),
      rootsChanged: Effect.asVoid(Queue.offer(rootsChanges, undefined))
    }
  })
