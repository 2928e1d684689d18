/**
 * Connects clients of revision 2026-07-28 with an upstream of revision 2025-11-25 or earlier, when the upstream asks a question in the
 * middle of a call. Such an upstream waits for the answer. But such a client gets the question as the result of its request, and sends the
 * answer with a new request. So this module runs each call on its own fiber, and keeps the call between two requests of the client. A new
 * request brings answers for the call. Then it waits for the result of the call, or for more questions. The result with questions contains
 * an encrypted state with the id of the call, and the client sends this state back. There is a limit for the number of kept calls, and for
 * the time.
 *
 * A kept call is only in the memory of one process. When the client's next request reaches another process, the request fails, and the
 * client must begin the call again. `Forward` runs the calls, and `Proxy` makes one `WaitingCalls`.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidParams, type McpError } from "@effect-mcp/core/protocol/McpError"
import type { AskError, PassedRound, ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { Running } from "../upstream/Link.js"
import * as UpstreamError from "../upstream/UpstreamError.js"
import type { Ask, Question } from "../upstream/UpstreamQuestions.js"

export interface WaitingCalls {
  /**
   * Serves one request of a client. When `id` is `undefined`, this function runs a new call. Otherwise it continues the kept call with this
   * id. `call` always gets the session of the client's latest request.
   */
  readonly serve: (
    session: ServerSessionService,
    round: PassedRound,
    id: string | undefined,
    call: (running: Running) => Effect.Effect<JsonObject, McpError>
  ) => Effect.Effect<JsonObject, McpError>
}

interface Options {
  readonly name: string
  readonly max: number
  readonly ttl: Duration.DurationInput
}

interface Asked {
  readonly question: Question
  readonly answer: Deferred.Deferred<JsonObject, AskError>
}

interface Call {
  readonly id: string
  /** The session of the client's latest request. `serve` writes it. */
  session: ServerSessionService
  /**
   * The questions that wait for an answer, by their keys. `asking` adds a question. The question is removed when the client answers, or
   * when the upstream cancels the question.
   */
  readonly asked: Map<string, Asked>
  /** Open while there is a question that this module has not yet sent to the client. */
  readonly isAsking: EffectInternals.Latch
  readonly fiber: Fiber.RuntimeFiber<JsonObject, McpError>
}

/** A call between two requests of its client. The fiber `expiry` ends the call when the next request does not come within `ttl`. */
interface Kept {
  readonly call: Call
  readonly expiry: Fiber.RuntimeFiber<void>
}

interface Self extends Options {
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  /** The kept calls, by their ids. `keep` adds a call; `take` and the expiry of the call remove it. */
  readonly kept: Map<string, Kept>
}

export const make = (options: Options): Effect.Effect<WaitingCalls, never, Scope.Scope> =>
  Effect.map(FiberSet.makeRuntime<never, any, any>(), (fork) => {
    const self: Self = { ...options, fork: fork as Self["fork"], kept: new Map() }
    return {
      serve: (session, round, id, run) =>
        Effect.uninterruptibleMask((restore) => serve(self, session, round, id, run, restore))
    }
  })

const serve = Effect.fnUntraced(function*(
  self: Self,
  session: ServerSessionService,
  round: PassedRound,
  id: string | undefined,
  run: (running: Running) => Effect.Effect<JsonObject, McpError>,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
) {
  const call = id === undefined ? begin(self, session, run) : yield* take(self, id)
  call.session = session
  for (const [key, response] of Object.entries(round.responses ?? {})) {
    const answer = call.asked.get(key)?.answer
    if (answer !== undefined) {
      call.asked.delete(key)
      yield* Deferred.succeed(answer, response as JsonObject)
    }
  }
  if (call.asked.size > 0) yield* call.isAsking.open
  return yield* Effect.onInterrupt(
    restore(next(self, call, round)),
    // A kept call still waits for the client's answer, so it must not end. When the call is not kept, the client has cancelled the call.
    () => self.kept.has(call.id) ? Effect.void : Fiber.interruptFork(call.fiber)
  )
})

