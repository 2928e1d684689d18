/**
 * The laws that every transport must satisfy, as effects for any test runner: each gets a function that makes a pair of
 * transports, and fails with the law that the pair has broken. Authors of transports run them in their tests.
 *
 * @since 0.1.0
 */
import type * as LocalError from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Outbox from "@effect-mcp/jsonrpc/unstable/Outbox"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"

export class LawBroken extends Data.TaggedError("LawBroken")<{ readonly law: string; readonly message: string }> {}

/** Makes two connected ends in a scope; closing the scope ends both. */
export type MakePair<E = never, R = never> = Effect.Effect<
  readonly [Transport.Transport, Transport.Transport],
  E,
  R | Scope.Scope
>

export interface Law {
  /** A sentence for the name of a test. */
  readonly name: string
  readonly check: <E, R>(pair: MakePair<E, R>) => Effect.Effect<void, E | LawBroken, Exclude<R, Scope.Scope>>
}

type Body = (
  ends: readonly [Transport.Transport, Transport.Transport],
  scope: Scope.CloseableScope
) => Effect.Effect<void, unknown, Scope.Scope>

const law = (name: string, body: Body): Law => ({
  name,
  check: (pair) =>
    Effect.scoped(Effect.gen(function*() {
      // A scope of its own, so that a law can close it before the check ends.
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit))
      const ends = yield* Scope.extend(pair, scope)
      yield* Effect.mapError(body(ends, scope), (error) =>
        error instanceof LawBroken ? error : new LawBroken({ law: name, message: String(error) }))
    }))
})

const check = (isKept: boolean, law: string, message: string): Effect.Effect<void, LawBroken> =>
  isKept ? Effect.void : Effect.fail(new LawBroken({ law, message }))

/** The messages that an end receives, one by one, and how its `incoming` ends. */
const listen = (transport: Transport.Transport) =>
  Effect.gen(function*() {
    const received = Outbox.make<Message.Incoming>()
    const pulled: Array<Message.Incoming> = []
    const ended = yield* Deferred.make<Exit.Exit<void, LocalError.TransportError>>()
    const fiber = yield* Effect.forkScoped(Effect.onExit(
      Transport.run(transport, (incoming) => {
        // The transport itself reports these, not the peer.
        if (!Transport.isUndelivered(incoming)) received.unsafeOffer(incoming)
      }),
      (exit) => {
        received.end(Exit.void)
        return Deferred.succeed(ended, exit)
      }
    ))
    const next: Effect.Effect<Message.Incoming | undefined> = Effect.suspend(() => {
      const first = pulled.shift()
      if (first !== undefined) return Effect.succeed(first)
      return Effect.matchEffect(received.takeAll, {
        onFailure: () => Effect.succeed(undefined),
        onSuccess: (messages) => {
          for (const message of messages) pulled.push(message)
          return next
        }
      })
    })
    return { next, ended: Deferred.await(ended), fiber }
  })

const numbered = (count: number) => Array.from({ length: count }, (_, i) => Message.notification("n", { i }))

const numberOf = (incoming: Message.Incoming | undefined): unknown =>
  incoming !== undefined && !Message.isMalformed(incoming) && Message.isNotification(incoming)
    ? incoming.params?.i
    : undefined

const inOrder = "delivers each message once and in order, in both directions"

const delivery = law(inOrder, ([left, right]) =>
  Effect.gen(function*() {
    const atLeft = yield* listen(left)
    const atRight = yield* listen(right)
    const messages = numbered(100)
    yield* Effect.all([
      Effect.forEach(messages, left.send, { discard: true }),
      Effect.forEach(messages, right.send, { discard: true })
    ], { concurrency: 2 })
    for (const end of [atLeft, atRight]) {
      for (let i = 0; i < 100; i++) {
        const number = numberOf(yield* end.next)
        yield* check(number === i, inOrder, `message ${i} arrived as ${String(number)}`)
      }
    }
  }))

const mixed = "keeps the order of `send` and `unsafeSend`"

const order = law(mixed, ([left, right]) =>
  Effect.gen(function*() {
    const atRight = yield* listen(right)
    for (const [i, message] of numbered(50).entries()) {
      if (i % 2 === 0) yield* left.send(message)
      else yield* check(left.unsafeSend(message), mixed, "an open transport did not accept a message")
    }
    for (let i = 0; i < 50; i++) {
      const number = numberOf(yield* atRight.next)
      yield* check(number === i, mixed, `message ${i} arrived as ${String(number)}`)
    }
  }))

const verbatim = "delivers every kind of message unchanged"

const kinds = law(verbatim, ([left, right]) =>
  Effect.gen(function*() {
    const atRight = yield* listen(right)
    const sent: ReadonlyArray<Message.Message> = [
      Message.request(1, "m"),
      Message.request("1", "m", { text: "line\nbreak \u2028 \u{1f600} \\ \"" }),
      Message.request(0, "m", { nested: { list: [1, null, true, { deep: "ü" }] } }),
      Message.notification("m"),
      Message.success("", {}),
      Message.failure(7, { code: -32603, message: "no", data: { why: "not" } }),
      Message.failure(undefined, { code: -32700, message: "what?" })
    ]
    for (const message of sent) {
      yield* left.send(message)
      const received = yield* atRight.next
      yield* check(
        JSON.stringify(received) === JSON.stringify(message),
        verbatim,
        `${JSON.stringify(message)} arrived as ${JSON.stringify(received)}`
      )
    }
  }))

const readerStops = "ends for both sides when one stops reading, and then accepts no message"

const stopReading = law(readerStops, ([left, right]) =>
  Effect.gen(function*() {
    const atLeft = yield* listen(left)
    const atRight = yield* listen(right)
    // Both ends read from here on.
    yield* left.send(Message.notification("n"))
    yield* atRight.next
    yield* right.send(Message.notification("n"))
    yield* atLeft.next
    yield* Fiber.interrupt(atRight.fiber)
    yield* check(Exit.isSuccess(yield* atLeft.ended), readerStops, "the other end's incoming failed instead of ending")
    yield* check(!left.unsafeSend(Message.notification("n")), readerStops, "a message without a reader was accepted")
    yield* check(
      Exit.isFailure(yield* Effect.exit(left.send(Message.notification("n")))),
      readerStops,
      "`send` succeeded"
    )
  }))

const closes = "ends for both sides when its scope closes, also for a side that does not read"

const closing = law(closes, ([left], scope) =>
  Effect.gen(function*() {
    const atLeft = yield* listen(left)
    yield* Effect.yieldNow()
    yield* Scope.close(scope, Exit.void)
    yield* atLeft.ended
    yield* check(!left.unsafeSend(Message.notification("n")), closes, "a closed transport accepted a message")
  }))

/** All laws. */
export const laws: ReadonlyArray<Law> = [delivery, order, kinds, stopReading, closing]
