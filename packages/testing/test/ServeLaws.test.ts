import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as ServeLaws from "@effect-mcp/testing/ServeLaws"
import { Chunk, Effect, Queue, Stream, TestContext } from "effect"
import { brokenBy } from "./Faults.js"

describe("serve of a dispatcher", () => {
  for (const { check, name } of ServeLaws.laws) it.effect(name, () => check(Effect.succeed(ServeLaws.dispatcher)))
})

/** `serve` with a fault. */
const changed = (change: (serve: ServeLaws.Serve) => ServeLaws.Serve): ServeLaws.Entrance => (server) =>
  Effect.map(ServeLaws.dispatcher(server), change)

/** A server for each stream, which the end of the stream closes. */
const serverForEach: ServeLaws.Entrance = (server) =>
  Effect.succeed((text) => Stream.unwrapScoped(Effect.map(ServeLaws.dispatcher(server), (serve) => serve(text))))

const failure = (id?: Message.RequestId) => Message.failure(id, { code: -32600, message: "no" })

const isFailure = (message: Message.Message) => Message.isResponse(message) && "error" in message

const faults: Record<string, readonly [entrance: ServeLaws.Entrance, law: string]> = {
  "answers before the notifications": [
    changed((serve) => (text) =>
      Stream.unwrap(Effect.map(Stream.runCollect(serve(text)), (all) => Stream.fromChunk(Chunk.reverse(all))))
    ),
    "returns the notifications of a request in order, then one answer, and ends"
  ],
  "answers twice": [
    changed((serve) => (text) =>
      Stream.mapConcat(serve(text), (one): Array<Message.Message> => Message.isResponse(one) ? [one, one] : [one])
    ),
    "returns the notifications of a request in order, then one answer, and ends"
  ],
  "serves on when its stream is closed": [
    (server) =>
      Effect.map(
        Effect.all([ServeLaws.dispatcher(server), Effect.scope]),
        ([serve, scope]) => (text) =>
          Stream.unwrap(Effect.gen(function*() {
            const queue = yield* Queue.bounded<Message.Message>(1)
            yield* Effect.forkIn(Stream.runForEach(serve(text), (one) => Queue.offer(queue, one)), scope)
            return Stream.takeUntil(Stream.fromQueue(queue), Message.isResponse)
          }))
      ),
    "interrupts a request of revision 2026-07-28 or later when its stream is closed"
  ],
  "has a server for each stream": [
    serverForEach,
    "lets a request of revision 2025-11-25 or earlier continue when its stream is closed, until a deadline or the end of the server"
  ],
  "has limits for each stream": [
    serverForEach,
    "applies the limits of the server to all requests together"
  ],
  "refuses an id that is in flight": [
    changed((serve) => {
      const ids = new Set<Message.RequestId>()
      return (text) => {
        const incoming = MessageText.parse(text)
        if (Message.isMalformed(incoming) || !Message.isRequest(incoming)) return serve(text)
        const { id } = incoming
        if (ids.has(id)) return Stream.make(failure(id))
        ids.add(id)
        return Stream.ensuring(serve(text), Effect.sync(() => ids.delete(id)))
      }
    }),
    "keeps two requests with the same id separate"
  ],
  "drops what is not a message": [
    changed((serve) => (text) => Message.isMalformed(MessageText.parse(text)) ? Stream.empty : serve(text)),
    "answers with one error to input that is not a message, and to a request that the server does not serve"
  ],
  "answers notifications": [
    changed((serve) => (text) => Stream.orElseIfEmpty(serve(text), () => failure())),
    "does not answer notifications or responses"
  ],
  "has a buffer without a bound": [
    changed((serve) => (text) => Stream.buffer(serve(text), { capacity: "unbounded" })),
    "suspends a handler until its notifications are read"
  ],
  "ends without an answer": [
    changed((serve) => (text) => Stream.filter(serve(text), (one) => !isFailure(one))),
    "answers each running request with one error when the server closes"
  ]
}

describe("ServeLaws", () => {
  const live = ServeLaws.laws.map((law): typeof law => ({
    name: law.name,
    check: (make) => Effect.provide(law.check(make), TestContext.TestContext)
  }))

  for (const [fault, [entrance, law]] of Object.entries(faults)) {
    it.live(`find one that ${fault}`, () =>
      Effect.map(
        brokenBy(live.filter(({ name }) => name === law), Effect.succeed(entrance)),
        (names) => assert.deepStrictEqual(names, [law])
      ))
  }
})
