/**
 * Answers the questions of supervisors and load balancers: whether the process is alive, and whether it is ready for requests. Such a
 * request is a probe. `dispatch/Endpoint` calls `make`, and `dispatch/Stages` gives every GET and HEAD to this module first. An answer has
 * a status and one word, and tells nothing else of the server.
 *
 * Requests that arrive while a check runs get the answer of this check, and the last answer is used again for a while. So no number of
 * requests makes a check run more often, or twice at the same time.
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
  /** Answers a probe, before it returns or later. Gives `false`, and does nothing, when the request is not a probe. */
  readonly answers: (exchange: Probed) => boolean
  /** From now on the process is not ready. Waits for the time `grace`, in which load balancers notice this. Can be run again. */
  readonly drain: Effect.Effect<void>
}

/** The members of a request that answering a probe needs. */
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
  /** By how many milliseconds the event loop may be late. */
  readonly maxLag: number
  /** The checks that the layers of this process have added. Each gives `undefined`, or the reason why it does not pass. */
  readonly checks: ReadonlyArray<Effect.Effect<string | undefined>>
  /** Whether `drain` has begun; `drain` writes it. */
  isDraining: boolean
  /** Whether the checks passed when they ran last; `isReady` writes it. */
  wasReady: boolean
}

/** The state of one of the two paths. */
interface Probe {
  readonly check: Effect.Effect<boolean>
  /** How long an answer is used again, in milliseconds. */
  readonly maxAge: number
  /** Whether the process may answer yes at all, whatever the check says. */
  readonly mayPass: () => boolean
  /** The requests that the running check will answer. `receive` adds requests, `answerAll` removes them. */
  readonly waiting: Array<Probed>
  /** The last answer, and the time until which it is used again. `checked` writes both. */
  last: boolean
  until: number
}

/**
 * `isServing` says whether the endpoint can serve now, without regard to the checks of layers. Gives `undefined` when the option `health`
 * is off.
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

/** Whether the event loop turns in time. */
const isPrompt = ({ maxLag, sweeper }: Self): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const began = sweeper.now()
    return Effect.map(Effect.sleep(TICK), () => sweeper.now() - began - TICK <= maxLag)
  })

/** Whether all checks of layers pass. Logs each change. */
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

/** Answers a request with the last answer. If that is too old, a run of the check answers the request; this run may have begun already. */
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

/** The length of the timer that measures how late the event loop is, in milliseconds. */
const TICK = 1

const HEADERS = { "content-type": "text/plain", "cache-control": "no-store" } as const

/**
 * Why a check does not pass; `undefined` when it passes. A check that cannot be interrupted, and still runs, does not begin a second time.
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
