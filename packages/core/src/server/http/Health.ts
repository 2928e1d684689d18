/**
 * Answers health checks ("probes") of supervisors and load balancers. A probe asks whether the process is alive, or whether the process is
 * ready for requests. `dispatch/Endpoint` calls `make`, and `dispatch/Stages` gives every GET and HEAD to this module first. An answer
 * contains a status and one word, and reveals nothing else about the server.
 *
 * Probes that arrive while a check runs get the result of this check. For the time `maxAge`, this module reuses the last result. So a large
 * number of probes does not make a check run more often, and a check never runs twice at the same time.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Deadlines } from "../../kit/Deadlines.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Readiness from "../Readiness.js"
import type { HttpExchange } from "./HttpExchange.js"

export interface Health {
  /** Answers a probe, before or after this function returns. Gives `false`, and does nothing, when the request is not a probe. */
  readonly answers: (exchange: Probed) => boolean
  /**
   * From now on the process is not ready. Waits for the time `grace`, in which load balancers notice this. You may run this effect several
   * times.
   */
  readonly drain: Effect.Effect<void>
}

/** The members of a request that this module needs to answer a probe. */
type Probed = Pick<HttpExchange, "method" | "path" | "reply">

/** The option `health` of `WebHandler`. */
export interface Given {
  readonly health?: boolean | {
    readonly maxLag?: Duration.DurationInput | undefined
    readonly timeout?: Duration.DurationInput | undefined
    readonly maxAge?: Duration.DurationInput | undefined
    readonly grace?: Duration.DurationInput | undefined
  } | undefined
}

interface Self {
  readonly sweeper: Pick<Deadlines, "now">
  /** Runs a check on a fiber. After the scope has closed, it runs nothing. */
  readonly run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  /** The greatest delay of the event loop, in milliseconds. */
  readonly maxLag: number
  /** The checks that layers of the application have added. Each check gives `undefined`, or the reason why the check does not pass. */
  readonly checks: ReadonlyArray<Effect.Effect<string | undefined>>
  /** Whether `drain` has begun. `drain` writes this field. */
  isDraining: boolean
  /** Whether the checks passed in their last run. `isReady` writes this field. */
  wasReady: boolean
}

/** The state of one of the two paths, "/livez" and "/readyz". */
interface Probe {
  readonly check: Effect.Effect<boolean>
  /** How long this module reuses a result, in milliseconds. */
  readonly maxAge: number
  /** Whether a positive answer is possible. If this function gives `false`, the answer is negative, whatever the result of the check is. */
  readonly mayPass: () => boolean
  /** The requests that the running check will answer. `receive` adds requests, `answerAll` removes them. */
  readonly waiting: Array<Probed>
  /** The last result, and the time until which this module reuses the result. `checked` writes both fields. */
  last: boolean
  until: number
}

/**
 * Makes the health checks of an endpoint; `undefined` when the option `health` is off. `isServing` says whether the endpoint itself can
 * serve now.
 */
export const make = (
  { health }: Given,
  sweeper: Pick<Deadlines, "now">,
  isServing: () => boolean
): Effect.Effect<Health | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    if (health === undefined || health === false) return undefined
    const { grace = 0, maxAge = "1 second", maxLag = "1 second", timeout = "1 second" } = health === true ? {} : health
    const self: Self = {
      sweeper,
      run: yield* FiberSet.makeRuntime<never, void, never>(),
      maxLag: Duration.toMillis(maxLag),
      checks: (yield* Readiness.current).map((check) => attempt(check, timeout)),
      isDraining: false,
      wasReady: true
    }
    const probes = new Map([
      ["/livez", probeOf(isPrompt(self), 0, () => true)],
      ["/readyz", probeOf(isReady(self), Duration.toMillis(maxAge), () => !self.isDraining && isServing())]
    ])
    return {
      answers: (exchange) => {
        const found = probes.get(exchange.path)
        if (found !== undefined) receive(self, found, exchange)
        return found !== undefined
      },
      drain: yield* Effect.cached(drain(self, grace))
    }
  })

const drain = (self: Self, grace: Duration.DurationInput): Effect.Effect<void> =>
  Effect.suspend(() => {
    self.isDraining = true
    return Duration.toMillis(grace) > 0 ? Effect.sleep(grace) : Effect.void
  })

/** Checks whether the event loop is not blocked. */
const isPrompt = ({ maxLag, sweeper }: Self): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const began = sweeper.now()
    return Effect.map(Effect.sleep(TICK), () => sweeper.now() - began - TICK <= maxLag)
  })

/** Runs all checks of layers. Gives `true` when all pass. Logs each change of this result. */
const isReady = (self: Self): Effect.Effect<boolean> =>
  self.checks.length === 0
    ? Effect.succeed(true)
    : Effect.flatMap(Effect.all(self.checks, { concurrency: "unbounded" }), (problems) => {
      const found = problems.filter((problem) => problem !== undefined)
      const isReady = found.length === 0
      if (isReady === self.wasReady) return Effect.succeed(isReady)
      self.wasReady = isReady
      return Effect.as(isReady ? Effect.logInfo("This process is ready again") : Effect.logWarning(...found), isReady)
    })

const probeOf = (check: Effect.Effect<boolean>, maxAge: number, mayPass: () => boolean): Probe => ({
  check,
  maxAge,
  mayPass,
  waiting: [],
  last: false,
  until: -Infinity
})

/**
 * Answers a probe with the last result. When the last result is too old, the probe waits for a run of the check, which may already have
 * begun.
 */
const receive = (self: Self, probe: Probe, exchange: Probed): void => {
  const { mayPass, until, waiting } = probe
  if (!mayPass() || self.sweeper.now() < until) return answer(probe, exchange)
  waiting.push(exchange)
  if (waiting.length > 1) return
  const fiber = self.run(Effect.interruptible(checked(self, probe)))
  // After the scope has closed, `run` runs nothing.
  if (EffectInternals.exitOf(fiber) !== undefined) answerAll(probe)
}

const checked = ({ sweeper }: Self, probe: Probe): Effect.Effect<void> =>
  Effect.ensuring(
    Effect.map(probe.check, (passes) => {
      probe.last = passes
      probe.until = sweeper.now() + probe.maxAge
    }),
    Effect.sync(() => answerAll(probe))
  )

const answerAll = (probe: Probe): void => probe.waiting.splice(0).forEach((exchange) => answer(probe, exchange))

const answer = ({ last, mayPass }: Probe, exchange: Probed): void => {
  const [status, text] = last && mayPass() ? [200, "ok"] as const : [503, "unavailable"] as const
  exchange.reply(status, HEADERS, exchange.method === "HEAD" ? "" : text)
}

/** The time of the timer that measures the delay of the event loop, in milliseconds. */
const TICK = 1

const HEADERS = { "content-type": "text/plain", "cache-control": "no-store" } as const

/**
 * Runs a check. Gives the reason why the check does not pass; `undefined` when it passes. While an uninterruptible check still runs, this
 * function does not start the check again.
 */
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
