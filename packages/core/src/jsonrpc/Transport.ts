/**
 * A transport sends messages to the peer and receives messages from the peer. It has a stream of incoming messages and functions that send.
 *
 * `Conversation` reads the transport. `make` makes a transport from a stream and a function that writes messages. `LineFraming` decodes
 * bytes to messages. `memory` makes a pair of transports with queues, and `Direct` makes a pair without queues.
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
 * A report of the transport that a request of this side did not reach the peer, or that the answer was lost. Only the call that waits for
 * this answer fails. Only transports that send each request separately, such as HTTP, make this report.
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
 * A value that a transport delivers: input of the peer, or a report that a request or its answer was lost.
 *
 * @category models
 */
export type Delivery = Message.Incoming | Undelivered

/**
 * Options for a request that continues after its connection was lost. Only transports that can resume requests read the resumption options.
 *
 * @category models
 */
export interface SendOptions {
  /**
   * The point in the stream of a request from which the call continues. Give this token when the request was sent before, possibly over an
   * earlier connection. The transport does not send the request again, and the call waits for the answer from that point. When the
   * transport cannot resume requests, the call fails with a `TransportError`.
   */
  readonly resumptionToken?: string | undefined
  /**
   * The function that is called with a new token each time a later point of the stream was reached. Store the token to resume the request
   * from this point.
   */
  readonly onResumptionToken?: ((token: string) => Effect.Effect<void>) | undefined
  /**
   * A function that wraps the effect that sends this request, for example in the span of the call. Only a transport that sends each request
   * separately calls this function. A pipe does not call it.
   */
  readonly around?: (<A, E, R>(sending: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
}

/**
 * The data of a call for the transport. The transport gets the same object with the request of the call and with the cancellation of the
 * call.
 *
 * @category models
 */
export interface OpenCall {
  /** The data that a transport which sends each request separately stores for this request until the call ends. */
  exchange?: unknown
}

/**
 * Runs an effect, and pauses the timeouts of the requests of this side until the effect has ended.
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
  /** The number of the credentials that a new request would have. Fails when the transport cannot find these credentials. */
  readonly now: Effect.Effect<number, unknown>
}

/** @category models */
export interface Transport {
  /**
   * The messages that the peer sends, in order. Only one reader may read this stream. The stream ends when the peer closes the transport,
   * and fails when the transport fails.
   */
  readonly incoming: Stream.Stream<Delivery, TransportError>
  /**
   * Sends a message, in the order of the calls. Waits while too many messages are in the queue. Fails with reason `Write` when the
   * transport is closed.
   */
  readonly send: (message: Message.Message) => Effect.Effect<void, TransportError>
  /**
   * Sends a message in the order of the calls, and never waits. Returns `false` when the transport is closed. Never throws. A
   * request and its cancellation get the same `call`.
   */
  readonly unsafeSend: (message: Message.Message, options?: SendOptions, call?: OpenCall) => boolean
  /**
   * Passes each incoming message to `receive` until the peer closes the transport. These are the same messages as in `incoming`, but
   * without the cost of a stream. Default: the messages of `incoming` are passed to `receive`.
   */
  readonly run?: (receive: (incoming: Delivery) => void) => Effect.Effect<void, TransportError>
  /**
   * Whether the queue has space for a message now. With `true`, the conversation sends notifications of handlers with `unsafeSend` instead
   * of `send`. A transport that wraps another transport and replaces only `send` must leave `canSend` out. Default: the conversation always
   * sends these notifications with `send`.
   */
  readonly canSend?: (() => boolean) | undefined
  /** Whether the transport can send requests now. With `false`, requests fail with `NoBackChannel`. Default: always `true`. */
  readonly canRequest?: (() => boolean) | undefined
  /**
   * Functions of a transport that sends each request separately, such as HTTP. A transport with this member can resume requests, and when
   * one request fails, other requests can still succeed. A pipe does not have this member. A transport that wraps another transport must
   * have the value of the wrapped transport.
   */
  readonly exchanges?: Exchanges | undefined
}

/**
 * The properties of a transport that sends each request separately, for the conversation.
 *
 * @category models
 */
export interface Exchanges {
  /** Whether the transport continues the session of an earlier connection. The earlier connection may have used any ids. */
  readonly isResumed: boolean
  /** Whether the transport may start a login when the peer refuses a request. After the login the transport sends the request again. */
  readonly canLogIn: boolean
  /** The credentials of the requests, if they may change. Default: all requests have the same credentials. */
  readonly credentials?: Credentials | undefined
  /**
   * The function that the conversation calls one time, when it starts. When the transport waits for something that the peer did not cause,
   * such as the login of the user, the transport waits inside `pauseTimeouts`.
   */
  readonly onConversation?: ((pauseTimeouts: PauseTimeouts) => void) | undefined
}

/**
 * The part of a transport that sends, for a conversation whose owner passes each incoming message to the conversation.
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
 * The error with which `send` fails after the transport was closed.
 *
 * @category constants
 */
export const closed: TransportError = new TransportError({ reason: "Write", message: "The transport is closed" })

/**
 * Passes each incoming message to `receive` until the peer closes the transport.
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
 * Makes a transport from a stream and a function that writes one message. Messages wait in a queue, and the transport calls `write` for one
 * message after another. When `write` fails, `incoming` fails with the same error, so that no caller waits for an answer to a message that
 * was not sent. When the scope closes, the transport writes the messages in the queue for at most one second. Then `incoming` ends.
 *
 * @category constructors
 */
export const make = (options: {
  readonly incoming: Stream.Stream<Delivery, TransportError>
  readonly write: (message: Message.Message) => Effect.Effect<void, TransportError>
  /** How many messages may be in the queue before `send` waits. Default: 256. */
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
      // There is one race for the whole pipe, and not one race for each message.
      run: (receive) => raceFirst(StreamArrays.forEach(options.incoming, receive), Deferred.await(over)),
      ...sender(outbox)
    }
  })

/**
 * Makes two connected transports in memory. Each side receives the messages that it would receive over JSON, for example without members
 * whose value is `undefined`. A message that has only JSON values is passed by reference. Each direction has a queue. `send` waits while
 * the queue has `capacity` messages. Default of `capacity`: 256. When the scope closes, both transports end.
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
 * One side of a pair with queues. `run` and `canSend` are methods of the class, so a copy by object spread does not have them. Therefore
 * all messages of a copy go through its `incoming` and `send`, which the copy may replace.
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

  /** Closes the queues of both directions. When a side stops reading, the other side also receives no more messages. */
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
