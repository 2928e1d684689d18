/**
 * One stream in the event store: gives each event its position, and runs the operations on the stream one after another. `ResumableStream`
 * has the readers, which this module does not know. `HttpSession` and `ReaderNotes` store streams and notes through this module.
 *
 * The fields are mutable, because each message of a handler passes here. The positions up to `last` are given out, each once. `unstored`
 * are the events, in order, that no operation has taken. The events from the position `firstRefused` on were refused. `isStale` and
 * `isEnding` are set once.
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
  /** Whether the store refuses what this node writes, because another node serves the session. */
  isStale = false
  /** Whether the stream has finished, at this node or at an earlier node. */
  hasFinished = false
  /** The operations that wait for the store. */
  readonly queue: SerialQueue
  private unstored: Array<StoredEvent> = []
  private firstRefused = Infinity
  /** Whether the last message has come. */
  private isEnding = false
  /** Whether the store has finished the stream together with its last event. */
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

  /** Whether a later node, which has taken the session over, has given this position out. */
  isOfNextNode(position: number): boolean {
    const { epoch } = this.key
    return epoch !== undefined && position >= EventId.before(epoch + 1)
  }

  /** A sender waits for this effect before it appends more; `undefined` while there is space. */
  get congestion(): Effect.Effect<void> | undefined {
    return this.queue.isFull ? this.queue.space : undefined
  }

  /**
   * Says that the stream will answer these requests. The store gets the requests where another node may have to answer them. It also gets
   * the requests of a batch: only a request without a response then shows that the store has lost the end of the stream.
   */
  begin(requests: () => ReadonlyArray<Message.RequestId>, isBatch: boolean): void {
    const { key, service } = this
    if (isBatch || key.epoch !== undefined) {
      this.opening = this.write(Effect.suspend(() => service.open(key, requests())))
    }
  }

  /** Stores the requests that the stream will answer, if that is needed. It runs before the id of an event leaves. */
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
   * Stores an event and the events after it, in one operation if the store can. Does nothing when the event was already stored together
   * with an earlier event.
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
    // A stream that is finished together with all of its events leaves no request for another node to answer.
    return this.opening === Effect.void || (isTogether && isEnding) ? stored : Effect.zipRight(this.opened, stored)
  }

  /** Runs an operation that writes, and learns from it whether another node serves the session. */
  write(writing: Effect.Effect<boolean>, reports = false): Effect.Effect<void> {
    const written = Effect.map(writing, (isCurrent) => {
      if (!isCurrent) this.isStale = true
      if (reports) this.reportStale()
    })
    return Effect.catchAllCause(written, logDefect)
  }

  /** Tells the session if another node serves it. */
  reportStale(): void {
    if (this.isStale) this.onStale?.()
  }

  /** The events after a position. `None` when the stream is unknown, or when one of these events is lost. */
  after(position: number): Effect.Effect<Option.Option<ReadonlyArray<StoredEvent>>, EventStoreError> {
    const { context, hasFinished, key, service } = this
    const after = Effect.flatMap(Effect.suspend(() => this.recovery), () => {
      this.recovery = Effect.void
      return service.after(key, position)
    })
    // Checks the end, because a client would resume a stream without its end again and again.
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

  /** The events after a position. When the store has lost some of these events, it gives the events that are left. */
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

  /** The stream belongs to a node that has ended. Its unanswered requests get this error before a client resumes the stream. */
  recover(error: ErrorObject): void {
    this.recovers = true
    this.recovery = Effect.map(Effect.suspend(() => make(this.service, this.key, error)), (isCurrent) => {
      if (!isCurrent) this.isStale = true
    })
  }

  /** Says that no more events come. Calls `then` when the store has finished the stream. */
  finish(then: () => void): void {
    const { key, service } = this
    // When another node serves the session, that node finishes the stream, with the responses that it lacks.
    const finished = (): Effect.Effect<void> =>
      Effect.catchAllCause(Effect.suspend(() => service.finish(key)), logDefect)
    this.queue.add(() => this.isStale || this.isEnded ? undefined : finished(), then)
  }
}

/** Logs a defect of the event store. Failures that the event store reports itself are logged where they are read. */
export const logDefect = <E>(cause: Cause.Cause<E>): Effect.Effect<void> =>
  Cause.isDie(cause) ? Effect.logError("The event store failed", cause) : Effect.void

/**
 * Finishes a stream that began in an earlier epoch than the epoch of the key, unless the stream has finished. Gives `false` when the epoch
 * of the key is over.
 */
const make = (
  store: EventStoreService,
  key: StreamKey,
  error: ErrorObject
): Effect.Effect<boolean, EventStoreError> => {
  const answer = (requests: ReadonlyArray<Message.RequestId>, answered: ReadonlySet<Message.RequestId>) => {
    // The store may have some of these errors from an earlier attempt, so each request has a position of its own.
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
 * Whether the store has the end of a stream that has finished. The store may have lost the end without knowing it: the database was away,
 * or came back without its last events. `missed` are the events after the position. With `recovers`, the unanswered requests get their
 * errors when the client resumes the stream again, so the end need not be there.
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
    // A client that already has the last event names it as its position.
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

/** No limits: the limits are for messages of peers, and this server has written these messages itself. */
const UNLIMITED: MessageText.Limits = { maxDepth: Infinity, maxNodes: Infinity, maxResponseNodes: Infinity }

/** The response in a message; `undefined` for any other message. */
const responseIn = (data: string): Message.Response | undefined => {
  const message = MessageText.parse(data, UNLIMITED)
  return !Message.isMalformed(message) && Message.isResponse(message) ? message : undefined
}
