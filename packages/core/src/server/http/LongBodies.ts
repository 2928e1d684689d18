/**
 * Decides when a long body is read as a message, for the stage `body` of `dispatch/Stages`. Parsing and checking a text of megabytes, and
 * calling a handler with it, takes the event loop tens of milliseconds. In this time no other client is answered, and no node renews its
 * lease. So the long bodies of an endpoint are read one after another, with a turn of the event loop between them, and the users take
 * turns. A short body does not wait.
 *
 * `waiting` has the waiting bodies of each user; the first user in it is the next, and each user in it has at least one body. `held` is the
 * number of characters of all waiting bodies. `left` says how many characters may still be read in this turn of the event loop. `isDue` is
 * true while a callback for the next turn is registered.
 */
import type { Admission } from "./HttpExchange.js"

/** A body of at most so many characters is short. */
const SHORT = 16 * 1024

/** How many characters are read in one turn of the event loop. The last body of a turn may go beyond this number. */
const TURN = 256 * 1024

export interface Waiting {
  readonly size: number
  /** Reads the body. */
  readonly read: () => void
  /** Refuses the request: too many long bodies wait. */
  readonly refuse: () => void
}

/** The user of a body. All clients that the endpoint does not know count as one user. */
type User = NonNullable<Admission["principal"]>["id"] | undefined

export class LongBodies {
  private readonly waiting = new Map<User, Array<Waiting>>()
  private held = 0
  private left = TURN
  private isDue = false

  constructor(
    /** How many characters may wait. One user may have half of them. */
    private readonly max: number,
    /** Calls back in the next turn of the event loop. */
    private readonly onNextTurn: (run: () => void) => void
  ) {}

  /**
   * Reads a body now or in a later turn, or refuses it. For a body that waits, it gives a function that forgets the body; call it when the
   * client disconnects.
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
      // The next user goes first.
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
