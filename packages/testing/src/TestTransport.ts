/**
 * Records the messages of a transport in a transcript, and checks the messages against the official schema of the revision that client and
 * server use. `pair` makes recorded and checked transports in memory. `observed` records and checks any other transport. `recorded` records
 * the conversations of a connector.
 *
 * A message that the schema does not allow fails the test: when the scope closes, it dies with all violations. With `onViolation`, the
 * test itself handles the violations. `OfficialSchema` checks messages, and `Transcript` stores the transcript.
 *
 * @since 0.1.0
 */
import type * as Connector from "@effect-mcp/core/Connector"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Transport from "@effect-mcp/core/Transport"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as OfficialSchema from "./OfficialSchema.js"
import type * as Transcript from "./Transcript.js"

/** @category models */
export interface Options {
  /** Which messages are checked against the official schema: all (`true`), none (`false`), or the messages of one side. Default: true. */
  readonly oracle?: boolean | Transcript.Entry["from"] | undefined
  /**
   * Extensions whose result types are allowed. The official schema does not have these types, so for these results only the members that
   * all results have are checked. Default: none.
   */
  readonly extensions?: ReadonlyArray<Extension.Extension.Any> | undefined
  /**
   * A function that gets each violation. With this function, violations do not fail the test. The function must not throw. Default: when
   * the scope closes, it dies with all violations.
   */
  readonly onViolation?: ((violation: OfficialSchema.Violation) => void) | undefined
  /** The transcript that records the messages. Default: no transcript. */
  readonly transcript?: Transcript.Transcript | undefined
  /** How many messages may be in the queue before `send` waits. Default: 256. */
  readonly capacity?: number | undefined
}

/** @category models */
export interface Pair {
  readonly client: Transport.Transport
  readonly server: Transport.Transport
  /** The violations so far: each message that the schema does not allow, with the reason. */
  readonly violations: ReadonlyArray<string>
}

/**
 * Makes two connected transports that exchange the JSON texts of messages, as over a network.
 *
 * @category utils
 */
export const pair = (options: Options = {}): Effect.Effect<Pair, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [toClient, toServer] = yield* Effect.acquireRelease(
      Effect.sync(() => [queue(options.capacity), queue(options.capacity)] as const),
      (queues) => Effect.sync(() => queues.forEach((queue) => queue.end(Exit.void)))
    )
    const check = options.oracle === false
      ? undefined
      : yield* OfficialSchema.check(options.oracle ?? true, options.extensions ?? [], options.onViolation)
    const observe = (from: Transcript.Entry["from"]) => (sent: Message.Incoming, message: Message.Message): void => {
      options.transcript?.add({ from, message })
      check?.observe(from, sent, message)
    }
    return {
      client: end(toClient, toServer, observe("client")),
      server: end(toServer, toClient, observe("server")),
      violations: check?.violations ?? []
    }
  })

/**
 * Wraps a transport. The returned transport also records and checks the messages that it sends and receives. `end` is the side that uses
 * the transport: the client or the server.
 *
 * @category utils
 */
export const observed = (
  transport: Transport.Transport,
  end: Transcript.Entry["from"],
  { extensions = [], onViolation, oracle = true, transcript }: Omit<Options, "capacity"> = {}
): Effect.Effect<Transport.Transport, never, Scope.Scope> =>
  Effect.gen(function*() {
    const check = oracle === false ? undefined : yield* OfficialSchema.check(oracle, extensions, onViolation)
    const observe = (from: Transcript.Entry["from"], message: Message.Incoming) => {
      const messages = Message.isMalformed(message) ? message.batch?.map(Message.fromUnknown) ?? [] : [message]
      for (const one of messages) if (!Message.isMalformed(one)) transcript?.add({ from, message: one })
      check?.observe(from, message)
    }
    const other = end === "client" ? "server" : "client"
    const received = (delivery: Transport.Delivery) => {
      if (!(delivery instanceof Transport.Undelivered)) observe(other, delivery)
      return delivery
    }
    return {
      ...transport,
      incoming: Stream.map(transport.incoming, received),
      run: (receive) => Transport.run(transport, (delivery) => receive(received(delivery))),
      send: (message) => Effect.zipRight(Effect.sync(() => observe(end, message)), transport.send(message)),
      unsafeSend: (message, options, call) => {
        observe(end, message)
        return transport.unsafeSend(message, options, call)
      }
    }
  })

