/**
 * One duplex pipe of messages: a stream of what the peer sends, and functions that send to the peer.
 *
 * A transport knows no method; `Conversation` reads the transport. `make` builds a transport from a stream and a function that writes
 * messages. `LineFraming` turns bytes into messages. `memory` makes a pair of transports with queues, and `Direct` makes a pair without
 * queues.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Outbox from "../kit/Outbox.js"
import { raceFirst } from "../kit/Race.js"
import * as StreamArrays from "../kit/StreamArrays.js"
import * as TimeLimit from "../kit/TimeLimit.js"
import { type LocalError, TransportError } from "./LocalError.js"
import type * as Message from "./Message.js"
import * as JsonForm from "./runtime/JsonForm.js"

/**
 * A report of the transport itself: our request did not reach the peer, or its answer was lost. Only the call that waits for this answer
 * ends. It is for transports that send each request on its own, as over HTTP.
 *
 * @category models
 */
export class Undelivered {
  readonly _tag = "Undelivered"
  constructor(
    readonly id: Message.RequestId,
    /** The error with which the call fails. */
    readonly error: LocalError
  ) {}
}

/**
 * What a transport delivers: input of the peer, or a report that a request or its answer was lost.
 *
 * @category models
 */
export type Delivery = Message.Incoming | Undelivered

/**
 * How a request continues when its connection is lost. Only transports that can resume requests read these options.
 *
 * @category models
 */
export interface SendOptions {
  /**
   * The request was sent before, possibly over an earlier connection. It is not sent again. The call waits for its answer, from the point
   * in the stream of the request that this token names. When the transport cannot resume requests, the call fails with a `TransportError`.
   */
  readonly resumptionToken?: string | undefined
  /** Called when everything up to a later point was read, so that the request can be resumed from this point. */
  readonly onResumptionToken?: ((token: string) => Effect.Effect<void>) | undefined
  /**
   * A function that wraps the sending of this request, for example in the span of the call. Only a transport that sends each request on its
   * own calls it; a pipe does not.
   */
  readonly around?: (<A, E, R>(sending: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
}

/**
 * A call, as the transport sees it that carries the request and the cancel of the call.
 *
 * @category models
 */
export interface OpenCall {
  /** What a transport that sends each request on its own keeps for this request while the call is open. */
  exchange?: unknown
}

/**
 * Runs an effect. Until it ends, the timeouts of the requests of this side stand still.
 *
 * @category models
 */
export type PauseTimeouts = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Numbers that identify the credentials with which a transport sends requests. Requests with the same number had the same credentials.
 *
 * @category models
 */
export interface Credentials {
  /** The number of the credentials of the last request. */
  readonly last: () => number
  /** The number of the credentials that a request would have now. Fails when these credentials cannot be found. */
  readonly now: Effect.Effect<number, unknown>
}

/** @category models */
export interface Transport {
  /** What the peer sends, in order, for one reader. Ends when the peer closes the pipe. Fails when the pipe fails. */
  readonly incoming: Stream.Stream<Delivery, TransportError>
  /**
   * Sends a message, in the order of the calls. Suspends while too many messages wait. Fails with reason `Write` when the pipe is closed.
   */
  readonly send: (message: Message.Message) => Effect.Effect<void, TransportError>
  /**
   * Sends a message without suspending, in the order of the calls. Returns `false` when the pipe is closed. Never throws. A request and its
   * cancel get the same `call`.
   */
  readonly unsafeSend: (message: Message.Message, options?: SendOptions, call?: OpenCall) => boolean
  /**
   * Passes each incoming message to `receive` until the peer closes the pipe. It is a faster way to read the same messages than `incoming`,
   * for pipes that need no stream. Default: the messages of `incoming` are passed to `receive`.
   */
  readonly run?: (receive: (incoming: Delivery) => void) => Effect.Effect<void, TransportError>
  /**
   * Whether there is space for a message now. If so, notifications of handlers are sent with `unsafeSend` in place of `send`. A transport
   * that wraps another transport and replaces only `send` must leave `canSend` out. Default: notifications are always sent with `send`.
   */
  readonly canSend?: (() => boolean) | undefined
  /** Whether requests can be sent now. If not, requests fail with `NoBackChannel`. Default: always. */
  readonly canRequest?: (() => boolean) | undefined
  /**
   * Present only on a transport that sends each request on its own, as over HTTP. Such a transport can resume requests, and the failure of
   * one request says nothing about other requests or about the peer. A pipe leaves this out. A transport that wraps another transport
   * passes on the value of that transport.
   */
  readonly exchanges?: Exchanges | undefined
}

/**
 * What a conversation must know of a transport that sends each request on its own.
 *
 * @category models
 */
export interface Exchanges {
  /** Whether the transport continues the session of an earlier connection. That connection may have used any id. */
  readonly isResumed: boolean
  /** Whether the transport may start a login when the peer refuses a request. After the login the transport sends the request again. */
  readonly canLogIn: boolean
  /** The credentials of the requests, if they may change. Default: all requests have the same credentials. */
  readonly credentials?: Credentials | undefined
  /**
   * Called once, when a conversation starts over this transport. While the transport waits for something that the peer did not cause, such
   * as the login of the user, it runs this wait with `pauseTimeouts`.
   */
  readonly onConversation?: ((pauseTimeouts: PauseTimeouts) => void) | undefined
}

/**
 * The half of a transport that sends. It is for a conversation whose owner passes each incoming message to the conversation.
 *
 * @category models
 */
export type Sender = Omit<Transport, "incoming" | "run">

/**
 * A stream of transports. Each transport is the start of a new conversation.
 *
 * @category models
 */
export interface Listener<out E = never, out R = never> extends Stream.Stream<Transport, E, R> {}

/**
 * The error with which `send` fails once the pipe is closed.
 *
 * @category constants
 */
export const closed: TransportError = new TransportError({ reason: "Write", message: "The transport is closed" })

/**
 * Passes each incoming message to `receive` until the peer closes the pipe.
 *
 * @category utils
 */
export const run = (
  transport: Transport,
  receive: (incoming: Delivery) => void
): Effect.Effect<void, TransportError> =>
  transport.run !== undefined
    ? transport.run(receive)
    : StreamArrays.forEach(transport.incoming, receive)

/**
 * A transport made of a stream and a function that writes one message after another. Messages wait in a queue until `write` is called with
 * them. When `write` fails, `incoming` fails with the same error, so that no caller waits for an answer to a message that was not sent.
 * When the scope closes, the messages that still wait are written, for at most a second. Then writing stops, and `incoming` ends.
 *
 * @category constructors
 */
export const make = (options: {
  readonly incoming: Stream.Stream<Delivery, TransportError>
  readonly write: (message: Message.Message) => Effect.Effect<void, TransportError>
  /** How many messages may wait for `write` before `send` suspends. Default: 256. */
  readonly capacity?: number | undefined
}): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.gen(function*() {
    const outbox = Outbox.make<Message.Message>(options.capacity)
    const over = yield* Deferred.make<void, TransportError>()
    yield* Effect.acquireRelease(
      Effect.forkDaemon(Effect.interruptible(Effect.onError(
        Stream.runForEach(outbox.stream, options.write),
        (cause) => {
          outbox.end(Exit.void)
          return Deferred.failCause(over, cause)
        }
      ))),
      (writer) =>
        Effect.suspend(() => {
          outbox.end(Exit.void)
          return TimeLimit.exit(writer, "1 second").pipe(
            Effect.zipRight(Deferred.succeed(over, undefined)),
            Effect.zipRight(TimeLimit.end(Fiber.interrupt(writer), "1 second"))
          )
        })
    )
    return {
      incoming: Stream.interruptWhenDeferred(options.incoming, over),
      // One race for the whole pipe, and not one for each message.
      run: (receive) => raceFirst(StreamArrays.forEach(options.incoming, receive), Deferred.await(over)),
      ...sender(outbox)
    }
  })

/**
 * Two connected transports in memory. Each side receives the messages that it would receive over JSON: for example without members whose
 * value is `undefined`. A message that has only JSON values is passed by reference. Each direction has a queue. `send` suspends while
 * `capacity` messages wait in the queue. Default: 256. When the scope closes, both transports end.
 *
 * @category constructors
 */
export const memory = (
  options?: { readonly capacity?: number | undefined }
): Effect.Effect<readonly [Transport, Transport], never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => [queue(options?.capacity), queue(options?.capacity)] as const),
      ([left, right]) =>
        Effect.sync(() => {
          left.end(Exit.void)
          right.end(Exit.void)
        })
    ),
    ([left, right]) => [new InMemory(left, right), new InMemory(right, left)]
  )

