/**
 * Reports the diagnostics of one conversation (`Conversation`, `Requests`) to the application. Each report runs on a separate fiber, so
 * that a slow or broken callback cannot stop the reader. There is a limit for the reports that run at the same time, and for the reports
 * that begin in one turn of the event loop. Further diagnostics are counted, and reported as one `Dropped`. `attempt` calls functions that
 * may throw, for this module, `Calls` and `Direct`.
 *
 * `Diagnostics` is a class with mutable fields because diagnostics arise in the observers of fibers, where no Effect can run. `inProgress`
 * contains exactly the reports that have not ended, and is allocated with the first report. `recent` counts the reports of this turn.
 * `dropped` counts the diagnostics that were dropped since the last `Dropped`.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { Diagnostic } from "../Diagnostic.js"
import type * as Outcome from "../Outcome.js"

/** How many reports may run at the same time, and how many reports may begin in one turn of the event loop. */
export const MAX_REPORTS = 64

/** Makes the diagnostic of an outcome that hides a bug of this side (`died`) or breaks a rule (`flaw`). */
export const ofOutcome = (method: string, { died, flaw, subject }: Outcome.Outcome): Diagnostic => {
  const named = subject === undefined ? { method } : { method, subject }
  return died === undefined
    ? Diagnostic.FlawedAnswer({ ...named, reason: flaw! })
    : Diagnostic.HandlerDied({ ...named, cause: died })
}

export class Diagnostics {
  private inProgress: Set<Fiber.RuntimeFiber<void>> | undefined
  private recent = 0
  private dropped = 0

  constructor(
    private readonly runtime: EffectInternals.Services,
    private readonly onDiagnostic: (diagnostic: Diagnostic) => Effect.Effect<void>
  ) {}

  get isIdle(): boolean {
    return this.dropped === 0 && (this.inProgress === undefined || this.inProgress.size === 0)
  }

  report(diagnostic: Diagnostic): void {
    const inProgress = this.inProgress ??= new Set()
    if (this.recent >= MAX_REPORTS || inProgress.size >= MAX_REPORTS) {
      this.dropped++
      return
    }
    if (this.recent++ === 0) void Promise.resolve().then(this.endTurn)
    this.start(diagnostic, inProgress)
  }

  /** Waits for the running reports until `limit` ends the wait. Then interrupts the reports that still run. */
  drain(limit: (effect: Effect.Effect<unknown>) => Effect.Effect<unknown>): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      if (this.isIdle) return Effect.void
      const inProgress = this.inProgress!
      this.reportDropped(inProgress)
      const reports = [...inProgress]
      return Effect.zipRight(
        limit(Fiber.awaitAll(reports)),
        Effect.sync(() => reports.forEach((report) => EffectInternals.interrupt(report)))
      )
    })
  }

  private readonly endTurn = (): void => {
    this.recent = 0
    const inProgress = this.inProgress!
    if (inProgress.size < MAX_REPORTS) this.reportDropped(inProgress)
  }

  private reportDropped(inProgress: Set<Fiber.RuntimeFiber<void>>): void {
    const count = this.dropped
    if (count === 0) return
    this.dropped = 0
    this.start(Diagnostic.Dropped({ count }), inProgress)
  }

  private start(diagnostic: Diagnostic, inProgress: Set<Fiber.RuntimeFiber<void>>): void {
    const fiber = EffectInternals.runFork(this.runtime, Effect.suspend(() => this.onDiagnostic(diagnostic)))
    if (EffectInternals.exitOf(fiber) !== undefined) return
    inProgress.add(fiber)
    fiber.addObserver(() => {
      inProgress.delete(fiber)
      if (this.recent === 0) this.reportDropped(inProgress)
    })
  }
}

/**
 * Calls a function of the application outside of a fiber, such as in the read loop or in an observer of a fiber. An exception there would
 * end the process. When the function throws, `onThrow` receives the exception as a defect.
 */
export const attempt = <A>(run: () => A, onThrow: (defect: Cause.Cause<never>) => A): A => {
  try {
    return run()
  } catch (error) {
    return onThrow(Cause.die(error))
  }
}
