/**
 * One stream in the event store. This module gives each event its position, and runs the operations on the stream one after another.
 * `ResumableStream` has the readers of the stream. `HttpSession` and `ReaderNotes` store streams and notes through this module.
 *
 * The fields are mutable, because each message of a handler passes through this module. `last` is the last used position. `unstored`
 * contains the events that no operation has stored yet, in their order. `firstRefused` is the position of the first event that the store
 * has refused. The store has also refused all events after this position.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ErrorObject } from "../../jsonrpc/JsonRpcError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import type { EventStoreError, EventStoreService, StoredEvent, StreamKey } from "../EventStore.js"
import * as EventId from "./EventId.js"
import type { HttpContext } from "./HttpContext.js"

export class StreamStore {
  /** The position of the last event. */
  last: number
  /** Whether the store refuses the writes of this node, because another node serves the session. */
  isStale = false
  /** Whether the stream has finished, at this node or at an earlier node. */
  hasFinished = false
  /** The operations that wait for the store. */
  readonly queue: SerialQueue
  private unstored: Array<StoredEvent> = []
  private firstRefused = Infinity
  /** Whether the last message of the stream has been pushed. */
  private isEnding = false
  /** Whether the operation that stored the last event also finished the stream. */
  private isEnded = false
  private recovers = false
  private recovery: Effect.Effect<void, EventStoreError> = Effect.void
  private opening: Effect.Effect<void> = Effect.void

  constructor(
    readonly context: HttpContext,
    readonly service: EventStoreService,
    readonly key: StreamKey,
    /** Called when the last operation has ended. */
    onIdle: () => void,
    /** Called when the store has refused the stream or an event. */
    private readonly onStale: (() => void) | undefined
  ) {
    this.last = EventId.before(key.epoch)
    this.queue = new SerialQueue({ runtime: context.runtime, capacity: context.options.limits.capacity, onIdle })
  }

  /** Whether this position comes from a later node, which has taken the session over. */
  isOfNextNode(position: number): boolean {
    const { epoch } = this.key
    return epoch !== undefined && position >= EventId.before(epoch + 1)
  }

  /** A sender must wait for this effect before it appends more; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.queue.isFull ? this.queue.space : undefined
  }

  /**
   * Sets the requests that the stream will answer. This module stores the requests in two cases. In the first case, another node may have
   * to answer the requests. In the second case, the requests are a batch: a request without a response later shows that the store has lost
   * the end of the stream.
   */
  begin(requests: () => ReadonlyArray<Message.RequestId>, isBatch: boolean): void {
    const { key, service } = this
    if (isBatch || key.epoch !== undefined) {
      this.opening = this.write(Effect.suspend(() => service.open(key, requests())))
    }
  }

  /** Stores the requests that the stream will answer, if this is necessary. Run this effect before the client gets the first event id. */
  get opened(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { opening } = this
      this.opening = Effect.void
      return opening
    })
  }

  /**
   * Stores an event. Calls `then` when the store has the event, has refused it or has failed. With `isLast`, no other event follows.
   */
  append(data: string, isLast: boolean, then: (event: StoredEvent, isRefused: boolean) => void): void {
    const event = { position: ++this.last, data }
    this.unstored.push(event)
    this.isEnding ||= isLast
    this.queue.add(() => this.storeEvents(event), () => then(event, event.position >= this.firstRefused))
  }

  /**
   * Stores an event and the events after it. Uses one operation if the store has `appendAll`. Does nothing when the event was already
   * stored together with an earlier event.
   */
  private storeEvents({ position }: StoredEvent): Effect.Effect<void> | undefined {
    const { isEnding, key, service, unstored } = this
    const [first] = unstored
    if (first === undefined || first.position > position) return undefined
    const isTogether = service.appendAll !== undefined
    if (isTogether) this.unstored = []
    const storing = Effect.suspend(() =>
      isTogether ? service.appendAll!(key, unstored, isEnding) : service.append(key, unstored.shift()!)
    )
    const stored = this.write(
      Effect.map(storing, (isCurrent) => {
        if (!isCurrent) this.firstRefused = Math.min(this.firstRefused, position)
        this.isEnded = isCurrent && isTogether && isEnding
        return isCurrent
      }),
      true
    )
    // When the store gets all events and the end of the stream together, no other node needs to answer the requests.
    return this.opening === Effect.void || (isTogether && isEnding) ? stored : Effect.zipRight(this.opened, stored)
  }

  /** Runs an operation that writes. From the result, this module learns whether another node serves the session. */
  write(writing: Effect.Effect<boolean>, reports = false): Effect.Effect<void> {
    const written = Effect.map(writing, (isCurrent) => {
      if (!isCurrent) this.isStale = true
      if (reports) this.reportStale()
    })
    return Effect.catchAllCause(written, logDefect)
  }

  /** Notifies the session at this node, if another node now serves the session. */
  reportStale(): void {
    if (this.isStale) this.onStale?.()
  }

  /** Reads the events after a position. Gives `None` when the store does not have the stream, or has lost one of these events. */
  after(position: number): Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, EventStoreError> {
    const { context, hasFinished, key, service } = this
    const after = Effect.flatMap(Effect.suspend(() => this.recovery), () => {
      this.recovery = Effect.void
      return service.after(key, position)
    })
    // Checks whether the end of the stream is stored. Otherwise a client would resume the stream again and again.
    return context.logged(hasFinished ? Effect.flatMap(after, (missed) => this.ended(position, missed)) : after)
  }

  private ended(position: number, missed: Option.Option<ReadonlyArray<StoredEvent>>): ReturnType<StreamStore["after"]> {
    return Option.isNone(missed)
      ? Effect.succeedNone
      : Effect.map(
        hasEnd(this.service, this.key, position, missed.value, this.recovers),
        (hasEnd) => hasEnd ? missed : Option.none()
      )
  }

  /** Reads the events after a position. When the store has lost some of these events, gives the remaining events. */
  left(position: number): Effect.Effect<ReadonlyArray<StoredEvent>, EventStoreError> {
    const { context, key, service } = this
    const left = Effect.flatMap(
      service.after(key, position),
      Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          Effect.map(
            service.after(key, -1),
            (all) => Option.getOrElse(all, () => []).filter((event) => event.position > position)
          )
      })
    )
    return context.logged(left)
  }

  /**
   * Completes a stream whose node has ended. Before a client resumes the stream, this module stores the error as the response to each
   * unanswered request.
   */
  recover(error: ErrorObject): void {
    this.recovers = true
    this.recovery = Effect.map(Effect.suspend(() => make(this.service, this.key, error)), (isCurrent) => {
      if (!isCurrent) this.isStale = true
    })
  }

  /** Ends the stream. Calls `then` when the store has finished the stream. */
  finish(then: () => void): void {
    const { key, service } = this
    // When another node serves the session, the other node finishes the stream, and adds the missing responses.
    const finished = (): Effect.Effect<void> =>
      Effect.catchAllCause(Effect.suspend(() => service.finish(key)), logDefect)
    this.queue.add(() => this.isStale || this.isEnded ? undefined : finished(), then)
  }
}