const begin = (
  { fork }: Self,
  session: ServerSessionService,
  run: (running: Running) => Effect.Effect<JsonObject, McpError>
): Call => {
  const asked = new Map<string, Asked>()
  const isAsking = EffectInternals.latch()
  const running: Running = { session: () => call.session, ask: asking(asked, isAsking) }
  const call: Call = {
    id: crypto.randomUUID(),
    session,
    asked,
    isAsking,
    // The fiber begins one step later, because `running` uses `call`, which has no value yet.
    fiber: fork(Effect.zipRight(Effect.yieldNow(), Effect.suspend(() => run(running))))
  }
  return call
}

/** Adds each question of the upstream to `asked`, and waits for the answer. */
const asking = (asked: Map<string, Asked>, isAsking: EffectInternals.Latch): Ask => {
  let count = 0
  return (question) =>
    Effect.suspend(() => {
      const key = `question-${++count}`
      const answer = EffectInternals.deferred<JsonObject, AskError>()
      asked.set(key, { question, answer })
      // Removes the question even if the upstream cancels the question.
      return Effect.ensuring(
        Effect.zipRight(isAsking.open, Deferred.await(answer)),
        Effect.sync(() => asked.delete(key))
      )
    })
}

/** Waits for the result of the call, or ends the request with the questions of the upstream. */
const next = (self: Self, call: Call, round: PassedRound): Effect.Effect<JsonObject, McpError> =>
  Effect.flatMap(
    raceFirst(
      Effect.asSome(Fiber.join(call.fiber)),
      // With `yieldNow`, questions that come at the same time go to the client together.
      Effect.zipRight(Effect.zipRight(call.isAsking.await, Effect.yieldNow()), Effect.succeedNone)
    ),
    (result) => {
      if (result._tag === "Some") return Effect.succeed(result.value)
      EffectInternals.close(call.isAsking)
      return call.asked.size === 0 ? next(self, call, round) : pass(self, call, round)
    }
  )

/**
 * Keeps the call, and ends the client's request with the questions. When this is not possible, the upstream gets an error as the answer to
 * the questions, and the call continues.
 */
const pass = (self: Self, call: Call, round: PassedRound): Effect.Effect<JsonObject, McpError> => {
  const refuse = (error: AskError) =>
    Effect.zipRight(
      Effect.forEach([...call.asked.values()], ({ answer }) => Deferred.fail(answer, error), { discard: true }),
      next(self, call, round)
    )
  if (!keep(self, call)) {
    return refuse(
      UpstreamError.of(self.name, `already has ${self.max} calls that wait for answers of clients; try again later`)
    )
  }
  const questions = Object.fromEntries([...call.asked].map(([key, { question }]) => [key, question]))
  return Effect.catchAll(
    round.pass(questions, JSON.stringify({ call: call.id })),
    (error) => Effect.zipRight(take(self, call.id), refuse(error))
  )
}

/** Keeps a call. Returns `false` when `max` calls are already kept. */
const keep = ({ fork, kept, max, ttl }: Self, call: Call): boolean => {
  if (kept.size >= max) return false
  const expiry = fork(Effect.zipRight(
    Effect.sleep(ttl),
    Effect.suspend(() => {
      kept.delete(call.id)
      return Effect.asVoid(Fiber.interruptFork(call.fiber))
    })
  ))
  kept.set(call.id, { call, expiry })
  return true
}

const take = ({ kept }: Self, id: string): Effect.Effect<Call, McpError> =>
  Effect.suspend(() => {
    const found = kept.get(id)
    if (found === undefined) {
      return Effect.fail(
        new InvalidParams({
          message:
            "Invalid params: the call of this requestState has ended, or runs in another process; call again without requestState"
        })
      )
    }
    kept.delete(id)
    return Effect.as(Fiber.interruptFork(found.expiry), found.call)
  })
