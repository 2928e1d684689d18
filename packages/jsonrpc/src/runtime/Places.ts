/**
 * How many requests run at the same time, and which ones wait for a place, in order. `Requests` has places for the
 * requests of a conversation, and for those of each client where many clients share one.
 *
 * A class with mutable fields, because every request takes a place. `running` counts the places that are taken, `waiting`
 * holds what waits and `text` counts its characters. A request is in `waiting` or has a place, never both.
 */
import type * as Message from "../Message.js"

export interface Limits {
  readonly running: number
  /** How many may wait. */
  readonly waiting: number
  /** How many characters of JSON text may wait. */
  readonly text: number
}

interface Waiting {
  readonly message: Message.Request
  readonly text: number
}

export class Places<Request> {
  running = 0
  private text = 0
  private waiting: Map<Request, Waiting> | undefined

  constructor(
    readonly limits: Limits,
    /** The places of all clients together. A request that takes a place here takes one there, too. */
    private readonly all?: Places<Request>,
    /** Called when no place is taken any more, and none waits. */
    private readonly onEmpty?: () => void
  ) {}

  /** How many wait. */
  get size(): number {
    return this.waiting?.size ?? 0
  }

  get isFree(): boolean {
    return this.running < this.limits.running && (this.all === undefined || this.all.isFree)
  }

  /** Takes a place; `false` when none is free or an earlier request waits. */
  enter(): boolean {
    if (this.size > 0 || !this.isFree) return false
    this.take()
    return true
  }

  /** Gives a place back. */
  leave(): void {
    this.running--
    if (this.all !== undefined) this.all.running--
    this.settle()
  }

  /** Whether one more request of this length may wait. */
  canWait(text: number): boolean {
    return this.size < this.limits.waiting && this.text + text <= this.limits.text
  }

  wait(request: Request, message: Message.Request, text: number): void {
    this.text += text
    this.waiting ??= new Map()
    this.waiting.set(request, { message, text })
  }

  /** Ends the wait of a request, which gets no place. */
  drop(request: Request): void {
    this.remove(request)
    this.settle()
  }

  /** Gives the first that waits a place; `undefined` when none is free, or none waits. */
  next(): readonly [Request, Message.Request] | undefined {
    if (this.size === 0 || !this.isFree) return undefined
    const request = this.waiting!.keys().next().value!
    const { message } = this.remove(request)
    this.take()
    return [request, message]
  }

  /** Those that wait, in order. */
  requests(): ReadonlyArray<Request> {
    return this.waiting === undefined ? [] : [...this.waiting.keys()]
  }

  /** Calls `onEmpty` when it is so. */
  settle(): void {
    if (this.running === 0 && this.size === 0) this.onEmpty?.()
  }

  private remove(request: Request): Waiting {
    const waiting = this.waiting!.get(request)!
    this.text -= waiting.text
    this.waiting!.delete(request)
    return waiting
  }

  private take(): void {
    this.running++
    if (this.all !== undefined) this.all.running++
  }
}
