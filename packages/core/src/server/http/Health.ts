/**
 * Answers the probes of a supervisor and of a load balancer: whether the process lives, and whether it is ready for requests.
 * `dispatch/Endpoint` passes every GET and HEAD here first. An answer has a status and one word, nothing about the server.
 *
 * Fields of a probe: `waiting` has the requests that one run answers together; `until` is how long the last answer is used
 * again. So no number of probes runs a check more often, or twice at a time.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Deadlines } from "../../kit/Deadlines.js"
import * as Edition from "../../kit/Edition.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Readiness from "../Readiness.js"
import type { HttpExchange } from "./HttpExchange.js"

export interface Health {
  /** Answers a probe, at once or later; `false` when the request is none. */
  readonly answers: (exchange: HttpExchange) => boolean
  /** From now on the process is not ready. Waits until load balancers have had the time to notice; can be run again. */
  readonly drain: Effect.Effect<void>
}

/** The option `health` of `WebHandler`. */
export interface Given {
  readonly health?: boolean | {
    readonly maxLag?: Duration.DurationInput | undefined
    readonly timeout?: Duration.DurationInput | undefined
    readonly maxAge?: Duration.DurationInput | undefined
    readonly grace?: Duration.DurationInput | undefined
  } | undefined
}

/** `isServing` says whether the endpoint can serve now, apart from the checks of layers. */
export const make = (
  { health }: Given,
  sweeper: Pick<Deadlines, "now">,
  isServing: () => boolean
): Effect.Effect<Health | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (health === undefined || health === false) return undefined
    const options = health === true ? {} : health
    const { grace = 0, maxAge = "1 second" } = options
    const [maxLag, timeout] = [options.maxLag ?? "1 second", options.timeout ?? "1 second"]
    const run = yield* FiberSet.makeRuntime<never>()
    const checks = (yield* Readiness.current).map((check) => attempt(check, timeout))
    let isDraining = false
    let wasReady = true

    const turn = Effect.suspend(() => {
      const began = sweeper.now()
      return Effect.map(Effect.sleep(TICK), () => sweeper.now() - began - TICK <= Duration.toMillis(maxLag))
    })
    const reached = Effect.flatMap(Effect.all(checks, { concurrency: "unbounded" }), (problems) => {
      const found = problems.filter((problem) => problem !== undefined)
      const isReady = found.length === 0
      if (isReady === wasReady) return Effect.succeed(isReady)
      wasReady = isReady
      return Effect.as(isReady ? Effect.logInfo("This process is ready again") : Effect.logWarning(...found), isReady)
    })
    const live = probe(turn, 0, () => true)
    const ready = probe(
      checks.length === 0 ? Effect.succeed(true) : reached,
      Duration.toMillis(maxAge),
      () => !isDraining && isServing()
    )
    const probes = new Map([["/livez", live], ["/readyz", ready]])

    function probe(
      check: Effect.Effect<boolean>,
      maxAge: number,
      mayPass: () => boolean
    ): (exchange: HttpExchange) => void {
      const waiting: Array<HttpExchange> = []
      let [last, until] = [false, -Infinity]
      const answer = (exchange: HttpExchange) => {
        const [status, text] = last && mayPass() ? [200, "ok"] as const : [503, "unavailable"] as const
        exchange.reply(status, HEADERS, exchange.method === "HEAD" ? "" : text)
      }
      const checked = Effect.ensuring(
        Effect.map(check, (passes) => {
          last = passes
          until = sweeper.now() + maxAge
        }),
        Effect.sync(() => waiting.splice(0).forEach(answer))
      )
      return (exchange) => {
        if (!mayPass() || sweeper.now() < until) return answer(exchange)
        waiting.push(exchange)
        if (waiting.length > 1) return
        const fiber = run(Effect.interruptible(checked))
        // After the scope has closed, nothing runs.
        if (Edition.exitOf(fiber) !== undefined) waiting.splice(0).forEach(answer)
      }
    }

    return {
      answers: (exchange) => {
        const found = probes.get(exchange.path)
        found?.(exchange)
        return found !== undefined
      },
      drain: yield* Effect.cached(Effect.suspend(() => {
        isDraining = true
        return Duration.toMillis(grace) > 0 ? Effect.sleep(grace) : Effect.void
      }))
    }
  })

/** Milliseconds of the timer that measures how late the event loop is. */
const TICK = 1

const HEADERS = { "content-type": "text/plain", "cache-control": "no-store" } as const

/** Why a check does not pass; `undefined` when it does. A check that cannot be interrupted does not begin a second time. */
const attempt = (
  { name, run }: Readiness.Check,
  timeout: Duration.DurationInput
): Effect.Effect<string | undefined> => {
  let isRunning = false
  const problem = (why: string) => `This process is not ready: ${name} ${why}`
  const late = problem(`has not answered within ${Duration.format(timeout)}`)
  return Effect.suspend(() => {
    if (isRunning) return Effect.succeed(late)
    isRunning = true
    return Effect.ensuring(run, Effect.sync(() => isRunning = false)).pipe(
      Effect.as(undefined),
      Effect.catchAllCause((cause) => Effect.succeed(problem(`has failed: ${Cause.pretty(cause)}`))),
      TimeLimit.end(timeout),
      Effect.map(Option.getOrElse(() => late))
    )
  })
}
