/**
 * Plays a recorded conversation of any revision against the side under test. For a client under test, the replay is the server. For a
 * server under test, the replay is the client. The replay sends the recorded messages of its own side, and expects the recorded messages of
 * the side under test.
 *
 * These values may differ, because the side under test chooses them for each conversation: ids of requests, progress tokens, request
 * states, cursors, and the name and version of the side. The order may differ for responses, for notifications of different methods, and
 * for requests when the recording has no message of the replay between these requests. A subscription may begin earlier than recorded,
 * because a client begins it in the background. The replay accepts a cancellation that was not recorded. Any other difference fails the
 * test, and the error names the place of the first difference.
 *
 * @since 0.1.0
 */
import type * as Connector from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { INTERNAL_ERROR } from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as ChosenValues from "./replay/ChosenValues.js"
import * as Difference from "./replay/Difference.js"
import * as TestPeer from "./TestPeer.js"
import type * as TestTransport from "./TestTransport.js"
import * as Transcript from "./Transcript.js"

/**
 * Plays the recorded server for a client under test. The client can connect only one time. When a request differs from the recorded
 * request, the client gets an error with the difference, and the connection closes. When the scope closes, it dies with the difference. The
 * scope also dies at its end when the client has not sent all of its recorded messages, except when the test has already failed.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Replay from "@effect-mcp/testing/Replay"
 * import * as Transcript from "@effect-mcp/testing/Transcript"
 * import { Effect } from "effect"
 *
 * export const test = (recorded: string) =>
 *   Effect.gen(function*() {
 *     const server = yield* Replay.server(yield* Transcript.fromJson(recorded))
 *     const client = yield* Client.make(server)
 *     return yield* client.callTool("forecast", { city: "Oslo" })
 *   })
 * ```
 * @category utils
 */
export const server = (
  transcript: Transcript.Transcript,
  options?: TestTransport.Options
): Effect.Effect<Connector.Connector, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [peer, connector] = yield* TestPeer.server(options)
    const playing = yield* Effect.forkScoped(
      run(peer, "server", transcript).pipe(
        Effect.zipRight(silence(peer, transcript)),
        Effect.onError(() => peer.hangUp)
      )
    )
    yield* Effect.addFinalizer((exit) =>
      Effect.gen(function*() {
        yield* peer.hangUp
        const played = yield* Effect.either(Fiber.join(playing))
        // A test that has failed before the end of the conversation reports its own error.
        if (Either.isLeft(played) && (Exit.isSuccess(exit) || !played.left.isEnd)) {
          yield* Effect.dieMessage(played.left.message)
        }
      })
    )
    return connector
  })

/**
 * Plays the whole recorded client against the server in the context. Dies with the first difference, and when the server closes the
 * connection too early.
 *
 * @category utils
 */
export const client = (
  transcript: Transcript.Transcript,
  options?: TestTransport.Options
): Effect.Effect<void, never, Dispatcher> =>
  Effect.scoped(Effect.flatMap(TestPeer.client(options), (peer) => play(peer, "client", transcript)))

/**
 * Plays one side of a conversation through a peer. The peer may have sent and received other messages before. Dies with the first
 * difference, as `client` does.
 *
 * @category utils
 */
export const play = (
  peer: TestPeer.TestPeer,
  side: Transcript.Entry["from"],
  transcript: Transcript.Transcript
): Effect.Effect<void> => Effect.catchAll(run(peer, side, transcript), ({ message }) => Effect.dieMessage(message))

class ReplayError extends Data.TaggedError("ReplayError")<{
  readonly message: string
  /** Whether the side under test has ended the conversation too early. */
  readonly isEnd: boolean
}> {}