const queue = (capacity: number | undefined) => Outbox.make<Delivery, TransportError>(capacity)

/**
 * One side of a pair with queues. `run` and `canSend` are methods of the class, so that a copy by object spread does not have them. Without
 * them, no message can bypass the `incoming` or `send` that the copy replaces.
 */
class InMemory implements Transport {
  readonly incoming: Transport["incoming"]
  readonly send: Transport["send"]
  readonly unsafeSend: Transport["unsafeSend"]

  constructor(
    private readonly mine: Outbox.Outbox<Delivery, TransportError>,
    private readonly theirs: Outbox.Outbox<Delivery, TransportError>
  ) {
    this.incoming = Stream.ensuring(mine.stream, this.close)
    const { send, unsafeSend } = sender(theirs)
    this.send = (message) =>
      Effect.suspend(() => {
        const received = JsonForm.of(message)
        return received === undefined ? Effect.fail(JsonForm.noForm) : send(received)
      })
    this.unsafeSend = (message) => {
      const received = JsonForm.of(message)
      return received !== undefined && unsafeSend(received)
    }
  }

  canSend(): boolean {
    return !this.theirs.isFull
  }

  run(receive: (incoming: Delivery) => void): Effect.Effect<void, TransportError> {
    return Effect.ensuring(this.mine.forEach(receive), this.close)
  }

  /** A side that stops reading has closed the pipe: the other side also receives nothing more from this side. */
  private get close(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.mine.end(Exit.void)
      this.theirs.end(Exit.void)
    })
  }
}

const sender = <A, E>(outbox: Outbox.Outbox<A | Message.Message, E>) => ({
  send: (message: A | Message.Message): Effect.Effect<void, TransportError> =>
    Effect.flatMap(outbox.offer(message), (taken) => taken ? Effect.void : Effect.fail(closed)),
  unsafeSend: (message: A | Message.Message): boolean => outbox.unsafeOffer(message)
})