/** Logs a defect of the event store. Other code logs the failures of the event store. */
export const logDefect = <E>(cause: Cause.Cause<E>): Effect.Effect<void> =>
  Cause.isDie(cause) ? Effect.logError("The event store failed", cause) : Effect.void

/**
 * Finishes a stream that began in an earlier epoch than the epoch of the key, if the stream has not finished yet. The epoch of a session
 * grows each time another node takes the session over. Gives `false` when the epoch of the key is old.
 */
const make = (
  store: EventStoreService,
  key: StreamKey,
  error: ErrorObject
): Effect.Effect<boolean, EventStoreError> => {
  const answer = (requests: ReadonlyArray<Message.RequestId>, answered: ReadonlySet<Message.RequestId>) => {
    // The store may already have some of these errors from an earlier attempt, so each request has a fixed position.
    const errors = requests.map((id, n) => ({
      id,
      position: EventId.before(key.epoch) + n + 1,
      data: MessageText.stringify(Message.failure(id, error))!
    })).filter(({ id }) => !answered.has(id))
    return Effect.zipLeft(
      Effect.map(
        Effect.forEach(errors, ({ data, position }) => store.append(key, { data, position })),
        (stored) => stored.every((isCurrent) => isCurrent)
      ),
      store.finish(key)
    )
  }
  return Effect.flatMap(store.unfinished(key), (requests) =>
    requests.length === 0
      ? Effect.succeed(true)
      : Effect.flatMap(answeredIn(store, key), (answered) => answer(requests, answered)))
}

/**
 * Whether the store has the end of a finished stream. A database may have lost the last events without an error. `missed` are the events
 * after the position. When `recovers` is true, a stream with unanswered requests passes this check, because these requests get errors when
 * the client resumes the stream again.
 */
const hasEnd = (
  store: EventStoreService,
  key: StreamKey,
  position: number,
  missed: ReadonlyArray<StoredEvent>,
  recovers: boolean
): Effect.Effect<boolean, EventStoreError> =>
  Effect.gen(function*() {
    const requests = yield* store.unfinished(key)
    if (requests.length > 0) {
      if (recovers) return true
      const answered = yield* answeredIn(store, key)
      if (!requests.every((id) => answered.has(id))) return false
    }
    // When there are no missed events, the client already has the last event, so this code reads the last event.
    const events = missed.length > 0 ? Option.some(missed) : yield* store.after(key, position - 1)
    const last = Option.getOrElse(events, () => []).at(-1)
    return last !== undefined && responseIn(last.data) !== undefined
  })

const answeredIn = (
  store: EventStoreService,
  key: StreamKey
): Effect.Effect<ReadonlySet<Message.RequestId>, EventStoreError> =>
  Effect.map(
    store.after(key, -1),
    (events) => new Set(Option.getOrElse(events, () => []).flatMap(({ data }) => responseIn(data)?.id ?? []))
  )

/** No limits, because this server has written these messages itself. */
const UNLIMITED: MessageText.Limits = { maxDepth: Infinity, maxNodes: Infinity, maxResponseNodes: Infinity }

/** Decodes a response; `undefined` for any other message. */
const responseIn = (data: string): Message.Response | undefined => {
  const message = MessageText.parse(data, UNLIMITED)
  return !Message.isMalformed(message) && Message.isResponse(message) ? message : undefined
}
