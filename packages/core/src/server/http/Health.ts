/**
 * Answers the probes of a supervisor and of a load balancer: whether the process lives, and whether it is ready for requests.
 * `dispatch/Endpoint` calls `make`, and `dispatch/Stages` passes every GET and HEAD here first. An answer has a status and one word,
 * nothing about the server.
 *
 * Requests that arrive while a check runs get the answer of this check, and the last answer is used again for a while. So no number of
 * requests runs a check more often, or twice at a time.
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
  /** Answers a probe, at once or later; `false` when the request is none. */
  readonly answers: (exchange: Probed) => boolean
  /** From now on the process is not ready. Waits until load balancers have had the time to notice; can be run again. */
  readonly drain: Effect.Effect<void>
}

/** What a probe needs of its request. */
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
  /** Runs a check; after the scope has closed, nothing runs. */
  readonly run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  /** Milliseconds by which the event loop may be late. */
  readonly maxLag: number
  /** The checks of the layers of this process. */
  readonly checks: ReadonlyArray<Effect.Effect<string | undefined>>
  /** Whether `drain` has begun; `drain` writes it. */
  isDraining: boolean
  /** What the checks have said last; `isReady` writes it. */
  wasReady: boolean
}

/** What one of the paths answers. */
interface Probe {
  readonly check: Effect.Effect<boolean>
  /** How long an answer is used again, in milliseconds. */
  readonly maxAge: number
  /** Whether the check may pass now. */
  readonly mayPass: () => boolean
  /** The requests that the run answers; `receive` adds requests, `answerAll` takes them. */
  readonly waiting: Array<Probed>
  /** The last answer, and until when it is used again; `checked` writes both. */
  last: boolean
  until: number
}

/** `isServing` says whether the endpoint can serve now, apart from the checks of layers. */
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

/** Whether the event loop turns soon enough. */
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

/** Answers a request with the last answer, or with the answer of a run of the check; the check may run already. */
const receive = (self: Self, probe: Probe, exchange: Probed): void => {
  const { mayPass, until, waiting } = probe
  if (!mayPass() || self.sweeper.now() < until) return answer(probe, exchange)
  waiting.push(exchange)
  if (waiting.length > 1) return
  const fiber = self.run(Effect.interruptible(checked(self, probe)))
  // After the scope has closed, nothing runs.
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
