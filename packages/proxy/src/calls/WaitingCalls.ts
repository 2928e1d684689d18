/**
 * Keeps calls at an upstream up to 2025-11-25 whose client is of 2026-07-28. The upstream asks in the middle of a call and waits; the
 * client answers with another request. So a call runs on a fiber of its own. Each request of the client brings answers, and
 * waits for the result of the call or for more questions. Between two requests this module keeps the call, for a limited time and in
 * limited number; the sealed state that the client sends back has the id of the call.
 *
 * A call lives in this process: another instance of the server does not find the call, and the client has to call again. `Forward`
 * runs the calls.
 */
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InvalidParams, type McpError } from "@effect-mcp/core/protocol/McpError"
import type { AskError, PassedRound, ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as Edition from "@effect-mcp/core/unstable/kit/Edition"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { Running } from "../upstream/Link.js"
import type { Question } from "../upstream/Questions.js"
import * as UpstreamError from "../upstream/UpstreamError.js"

export interface WaitingCalls {
  /**
   * Runs a new call of the client, or goes on with the waiting call whose id is `kept`. `call` gets the session of the client's
   * latest request.
   */
  readonly serve: (
    session: ServerSessionService,
    round: PassedRound,
    kept: string | undefined,
    call: (running: Running) => Effect.Effect<JsonObject, McpError>
  ) => Effect.Effect<JsonObject, McpError>
}

interface Asked {
  readonly question: Question
  readonly answer: Deferred.Deferred<JsonObject, AskError>
}

interface Call {
  readonly id: string
  session: ServerSessionService
  /** The questions that wait for an answer, by their keys. */
  readonly asked: Map<string, Asked>
  /** Open while a question waits that was not sent to the client. */
  readonly isAsking: Effect.Latch
  readonly fiber: Fiber.RuntimeFiber<JsonObject, McpError>
}

export const make = (
  options: { readonly name: string; readonly max: number; readonly ttl: Duration.DurationInput }
): Effect.Effect<WaitingCalls, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { max, name, ttl } = options
    const fork = yield* FiberSet.makeRuntime<never, any, any>()
    const kept = new Map<string, { readonly call: Call; readonly expiry: Fiber.RuntimeFiber<void> }>()

    const begin = (
      session: ServerSessionService,
      run: (running: Running) => Effect.Effect<JsonObject, McpError>
    ): Call => {
      const asked = new Map<string, Asked>()
      const isAsking = Edition.latch()
      let count = 0
      const running: Running = {
        session: () => call.session,
        ask: (question) =>
          Effect.suspend(() => {
            const key = `question-${++count}`
            const answer = Edition.deferred<JsonObject, AskError>()
            asked.set(key, { question, answer })
            // The upstream may cancel its question.
            return Effect.ensuring(
              Effect.zipRight(isAsking.open, Deferred.await(answer)),
              Effect.sync(() => asked.delete(key))
            )
          })
      }
      const call: Call = {
        id: crypto.randomUUID(),
        session,
        asked,
        isAsking,
        // The fiber begins after this step, because `running` uses `call`, which has no value yet.
        fiber: fork(Effect.zipRight(Effect.yieldNow(), Effect.suspend(() => run(running))))
      }
      return call
    }

    const keep = (call: Call): boolean => {
      if (kept.size >= max) return false
      const expiry = fork(Effect.zipRight(
        Effect.sleep(ttl),
        Effect.suspend(() => {
          kept.delete(call.id)
          return Effect.asVoid(Fiber.interruptFork(call.fiber))
        })
      )) as Fiber.RuntimeFiber<void>
      kept.set(call.id, { call, expiry })
      return true
    }

    const take = (id: string): Effect.Effect<Call, McpError> =>
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

    /** Waits for the result, or ends the request with the questions of the upstream. */
    const next = (call: Call, round: PassedRound): Effect.Effect<JsonObject, McpError> =>
      Effect.flatMap(
        raceFirst(
          Effect.asSome(Fiber.join(call.fiber)),
          // Questions that come at the same time are sent together.
          Effect.zipRight(Effect.zipRight(call.isAsking.await, Effect.yieldNow()), Effect.succeedNone)
        ),
        (result) => {
          if (result._tag === "Some") return Effect.succeed(result.value)
          Edition.close(call.isAsking)
          if (call.asked.size === 0) return next(call, round)
          const refuse = (error: AskError) =>
            Effect.zipRight(
              Effect.forEach([...call.asked.values()], ({ answer }) => Deferred.fail(answer, error), { discard: true }),
              next(call, round)
            )
          if (!keep(call)) {
            return refuse(
              UpstreamError.of(name, `has ${max} calls already that wait for answers of clients; try again later`)
            )
          }
          const questions = Object.fromEntries([...call.asked].map(([key, { question }]) => [key, question]))
          return Effect.catchAll(
            round.pass(questions, JSON.stringify({ kept: call.id })),
            (error) => Effect.zipRight(take(call.id), refuse(error))
          )
        }
      )

    return {
      serve: (session, round, id, run) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            const call = id === undefined ? begin(session, run) : yield* take(id)
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
              restore(next(call, round)),
              // A call that is kept waits for the client's answer. Any other call was cancelled by the client.
              () => kept.has(call.id) ? Effect.void : Fiber.interruptFork(call.fiber)
            )
          })
        )
    }
  })
