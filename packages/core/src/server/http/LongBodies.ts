/**
 * Decides when the endpoint parses a long body, for the stage `body` of `dispatch/Stages`. Parsing and checking a text of megabytes blocks
 * the event loop for tens of milliseconds. During this time the process answers no other client. A node of a server with several nodes also
 * cannot renew its lease. So the endpoint parses long bodies one after another, with a turn of the event loop between them, and alternates
 * between the users. A short body does not wait.
 *
 * Mutable fields: `waiting` contains the waiting bodies of each user, and only users with a waiting body. The first user in `waiting` is
 * the next. `held` is the number of characters of all waiting bodies. `left` says how many characters this module may still give to the
 * parser in this turn of the event loop. `isDue` is true while a callback for the next turn is registered.
 */
import type { Admission } from "./HttpExchange.js"

/** The greatest length of a short body, in characters. */
const SHORT = 16 * 1024

/** How many characters the endpoint parses in one turn of the event loop. The last body of a turn may exceed this number. */
const TURN = 256 * 1024

export interface Waiting {
  readonly size: number
  /** Parses the body. */
  readonly read: () => void
  /** Refuses the request: too many long bodies wait. */
  readonly refuse: () => void
}

/** The user of a body. All clients without a user count as one user. */
type User = NonNullable<Admission["principal"]>["id"] | undefined

export class LongBodies {
  private readonly waiting = new Map<User, Array<Waiting>>()
  private held = 0
  private left = TURN
  private isDue = false

  constructor(
    /** The greatest number of characters of all waiting bodies. The waiting bodies of one user may have half of this number. */
    private readonly max: number,
    /** Calls back in the next turn of the event loop. */
    private readonly onNextTurn: (run: () => void) => void
  ) {}

  /**
   * Parses a body now or in a later turn, or refuses the body. For a body that waits, returns a function that removes the body: call it
   * when the client disconnects.
   */
  add(user: User, one: Waiting): (() => void) | undefined {
    if (one.size <= SHORT) one.read()
    else if (this.left > 0 && this.waiting.size === 0) this.run(one)
    else if (this.held + one.size > this.max || this.heldBy(user) + one.size > this.max / 2) one.refuse()
    else {
      const own = this.waiting.get(user) ?? []
      own.push(one)
      this.waiting.set(user, own)
      this.held += one.size
      return () => this.forget(user, one)
    }
    return undefined
  }

  private run(one: Waiting): void {
    this.left -= one.size
    if (!this.isDue) {
      this.isDue = true
      this.onNextTurn(this.turn)
    }
    one.read()
  }

  private readonly turn = (): void => {
    this.isDue = false
    this.left = TURN
    while (this.left > 0) {
      const [user, [one] = []] = this.waiting.entries().next().value ?? []
      if (one === undefined) return
      this.forget(user, one)
      const rest = this.waiting.get(user)
      // The user moves to the end, so the next user is first.
      if (rest !== undefined && this.waiting.delete(user)) this.waiting.set(user, rest)
      this.run(one)
    }
  }

  private forget(user: User, one: Waiting): void {
    const own = this.waiting.get(user)
    if (own === undefined || !own.includes(one)) return
    this.held -= one.size
    if (own.length === 1) this.waiting.delete(user)
    else this.waiting.set(user, own.filter((other) => other !== one))
  }

  private heldBy(user: User): number {
    return (this.waiting.get(user) ?? []).reduce((sum, { size }) => sum + size, 0)
  }
}
