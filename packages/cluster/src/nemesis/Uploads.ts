/**
 * Clients that send much data at once: calls of one session with large bodies to all nodes, and requests with a wrong token. `checks/Data`
 * checks the entries that these clients have written.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { now, type Outcome } from "./History.js"
import * as Http from "./Http.js"
import * as LegacyClient from "./LegacyClient.js"
import * as Message from "./Message.js"
import { CALL_LIMIT, Run } from "./Run.js"

/**
 * How many requests are sent at once. The next constant is the number of characters of each request. The numbers are not larger, because
 * the same process also passes the data between the nodes and their store.
 */
const COUNT = 16
const PADDING = "x".repeat(2_000_000)

const VERSION = "2025-11-25"

let uploaders = 0

const bodyOf = (id: number, nonce: string) =>
  Message.request(id, "tools/call", {
    name: "work",
    arguments: { nonce, steps: 0, millis: 0, padding: PADDING }
  })

const opened = (client: string) =>
  Effect.tap(
    LegacyClient.open(client, VERSION),
    ({ session }) => Effect.map(Run, ({ write }) => write({ _tag: "Unread", at: now(), session }))
  )

/** Sends calls with large bodies, each call once. */
export const bulk: Effect.Effect<void, never, Run> = Effect.gen(function*() {
  const { balancer, write } = yield* Run
  const client = `c${100 + ++uploaders}`
  const { headers, session } = yield* opened(client)
  const call = (id: number) =>
    Effect.gen(function*() {
      const about = { client, call: `${client}/${id}`, session }
      write({ _tag: "Called", at: now(), ...about })
      const outcome = yield* Effect.scoped(Effect.gen(function*() {
        const response = yield* balancer.send({ method: "POST", headers, body: bodyOf(id, about.call) })
        const status = response.statusCode!
        if (status >= 400) return { type: "refused", status } satisfies Outcome
        if (!Http.isEventStream(response)) return Message.outcomeOf(Message.parse(yield* Http.text(response)))
        const messages = Stream.map(Http.events(response), ({ data }) => Message.parse(data))
        const answer = yield* Stream.runHead(Stream.filter(messages, Message.isResponse))
        return Option.match(answer, { onNone: (): Outcome => ({ type: "broken" }), onSome: Message.outcomeOf })
      })).pipe(
        Effect.orElseSucceed((): Outcome => ({ type: "broken" })),
        Effect.timeoutOption(CALL_LIMIT)
      )
      if (Option.isSome(outcome)) write({ _tag: "Ended", at: now(), ...about, outcome: outcome.value })
    })
  yield* Effect.forEach(Array.from({ length: COUNT }, (_, n) => n + 1), call, {
    concurrency: "unbounded",
    discard: true
  })
})

/** Sends requests with the same large bodies, but with a wrong token. */
export const flood: Effect.Effect<void, never, Run> = Effect.gen(function*() {
  const { balancer, write } = yield* Run
  const { headers } = yield* opened(`c${100 + ++uploaders}`)
  const request = {
    method: "POST",
    headers: { ...headers, authorization: "Bearer none" },
    body: bodyOf(1, "flood")
  } as const
  const send = Effect.scoped(
    Effect.flatMap(
      balancer.send(request),
      ({ statusCode }) => Effect.sync(() => write({ _tag: "Flooded", at: now(), status: statusCode! }))
    )
  )
  yield* Effect.all(Array.from({ length: COUNT }, () => Effect.ignore(Effect.timeout(send, CALL_LIMIT))), {
    concurrency: "unbounded",
    discard: true
  })
})
