import { assert, describe, it } from "@effect/vitest"
import * as Direct from "@effect-mcp/core/Direct"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import type * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import * as Outbox from "@effect-mcp/core/unstable/kit/Outbox"
import * as TestTransport from "@effect-mcp/testing/TestTransport"
import * as TransportLaws from "@effect-mcp/testing/TransportLaws"
import { Effect, Exit, type Scope, Stream } from "effect"

type MakePair = Effect.Effect<TransportLaws.Pair, never, Scope.Scope>

const encoder = new TextEncoder()

/** Two transports over two pipes of bytes. */
const bytes: MakePair = Effect.gen(function*() {
  const pipes = [Outbox.make<Uint8Array>(), Outbox.make<Uint8Array>()] as const
  const hangUp = Effect.sync(() => pipes.forEach((pipe) => pipe.end(Exit.void)))
  yield* Effect.addFinalizer(() => hangUp)
  const end = (mine: Outbox.Outbox<Uint8Array>, theirs: Outbox.Outbox<Uint8Array>) =>
    Transport.make({
      incoming: Stream.ensuring(LineFraming.decode(mine.stream), hangUp),
      write: (message) =>
        Effect.flatMap(theirs.offer(encoder.encode(LineFraming.encode(message)!)), (taken) =>
          taken ? Effect.void : Effect.fail(Transport.closed))
    })
  return [yield* end(pipes[0], pipes[1]), yield* end(pipes[1], pipes[0])] as const
})

const pairs: Record<string, MakePair> = {
  "the pair in memory": Transport.memory(),
  "Direct": Direct.pair,
  "the test transport": Effect.map(
    TestTransport.pair({ oracle: false }),
    ({ client, server }) => [client, server] as const
  )
}

for (const [name, pair] of Object.entries(pairs)) {
  describe(`${name}, as every transport,`, () => {
    for (const law of TransportLaws.laws) {
      it.effect(law.name, () => law.check(pair))
    }
  })
}

describe("lines of bytes, as every transport,", () => {
  for (const law of TransportLaws.laws.slice(0, 3)) {
    it.effect(law.name, () => law.check(bytes))
  }
})

describe("TransportLaws", () => {
  const broken = (f: (transport: Transport.Transport) => Transport.Transport) =>
    Effect.map(Transport.memory(), ([left, right]) => [f(left), right] as const)

  const failing = (pair: MakePair) =>
    Effect.map(
      Effect.forEach(TransportLaws.laws, (law) =>
        Effect.match(law.check(pair), {
          onFailure: (error) => [error.law],
          onSuccess: () => [] as Array<string>
        })),
      (names) => names.flat()
    )

  it.effect("find a transport that reorders messages", () =>
    Effect.gen(function*() {
      const held: Array<Message.Message> = []
      const names = yield* failing(broken((transport) => ({
        ...transport,
        send: (message) => {
          held.push(message)
          return held.length < 2
            ? Effect.void
            : Effect.zipRight(transport.send(held.pop()!), transport.send(held.pop()!))
        }
      })))
      assert.include(names, "delivers each message one time and in order, in both directions")
    }))

  it.effect("find a transport that accepts messages that it cannot deliver", () =>
    Effect.gen(function*() {
      const names = yield* failing(broken((transport) => ({ ...transport, unsafeSend: () => true })))
      assert.include(names, "ends for both sides when one side stops reading, and then accepts no message")
    }))
})
