/**
 * Gives each notification and each diagnostic of a session to all who listen at the time. The streams that listeners read
 * are described in `Notifications`; the era supplies how parameters are decoded.
 */
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import { log } from "@effect-mcp/jsonrpc/Diagnostic"
import type { Notification } from "@effect-mcp/jsonrpc/Message"
import type { LoggingMessage } from "@effect-mcp/protocol/Logging"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Change, Notifications } from "../Notifications.js"
import { CAPACITY } from "../Notifications.js"

/** How an era decodes the notifications that have a stream of their own. */
export interface Decoders {
  readonly "notifications/message": Decode<LoggingMessage>
  readonly "notifications/resources/updated": Decode<{ readonly uri: string }>
  readonly "notifications/elicitation/complete": Decode<{ readonly elicitationId: string }>
}

type Decode<A> = (params: unknown) => Either.Either<A, unknown>

type Decoded<Name extends keyof Decoders> = Decoders[Name] extends Decode<infer A> ? A : never

const changes: ReadonlyMap<string, Change> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"]
])

export interface NotificationHub {
  readonly publish: (notification: Notification) => void
  /** Gives a diagnostic to the listeners, or to the log when there is none. */
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
  readonly streams: Notifications
  /** Ends all streams, after what was published before. */
  readonly end: Effect.Effect<void>
}

/** Its streams end with the scope at the latest. */
export const make = (decoders: Decoders): Effect.Effect<NotificationHub, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const notifications = new Broadcast<Notification>()
      const diagnostics = new Broadcast<Diagnostic>()
      const decoded = <Name extends keyof Decoders>(name: Name): Stream.Stream<Decoded<Name>> => {
        const decode: Decode<any> = decoders[name]
        return Stream.filterMap(
          notifications.stream,
          ({ method, params }) => method === name ? Either.getRight(decode(params)) : Option.none()
        )
      }
      return {
        publish: (notification) => {
          notifications.publish(notification)
        },
        report: (diagnostic) => Effect.suspend(() => diagnostics.publish(diagnostic) ? Effect.void : log(diagnostic)),
        streams: {
          notifications: notifications.stream,
          logs: decoded("notifications/message"),
          listChanges: Stream.filterMap(
            notifications.stream,
            ({ method }) => Option.fromNullable(changes.get(method))
          ),
          resourceUpdates: Stream.map(decoded("notifications/resources/updated"), ({ uri }) => uri),
          elicitationsCompleted: Stream.map(
            decoded("notifications/elicitation/complete"),
            ({ elicitationId }) => elicitationId
          ),
          diagnostics: diagnostics.stream
        },
        end: Effect.sync(() => {
          notifications.end()
          diagnostics.end()
        })
      }
    }),
    ({ end }) => end
  )

/**
 * A mailbox for each listener. A `PubSub` would lose the newest value when it is offered to without a fiber, and on
 * shutdown the values that listeners have not read yet. After `end`, no mailbox is added and none gets a value.
 */
class Broadcast<A> {
  private readonly listeners = new Set<Mailbox.Mailbox<A>>()
  private ended = false

  /** Whether there is a listener. */
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
