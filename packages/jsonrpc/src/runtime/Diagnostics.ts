/**
 * Reports the diagnostics of one conversation to the application, each on a fiber of its own, so that a slow or broken
 * callback cannot stop the reader. The number of reports in progress is bounded; further diagnostics are dropped.
 *
 * A class with a mutable field, because diagnostics arise in the observers of fibers, where no Effect can run. The
 * field holds exactly the reports that have not ended; the first report allocates it.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type { Diagnostic } from "../Diagnostic.js"

/** How many reports may be in progress at once. */
export const MAX_REPORTS = 64

export class Diagnostics {
  private inProgress: Set<Fiber.RuntimeFiber<void>> | undefined

  constructor(
    private readonly runtime: Runtime.Runtime<never>,
    private readonly onDiagnostic: (diagnostic: Diagnostic) => Effect.Effect<void>
  ) {}

  get isIdle(): boolean {
    return this.inProgress === undefined || this.inProgress.size === 0
  }

  report(diagnostic: Diagnostic): void {
    const inProgress = this.inProgress ??= new Set()
    if (inProgress.size >= MAX_REPORTS) return
    const fiber = Runtime.runFork(this.runtime, Effect.suspend(() => this.onDiagnostic(diagnostic)))
    if (fiber.unsafePoll() !== null) return
    inProgress.add(fiber)
    fiber.addObserver(() => inProgress.delete(fiber))
  }

  /** Waits for the reports in progress, for as long as `limit` allows; then interrupts those that are left. */
  drain(limit: (effect: Effect.Effect<unknown>) => Effect.Effect<unknown>): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      if (this.isIdle) return Effect.void
      const reports = [...this.inProgress!]
      return Effect.zipRight(
        limit(Fiber.awaitAll(reports)),
        Effect.sync(() => reports.forEach((report) => report.unsafeInterruptAsFork(report.id())))
      )
    })
  }
}
