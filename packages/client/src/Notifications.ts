/**
 * What the server tells without being asked, for any number of listeners. Each hears all from when it begins to listen to
 * the end of the conversation; one that is slower than the server loses the oldest, and nobody else does.
 *
 * @since 0.1.0
 */
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import { log } from "@effect-mcp/jsonrpc/Diagnostic"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import type { LoggingMessage } from "@effect-mcp/protocol/Logging"
import type * as Method from "@effect-mcp/protocol/Method"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * How much a listener may fall behind before it loses the oldest.
 *
 * @since 0.1.0
 * @category limits
 */
export const CAPACITY = 256

/**
 * A list of the server's that can change.
 *
 * @since 0.1.0
 * @category models
 */
export type Change = "tools" | "resources" | "prompts"

const changes: ReadonlyMap<string, Change> = new Map([
  [Methods.toolListChanged.name, "tools"],
  [Methods.resourceListChanged.name, "resources"],
  [Methods.promptListChanged.name, "prompts"]
])

/**
 * @since 0.1.0
 * @category models
 */
export interface Notifications {
  readonly publish: (notification: Notification) => void
  /** Tells the listeners; the log, when nobody listens. */
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
  /** Every notification that belongs to no call of ours, in the order of arrival, from now on. */
  readonly all: Stream.Stream<Notification>
  /** What the server logs; messages that are none are left out. */
  readonly logs: Stream.Stream<LoggingMessage>
  /** Which of the server's lists have changed. */
  readonly listChanges: Stream.Stream<Change>
  /** The addresses of subscribed resources whose content is new. */
  readonly resourceUpdates: Stream.Stream<string>
  /** The ids of pages that people were asked to open, and are done with. */
  readonly elicitationsCompleted: Stream.Stream<string>
  /** What was odd and ended nothing: answers to nothing, errors without an id. */
  readonly diagnostics: Stream.Stream<Diagnostic>
  /** Ends all streams, after what came before. */
  readonly end: Effect.Effect<void>
}

/**
 * They end with the scope at the latest.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Notifications, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const notifications = new Hub<Notification>()
    const diagnostics = new Hub<Diagnostic>()
    const all = notifications.stream
    return {
      publish: (notification) => {
        notifications.publish(notification)
      },
      report: (diagnostic) => Effect.suspend(() => diagnostics.publish(diagnostic) ? Effect.void : log(diagnostic)),
      all,
      logs: of(all, Methods.message),
      listChanges: Stream.filterMap(all, ({ method }) => Option.fromNullable(changes.get(method))),
      resourceUpdates: Stream.map(of(all, Methods.resourceUpdated), ({ uri }) => uri),
      elicitationsCompleted: Stream.map(of(all, Methods.elicitationComplete), ({ elicitationId }) => elicitationId),
      diagnostics: diagnostics.stream,
      end: Effect.sync(() => {
        notifications.end()
        diagnostics.end()
      })
    }
  }),
  ({ end }) => end
)

const of = <P>(
  all: Stream.Stream<Notification>,
  { decodeParams, name }: Method.Notification<string, P>
): Stream.Stream<P> =>
  Stream.filterMap(
    all,
    ({ method, params }) => method === name ? Either.getRight(decodeParams(params)) : Option.none()
  )

// A `PubSub` loses the newest when it is offered to without a fiber, and on shutdown what was not yet heard.
class Hub<A> {
  private readonly listeners = new Set<Mailbox.Mailbox<A>>()
  private ended = false

  /** Whether anybody listens. */
  publish(value: A): boolean {
    for (const listener of this.listeners) listener.unsafeOffer(value)
    return this.listeners.size > 0
  }

  end(): void {
    this.ended = true
    for (const listener of this.listeners) listener.unsafeDone(Exit.void)
  }

  readonly stream: Stream.Stream<A> = Stream.unwrapScoped(Effect.map(
    Effect.acquireRelease(
      Effect.tap(Mailbox.make<A>({ capacity: CAPACITY, strategy: "sliding" }), (listener) =>
        Effect.sync(() => {
          if (this.ended) listener.unsafeDone(Exit.void)
          else this.listeners.add(listener)
        })),
      (listener) => Effect.zipRight(Effect.sync(() => this.listeners.delete(listener)), listener.shutdown)
    ),
    Mailbox.toStream
  ))
}