/**
 * Wraps a connector. The returned connector also records the conversation in the transcript. Use a new transcript for each conversation.
 * The messages are recorded in the order in which the client sends and receives them, and are not checked. Input that is not a message is
 * not recorded.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as StdioClient from "@effect-mcp/node/StdioClient"
 * import * as TestTransport from "@effect-mcp/testing/TestTransport"
 * import * as Transcript from "@effect-mcp/testing/Transcript"
 * import { Effect } from "effect"
 *
 * export const recorded = Effect.gen(function*() {
 *   const transcript = Transcript.make({ redact: (key, value) => key === "token" ? "***" : value })
 *   const server = StdioClient.connector({ command: "node", args: ["server.js"] })
 *   const client = yield* Client.make(TestTransport.recorded(server, transcript))
 *   yield* client.callTool("forecast", { city: "Oslo" })
 *   return yield* Transcript.toJson(transcript)
 * })
 * ```
 * @category utils
 */
export const recorded = <R>(
  connector: Connector.Connector<R>,
  transcript: Transcript.Transcript,
  options: {
    /** Whether each entry has the time since the opening of the connection. Default: false. */
    readonly times?: boolean | undefined
  } = {}
): Connector.Connector<R> => ({
  name: connector.name,
  connect: Effect.flatMap(Effect.zip(connector.connect, Effect.clock), ([transport, clock]) => {
    const begin = EffectInternals.millis(clock)
    const add = (entry: Transcript.Entry): void =>
      transcript.add(options.times === true ? { ...entry, at: EffectInternals.millis(clock) - begin } : entry)
    return observed(transport, "client", { oracle: false, transcript: { ...transcript, add } })
  })
})

type Observe = (sent: Message.Incoming, message: Message.Message) => void

type Queue = Outbox.Outbox<Transport.Delivery, LocalError.TransportError>

const queue = (capacity: number | undefined): Queue => Outbox.make(capacity)

const encode = (message: Message.Incoming): Message.Incoming | undefined => {
  if (Message.isMalformed(message)) return message
  const text = MessageText.stringify(message)
  return text === undefined ? undefined : MessageText.parse(text)
}

// The receiver gets a copy of the message from its JSON text, without `undefined` and without shared references. A text that is not a
// message arrives as malformed. A message is observed when the queue has space for it, before its reader continues. Therefore messages are
// observed in the order of their arrival, and a request is observed before its answer.
const end = (mine: Queue, theirs: Queue, observe: Observe): Transport.Transport => {
  const accept = (sent: Message.Incoming, message: Message.Message): boolean => {
    if (theirs.isEnded) return false
    observe(sent, Message.isMalformed(sent) ? message : sent)
    return theirs.unsafeOffer(sent)
  }
  const offer = (sent: Message.Incoming, message: Message.Message): Effect.Effect<void, LocalError.TransportError> =>
    Effect.suspend(() =>
      theirs.isFull
        ? Effect.zipRight(theirs.awaitSpace, offer(sent, message))
        : accept(sent, message)
        ? Effect.void
        : Effect.fail(Transport.closed)
    )
  const close = Effect.sync(() => {
    mine.end(Exit.void)
    theirs.end(Exit.void)
  })
  return {
    incoming: Stream.ensuring(mine.stream, close),
    run: (receive) => Effect.ensuring(mine.forEach(receive), close),
    canSend: () => !theirs.isFull,
    send: (message) =>
      Effect.suspend(() => {
        const sent = encode(message)
        return sent === undefined
          ? Effect.fail(new LocalError.TransportError({ reason: "Encode", message: "The message has no JSON form" }))
          : offer(sent, message)
      }),
    unsafeSend: (message) => {
      const sent = encode(message)
      return sent !== undefined && accept(sent, message)
    }
  }
}