const run = (
  peer: TestPeer.TestPeer,
  side: Transcript.Entry["from"],
  { entries, redact }: Transcript.Transcript
): Effect.Effect<void, ReplayError> => {
  const tested = side === "client" ? "server" : "client"
  const values = ChosenValues.make(tested)
  /** The recorded messages that the side under test has not sent yet, with their places in the conversation. */
  const missing = new Map([...entries.entries()].filter(([, { from }]) => from === tested).map(([i, one]) => [one, i]))
  /** The recorded ids of the requests that the side under test has sent. */
  const requested = new Set<unknown>()

  /**
   * Returns the recorded messages to which a message may correspond. A subscription may arrive earlier than recorded; any other request
   * must not arrive earlier.
   */
  const candidates = (message: Message.Message, due: ReadonlyArray<Transcript.Entry>) => {
    const isBound = Message.isRequest(message) && message.method !== SUBSCRIBES
    const alike = (isBound ? due : [...missing.keys()]).filter((one) => isAlike(one.message, message))
    return Message.isNotification(message) ? alike.slice(0, 1) : alike
  }

  const receive = (due: Arr.NonEmptyReadonlyArray<Transcript.Entry>): Effect.Effect<void, ReplayError> =>
    Effect.gen(function*() {
      const message = yield* Effect.catchAllDefect(peer.next, (defect) => ended(defect, due[0]))
      const received = redact(message)
      const recorded = candidates(message, due)
      if (recorded.length === 0 && isCancellation(message)) return
      const found = recorded.find((entry) => values.match(entry, received, message) === undefined)
      if (found === undefined) return yield* differs(recorded[0] ?? due[0], received, message)
      missing.delete(found)
      if (Message.isRequest(found.message)) requested.add(found.message.id)
    })

  const differs = (entry: Transcript.Entry, received: Message.Message, message: Message.Message) =>
    refuse(
      peer,
      message,
      `The ${tested} sent a message that differs from the recorded conversation:\n` +
        `  recorded: ${shortLine(entry)}\n  received: ${shortLine({ from: tested, message: received })}\n  ` +
        Difference.render(values.match(entry, received, message)!)
    )

  return Effect.gen(function*() {
    for (const [i, { from, message }] of entries.entries()) {
      if (from === tested && i < entries.length - 1) continue
      const isAnswer = from === side && Message.isResponse(message)
      while (!(isAnswer && requested.has(message.id))) {
        const due = Arr.takeWhile([...missing], ([, at]) => at <= i).map(([entry]) => entry)
        if (!Arr.isNonEmptyReadonlyArray(due)) break
        yield* receive(due)
      }
      // The side under test may close the connection before it has received the last messages.
      if (from === side) {
        yield* Effect.catchAll(peer.send(values.current(entries[i]!)), (error) =>
          Effect.suspend(() => {
            const [next] = missing.keys()
            return next === undefined ? Effect.void : ended(error, next)
          }))
      }
    }
  })
}

/** The request that a client sends without a call of the application. */
const SUBSCRIBES = "subscriptions/listen"

/** Waits until the client has closed the connection. Fails when the client sends a message before that. */
const silence = (
  peer: TestPeer.TestPeer,
  { redact }: Pick<Transcript.Transcript, "redact">
): Effect.Effect<void, ReplayError> =>
  Effect.gen(function*() {
    const message = yield* Effect.catchAllDefect(peer.next, () => Effect.succeed(undefined))
    if (message === undefined) return
    if (!isCancellation(message)) {
      const line = shortLine({ from: "client", message: redact(message) })
      yield* refuse(peer, message, `The recorded conversation has ended, and the client sent\n  ${line}`)
    }
    yield* silence(peer, { redact })
  })

/** Fails with the text. When the message is a request, the sender also gets the text as the error. */
const refuse = (peer: TestPeer.TestPeer, message: Message.Message, text: string): Effect.Effect<never, ReplayError> =>
  Effect.zipRight(
    Message.isRequest(message)
      ? Effect.ignore(peer.send(Message.failure(message.id, { code: INTERNAL_ERROR, message: text })))
      : Effect.void,
    Effect.fail(new ReplayError({ message: text, isEnd: false }))
  )

/**
 * Whether a message is a cancellation. Over HTTP, a client cancels a request of revision 2026-07-28 by closing its stream, so the
 * transcript has no message for this cancellation.
 */
const isCancellation = (message: Message.Message): boolean =>
  Message.isNotification(message) && message.method === "notifications/cancelled"

const ended = (cause: unknown, next: Transcript.Entry): Effect.Effect<never, ReplayError> =>
  Effect.fail(
    new ReplayError({
      message: `The conversation ended too early: the ${next.from} did not send\n  ${shortLine(next)}\n  ` +
        (cause instanceof Error ? cause.message : String(cause)),
      isEnd: true
    })
  )

/** Whether two messages are requests of the same method, notifications of the same method, or responses to the same request. */
const isAlike = (one: Message.Message, other: Message.Message): boolean =>
  Message.isResponse(one)
    ? Message.isResponse(other) && one.id === other.id
    : !Message.isResponse(other) && one.method === other.method &&
      Message.isRequest(one) === Message.isRequest(other) &&
      one.params?.progressToken === other.params?.progressToken

const shortLine = (entry: Transcript.Entry): string => {
  const line = Transcript.line(entry)
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
