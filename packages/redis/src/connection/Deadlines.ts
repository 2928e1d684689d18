/**
 * The deadlines of the commands that Redis has not answered: one fiber waits for all of them, because a timeout of its own costs
 * each command more than the command itself.
 *
 * `pending` holds the commands that are neither answered, interrupted nor late, and each is called at most once.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface Deadline {
  /** In milliseconds. */
  readonly until: number
  /** Called when the time is over. */
  readonly late: () => void
}

export class Deadlines {
  private readonly pending = new Set<Deadline>()

  constructor(
    private readonly clock: Clock.Clock,
    /** The shortest time that a command gets, in milliseconds. */
    private readonly shortest: number
  ) {}

  begin(timeout: number, late: () => void): Deadline {
    const deadline = { until: this.now() + timeout, late }
    this.pending.add(deadline)
    return deadline
  }

  /** The command is over; `false` when it was over before. */
  end(deadline: Deadline): boolean {
    return this.pending.delete(deadline)
  }

  /** Calls what is late, for ever. No command that begins while this sleeps is late before it wakes. */
  readonly run: Effect.Effect<never> = Effect.forever(Effect.suspend(() => {
    const now = this.now()
    let next = now + this.shortest
    for (const deadline of this.pending) {
      if (deadline.until > now) next = Math.min(next, deadline.until)
      else if (this.pending.delete(deadline)) deadline.late()
    }
    return Effect.sleep(next - now)
  }))

  /** On a clock that does not jump, in milliseconds. */
  private now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1_000_000
  }
}
