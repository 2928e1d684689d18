/**
 * Gives each notification and each diagnostic of a session to all current listeners. `Opening` makes the hub. `ExtensionMethods` opens
 * streams of notifications of extensions. `ClientSession` describes the streams that listeners read. The protocol era of the session
 * provides the decoders. The hub reports parameters that cannot be decoded, and repairs of parameters, only while the notification has a
 * listener.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Diagnostic, logger } from "../../jsonrpc/Diagnostic.js"
import type { Notification } from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as Outbox from "../../kit/Outbox.js"
import type { LoggingMessage } from "../../protocol/Logging.js"
import type * as Method from "../../protocol/Method.js"
import type { Change, Notifications } from "../ClientSession.js"
import * as Decoding from "./Decoding.js"

/**
 * How many values may wait for a slow listener. When more values wait, or when they have more than 16 Mi characters together, the oldest
 * values are dropped.
 */
const CAPACITY = 256

/** The decoders of an era for the notifications that have a stream of their own. */
export interface Decoders {
  readonly "notifications/message": Decode<LoggingMessage>
  readonly "notifications/resources/updated": Decode<{ readonly uri: string }>
  readonly "notifications/elicitation/complete": Decode<{ readonly elicitationId: string }>
}

type Decode<A> = Method.Decode<A>

const changes: ReadonlyMap<string, Change> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"]
])

export interface NotificationHub {
  /**
   * Gives a notification to the listeners. Returns an effect that reports a problem of the notification; `undefined` when there is none.
   */
  readonly publish: (notification: Notification) => Effect.Effect<void> | undefined
  /** Remembers the id of a URL elicitation that the server has sent. Only remembered elicitations can be completed, and each only once. */
  readonly onElicitation: (id: unknown) => void
  /** Gives a diagnostic to the listeners, or to the log when there is none. */
  readonly report: (diagnostic: Diagnostic) => Effect.Effect<void>
  readonly streams: Notifications
  /** Opens the notifications of this method from now on, until the scope closes. */
  readonly listen: (method: string) => Effect.Effect<Outbox.Outbox<Notification>, never, Scope.Scope>
  /** Ends all streams, after everything that was published before. */
  readonly end: Effect.Effect<void>
}

interface Self {
  readonly notifications: Broadcast<Notification>
  /** The listeners of single methods. Only `listen` adds a method. */
  readonly byMethod: Map<string, Broadcast<Notification>>
  readonly diagnostics: Broadcast<Diagnostic>
  /** The notifications that have a stream of their own, by their methods. */
  readonly decoded: ReadonlyMap<string, Decoded<unknown>>
  /** The ids of URL elicitations that are not completed. `onElicitation` adds ids, and `publish` removes them. */
  readonly open: Set<unknown>
  readonly log: (diagnostic: Diagnostic) => Effect.Effect<void>
}

/** Makes a hub. Its streams end when the scope closes, or before. */
export const make = (decoders: Decoders): Effect.Effect<NotificationHub, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(() => hub(decoders)), ({ end }) => end)

const hub = (decoders: Decoders): NotificationHub => {
  const notifications = new Broadcast<Notification>()
  const diagnostics = new Broadcast<Diagnostic>()
  const logs = new Decoded("notifications/message", decoders["notifications/message"])
  const updates = new Decoded("notifications/resources/updated", decoders["notifications/resources/updated"])
  const completed = new Decoded(COMPLETED, decoders[COMPLETED])
  const decoded = new Map([logs, updates, completed].map((one) => [one.method, one as Decoded<unknown>]))
  const self: Self = { notifications, byMethod: new Map(), diagnostics, decoded, open: new Set(), log: logger() }
  return {
    onElicitation: (id) => onElicitation(self, id),
    publish: (notification) => publish(self, notification),
    report: (diagnostic) => report(self, diagnostic),
    listen: (method) => listen(self, method),
    streams: {
      notifications: notifications.stream,
      logs: logs.stream,
      listChanges: Stream.filterMap(notifications.stream, ({ method }) => Option.fromNullable(changes.get(method))),
      resourceUpdates: Stream.map(updates.stream, ({ uri }) => uri),
      elicitationsCompleted: Stream.map(completed.stream, ({ elicitationId }) => elicitationId),
      diagnostics: diagnostics.stream
    },
    end: Effect.sync(() => end(self))
  }
}

