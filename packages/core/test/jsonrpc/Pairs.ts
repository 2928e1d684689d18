/**
 * The transports of this package in pairs, under one type: each end opens in a scope, and closing that scope closes the
 * pipe. The byte pipes carry bytes, cut into pieces at random.
 */
import * as Direct from "@effect-mcp/core/Direct"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Exit, type Scope } from "effect"
import * as Outbox from "../../src/kit/Outbox.js"

export type End = Effect.Effect<Transport.Transport, never, Scope.Scope>

export interface Pair {
  readonly name: string
  readonly open: Effect.Effect<readonly [End, End], never, Scope.Scope>
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export const seededRandom = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

/** The same bytes in pieces of one byte to `longest`. */
export const pieces = (bytes: Uint8Array, random: () => number, longest = 40): Array<Uint8Array> => {
  const cut: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const length = 1 + Math.floor(random() * longest)
    cut.push(bytes.slice(at, at + length))
    at += length
  }
  return cut
}

const pipe = (
  incoming: Outbox.Outbox<Uint8Array>,
  outgoing: Outbox.Outbox<Uint8Array>,
  random: () => number
): End =>
  Effect.gen(function*() {
    // Runs after the transport has written the messages that waited.
    yield* Effect.addFinalizer(() => Effect.sync(() => outgoing.end(Exit.void)))
    return yield* Transport.make({
      incoming: LineFraming.decode(incoming.stream),
      write: (message) => {
        const line = LineFraming.encode(message)
        return line === undefined ? Effect.void : Effect.forEach(
          pieces(new TextEncoder().encode(line), random),
          (piece) => Effect.filterOrFail(outgoing.offer(piece), (taken) => taken, () => Transport.closed),
          { discard: true }
        )
      }
    })
  })

const both = ([left, right]: readonly [Transport.Transport, Transport.Transport]) =>
  [Effect.succeed(left), Effect.succeed(right)] as const

export const memory: Pair = { name: "memory", open: Effect.map(Transport.memory(), both) }

export const direct: Pair = { name: "Direct", open: Effect.map(Direct.pair, both) }

export const pipes: Pair = {
  name: "byte pipes",
  open: Effect.sync(() => {
    const [there, back] = [Outbox.make<Uint8Array>(), Outbox.make<Uint8Array>()]
    const random = seededRandom(7)
    return [pipe(back, there, random), pipe(there, back, random)] as const
  })
}

/** The pair, read through `incoming`. */
export const streamed = (pair: Pair): Pair => ({
  name: `${pair.name}, as a stream`,
  open: Effect.map(pair.open, ([left, right]) => {
    const asStream = ({ incoming, send, unsafeSend }: Transport.Transport) => ({ incoming, send, unsafeSend })
    return [Effect.map(left, asStream), Effect.map(right, asStream)] as const
  })
})

export const all: ReadonlyArray<Pair> = [memory, direct, pipes, streamed(direct), streamed(pipes)]
