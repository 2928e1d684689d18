/**
 * One duplex pipe of messages: a stream of what the peer sends, and effects that send to the peer.
 *
 * A transport knows no method; `Conversation` reads the transport. `make` builds a transport from a stream and a function that writes,
 * `LineFraming` turns bytes to messages, `memory` is a pair of transports with queues, and `Direct` a pair without.
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
 * The transport itself reports this: our request did not reach the peer, or its answer was lost. Only the call that waits for the answer
 * ends. For transports that send each request on its own, such as HTTP.
 *
 * @category models
 */
export class Undelivered {
  readonly _tag = "Undelivered"
  constructor(
    readonly id: Message.RequestId,
    /** What the call fails with. */
    readonly error: LocalError
  ) {}
}

/**
 * What a transport delivers.
 *
 * @category models
 */
export type Delivery = Message.Incoming | Undelivered

/**
 * How a request goes on when its connection is lost. Only transports that can resume requests read it.
 *
 * @category models
 */
export interface SendOptions {
  /**
   * Waits for the answer to a request that was sent before, also by an earlier connection, from the point that this token
   * names. The request is not sent again. A transport that cannot resume requests fails the call with a `TransportError`.
   */
  readonly resumptionToken?: string | undefined
  /** Runs whenever the request can be resumed from a later point, once everything before that point was read. */
  readonly onResumptionToken?: ((token: string) => Effect.Effect<void>) | undefined
  /**
   * A transport that sends each request on its own runs the sending of this request inside of this function, for example in the span of the
   * call. A pipe does not read it.
   */
  readonly around?: (<A, E, R>(sending: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
}

/**
 * A call, for the transport that carries the request and the cancel of the call.
 *
 * @category models
 */
export interface OpenCall {
  /** What a transport that sends each request on its own keeps for this request, as long as the call is open. */
  exchange?: unknown
}

/**
 * Runs an effect during which the timeouts of our requests stand still.
 *
 * @category models
 */
export type PauseTimeouts = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Numbers for the credentials of the requests of a transport: requests with the same number had the same credentials.
 *
 * @category models
 */
export interface Credentials {
  /** The number of the request that was sent last. */
  readonly last: () => number
  /** The number of a request that would be sent now. Fails when its credentials cannot be found. */
  readonly now: Effect.Effect<number, unknown>
}

/** @category models */
export interface Transport {
  /** What the peer sends, in order, for one reader. Ends when the peer closes the pipe; fails when the pipe fails. */
  readonly incoming: Stream.Stream<Delivery, TransportError>
  /** Sends a message, in order. Suspends while too much waits; fails with `Write` when the pipe is closed. */
  readonly send: (message: Message.Message) => Effect.Effect<void, TransportError>
  /**
   * Sends a message without suspending, in order; `false` when the pipe is closed. Never throws. A request and its cancel
   * come with the same `call`.
   */
  readonly unsafeSend: (message: Message.Message, options?: SendOptions, call?: OpenCall) => boolean
  /**
   * Passes every incoming message to `receive` until the peer closes the pipe: a faster way to read the same messages,
   * for pipes that need no stream in between. Default: `incoming` is read.
   */
  readonly run?: (receive: (incoming: Delivery) => void) => Effect.Effect<void, TransportError>
  /**
   * Whether there is space for a message now: then notifications of handlers leave by `unsafeSend`. A transport that replaces only `send` of
   * another leaves this out. Default: only `send` knows.
   */
  readonly canSend?: (() => boolean) | undefined
  /** Whether requests can be sent now; otherwise requests fail with `NoBackChannel`. Default: always. */
  readonly canRequest?: (() => boolean) | undefined
  /**
   * What only a transport has that sends each request on its own, as over HTTP. Such a transport can resume requests, and the failure of
   * one request says nothing about other requests or about the peer. A pipe leaves this out; a transport around another transport passes it
   * on as it is.
   */
  readonly exchanges?: Exchanges | undefined
}

/**
 * The requests of a transport that sends each of them on its own.
 *
 * @category models
 */
export interface Exchanges {
  /** Whether the transport continues the session of an earlier connection, which may have used any id. */
  readonly isResumed: boolean
  /** Whether a request that the peer refuses may lead to a login, after which the request is sent again. */
  readonly canLogIn: boolean
  /** The credentials of requests, where they may change. Default: all requests have the same. */
  readonly credentials?: Credentials | undefined
  /**
   * Called once, when a conversation starts over this transport. The transport runs a wait for which the peer is not to
   * blame, such as the login of the user, with `pauseTimeouts`.
   */
  readonly onConversation?: ((pauseTimeouts: PauseTimeouts) => void) | undefined
}

/**
 * The half of a transport that sends, for a conversation whose owner passes each message to the conversation.
 *
 * @category models
 */
export type Sender = Omit<Transport, "incoming" | "run">

/**
 * A stream of transports: each element is one new conversation.
 *
 * @category models
 */
export interface Listener<out E = never, out R = never> extends Stream.Stream<Transport, E, R> {}

/**
 * The error of `send` once the pipe is closed.
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
 * A transport made of a stream and a function that writes one message after another. Messages wait in a queue until
 * `write` is called with them. When `write` fails, `incoming` fails with the same error, so that no caller waits for an
 * answer to a message that was not sent. Closing the scope writes the messages that still wait, for at most a second,
 * then stops writing and ends `incoming`.
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
      // Once for the pipe, not once for each message.
      run: (receive) => raceFirst(StreamArrays.forEach(options.incoming, receive), Deferred.await(over)),
      ...sender(outbox)
    }
  })

/**
 * Two connected transports in memory: each receives what the other sends, as over JSON: without members that are `undefined`, for
 * example. A message that has only values of JSON is received as the same value. Each direction has a queue; `send` suspends while `capacity` messages (default: 256) wait in the queue. Closing the scope ends both transports.
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
 * One side of a pair with queues. `run` and `canSend` are methods: a copy of the transport with another `incoming` or `send` does not have
 * them, so nothing goes around the new member.
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

  /** A side that stops reading has closed the pipe: the other side receives nothing more from it either. */
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