const COMPLETED = "notifications/elicitation/complete"

/** How many elicitations are remembered; the oldest are forgotten first. An id with more than `MAX_ID` characters is not remembered. */
const MAX_IDS = 1024
const MAX_ID = 1024

const onElicitation = ({ open }: Self, id: unknown): void => {
  if (typeof id !== "string" || id.length > MAX_ID) return
  open.add(id)
  if (open.size > MAX_IDS) open.delete(open.values().next().value)
}

const publish = (self: Self, notification: Notification): Effect.Effect<void> | undefined => {
  const { byMethod, decoded, notifications, open } = self
  const id = notification.params?.elicitationId
  // The client MUST ignore ids that are unknown or completed already (2025-11-25
  // client/elicitation#completion-notifications-for-url-mode-elicitation).
  if (notification.method === COMPLETED && typeof id === "string" && !open.delete(id)) return undefined
  const sizeOf = () => MessageText.lengthOf(notification)
  notifications.publish(notification, sizeOf)
  byMethod.get(notification.method)?.publish(notification, sizeOf)
  const problem = decoded.get(notification.method)?.publishParams(notification.params, sizeOf)
  return problem === undefined ? undefined : report(self, problem)
}

const report = ({ diagnostics, log }: Self, diagnostic: Diagnostic): Effect.Effect<void> =>
  Effect.suspend(() =>
    diagnostics.publish(diagnostic, () => JsonText.stringify(diagnostic)?.length) ? Effect.void : log(diagnostic)
  )

const listen = (
  { byMethod, notifications }: Self,
  method: string
): Effect.Effect<Outbox.Outbox<Notification>, never, Scope.Scope> =>
  Effect.suspend(() => {
    const own = byMethod.get(method) ?? new Broadcast<Notification>()
    byMethod.set(method, own)
    if (notifications.hasEnded) own.end()
    return own.listener
  })

const end = ({ byMethod, decoded, diagnostics, notifications }: Self): void => {
  for (const one of [notifications, ...byMethod.values(), ...decoded.values(), diagnostics]) one.end()
}

/**
 * One outbox for each listener. A `PubSub` would lose the newest value when code without a fiber offers it. On shutdown it would lose the
 * values that listeners have not read yet. After `end`, no outbox is added, and no outbox gets a value.
 */
class Broadcast<A> {
  private readonly listeners = new Set<Outbox.Outbox<A>>()
  private ended = false

  get hasEnded(): boolean {
    return this.ended
  }

  get hasListeners(): boolean {
    return this.listeners.size > 0
  }

  /**
   * Gives a value to the listeners. Returns whether there is a listener. `sizeOf` returns the number of characters of the value; it is
   * called only when other values wait already.
   */
  publish(value: A, sizeOf: () => number | undefined): boolean {
    // A listener that got its last value may be gone before `unsafeSlide` returns.
    const { hasListeners } = this
    for (const listener of this.listeners) listener.unsafeSlide(value, listener.size > 0 ? sizeOf() : 0)
    return hasListeners
  }

  end(): void {
    this.ended = true
    for (const listener of this.listeners) listener.end(Exit.void)
  }

  readonly listener: Effect.Effect<Outbox.Outbox<A>, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => {
      const listener = Outbox.make<A>(CAPACITY)
      if (this.ended) listener.end(Exit.void)
      else this.listeners.add(listener)
      return listener
    }),
    (listener) =>
      Effect.sync(() => {
        this.listeners.delete(listener)
        listener.end(Exit.void)
      })
  )

  readonly stream: Stream.Stream<A> = Stream.unwrapScoped(Effect.map(this.listener, ({ stream }) => stream))
}

/** The decoded parameters of one notification, for its listeners. */
class Decoded<A> extends Broadcast<A> {
  constructor(readonly method: string, private readonly decoder: Decode<A>) {
    super()
  }

  /** Decodes parameters, and publishes them. Returns what is wrong with the parameters; `undefined` when nothing is wrong. */
  publishParams(params: unknown, sizeOf: () => number): Diagnostic | undefined {
    if (!this.hasListeners) return undefined
    const { problem, value } = Decoding.decodeParams(this.method, this.decoder, params)
    if (value !== undefined) this.publish(value, sizeOf)
    return problem
  }
}
