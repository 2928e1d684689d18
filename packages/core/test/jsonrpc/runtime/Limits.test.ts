/**
 * Everything in this package that lets a limited number run at a time keeps the law of a limit: semaphores, the places for
 * requests of a peer, and our own calls in flight.
 */
import { it } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Fiber, Runtime } from "effect"
import { describe } from "../../../../testing/test/support/WokenAtOnce.js"
import * as Semaphore from "../../../src/kit/Semaphore.js"
import { type Serve, side } from "../ScriptedPeer.js"
import * as LimitLaw from "./LimitLaw.js"

const semaphore = (max: number) =>
  Effect.sync((): LimitLaw.Limit => {
    const { run } = Semaphore.make(max)
    return { max, run: (work) => run(LimitLaw.inPlace(work)) }
  })

/** A semaphore with two places, for callers that wait for space. While `holds`, another effect keeps them from their turn for a while. */
const withSpace = (holds: boolean) =>
  Effect.gen(function*() {
    const { awaitSpace, hold, run } = Semaphore.make(2, 3)
    if (holds) yield* Effect.forkScoped(hold(Effect.repeatN(Effect.yieldNow(), 4)))
    return { max: 2, run: (work: LimitLaw.Work) => Effect.zipRight(awaitSpace, run(LimitLaw.inPlace(work))) }
  })

/** Two at a time of the requests that one conversation sends, and what the other side finds each to be. */
const requests = () => {
  const works: Array<LimitLaw.Work> = []
  return {
    of: (params: Message.Params | undefined) => works[params?.n as number]!,
    limit: ({ request }: Conversation.Conversation): LimitLaw.Limit => ({
      max: 2,
      run: (work) => Effect.suspend(() => request("work", { n: works.push(work) - 1 }))
    })
  }
}

/** A peer that runs two handlers at a time. */
const placesOfPeer = Effect.gen(function*() {
  const [here, there] = yield* Transport.memory()
  const { limit, of } = requests()
  const work: Serve = ({ params }) => Effect.as(LimitLaw.inPlace(of(params)), {})
  yield* Conversation.make(there, side({ work }), { maxInFlight: 2 })
  return limit(yield* Conversation.make(here, side({})))
})

/** Calls of which two may be in flight. A call has left its place when it is cancelled or answered. */
const callsInFlight = Effect.gen(function*() {
  const [here, there] = yield* Transport.memory()
  const { limit, of } = requests()
  const serving = new Map<unknown, () => void>()
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  yield* Effect.forkScoped(Transport.run(there, (incoming) => {
    if (incoming instanceof Transport.Undelivered || Message.isMalformed(incoming) || Message.isResponse(incoming)) {
      return
    }
    const { params } = incoming
    if (!Message.isRequest(incoming)) return serving.get(params?.requestId)?.()
    const { id } = incoming
    const work = of(params)
    work.begin()
    const end = () => {
      serving.delete(id)
      work.end()
    }
    // The work may end, or be cancelled, in its first steps.
    serving.set(id, end)
    const fiber = fork(Effect.map(work.wait, () => {
      if (!serving.has(id)) return
      end()
      there.unsafeSend(Message.success(id, {}))
    }))
    if (!serving.has(id)) return
    serving.set(id, () => {
      end()
      Effect.runFork(Fiber.interruptFork(fiber))
    })
  }))
  return limit(yield* Conversation.make(here, side({}), { maxPending: 2 }))
})

describe("A limit loses no place of many that are interrupted between any two of their steps:", () => {
  for (
    const [name, limit, runs] of [
      ["a semaphore with one permit", semaphore(1), 120],
      ["a semaphore with two permits", semaphore(2), 120],
      ["a semaphore with a capacity", withSpace(false), 120],
      ["a semaphore that is held for a while", withSpace(true), 120],
      ["the places for requests of a peer", placesOfPeer, 30],
      ["our calls in flight", callsInFlight, 30]
    ] as const
  ) {
    it.live(name, () => LimitLaw.check(limit, { runs }))
  }
})
