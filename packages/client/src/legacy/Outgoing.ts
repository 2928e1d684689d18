/**
 * Our messages on their way out: each has a POST of its own, and none waits for another, but for `initialized`, which what
 * follows it may not overtake. A request that is cancelled before it has left never leaves; of one that has, the answer is
 * read no longer.
 *
 * How a message is carried is the business of the road; there are two, and the one may take over from the other.
 *
 * @since 0.1.0
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import { closed, Undelivered } from "@effect-mcp/jsonrpc/Transport"
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { Slot } from "../http/Slots.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Road {
  /** Carries a request. What becomes of it is delivered, once. */
  readonly ask: (request: Message.Request, text: string, slot: Slot<never>) => Effect.Effect<void>
  /** Carries anything else; fails when the server does not take it. */
  readonly tell: (message: Message.Message, text: string) => Effect.Effect<void, TransportError>
}

type Told = (error: TransportError | undefined) => void

/**
 * @since 0.1.0
 * @category models
 */
export class Outgoing implements Pick<Transport, "send" | "unsafeSend"> {
  private readonly asked = new Map<Message.RequestId, Slot<never>>()

  constructor(private readonly site: HttpConnection, public road: Road) {}

  readonly unsafeSend = (message: Message.Message): boolean => this.hand(message, unheard(this.site, message))

  readonly send = (message: Message.Message): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      const { others, requests } = this.site
      const lane = Message.isRequest(message) ? requests : others
      if (lane.isFull) return Effect.zipRight(lane.room, this.send(message))
      if (Message.isRequest(message)) return this.unsafeSend(message) ? Effect.void : Effect.fail(closed)
      // Who says one thing after another says them in order: the next one leaves when this one was accepted.
      return Effect.async<void, TransportError>((resume) => {
        const told: Told = (error) => resume(error === undefined ? Effect.void : Effect.fail(error))
        if (!this.hand(message, told)) told(closed)
      })
    })

  private hand(message: Message.Message, told: Told): boolean {
    const text = this.site.inbox.isEnded ? undefined : Json.stringify(message)
    if (text === undefined) return false
    if (Message.isRequest(message)) {
      this.ask(message, text)
      return true
    }
    const slot = this.cancelled(message)
    if (slot !== undefined && !slot.hasBegun) {
      slot.cancel()
      told(undefined)
      return true
    }
    this.tell(message, text, told)
    slot?.cancel()
    return true
  }

  private ask(request: Message.Request, text: string): void {
    const { id } = request
    const slot = this.site.requests.start(
      (slot) => {
        this.asked.set(id, slot)
        return Effect.suspend(() => this.road.ask(request, text, slot))
      },
      (exit, slot) => {
        if (this.asked.get(id) === slot) this.asked.delete(id)
        // One that was given up is waited for no longer; one that died still is.
        if (exit === undefined || Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return
        this.site.inbox.deliver(new Undelivered(id, died(exit.cause)))
      }
    )
    if (!slot.hasBegun) this.asked.set(id, slot)
  }

  private tell(message: Message.Message, text: string, told: Told): void {
    const { alarm, options, others, requests } = this.site
    const gates = Message.isNotification(message) && message.method === Methods.initialized.name
    if (gates) requests.hold()
    const slot = others.start(
      () => Effect.suspend(() => this.road.tell(message, text)),
      (exit) => {
        if (gates) requests.release()
        if (exit === undefined) return told(closed)
        told(Exit.isSuccess(exit) ? undefined : errorOf(exit.cause, options.acceptTimeout))
      }
    )
    others.expire(slot, alarm.now() + options.acceptTimeout)
  }

  /** The request that a message cancels. */
  private cancelled(message: Message.Message): Slot<never> | undefined {
    if (!Message.isNotification(message) || message.method !== Methods.cancelled.name) return undefined
    const id = message.params?.requestId
    return Message.isRequestId(id) ? this.asked.get(id) : undefined
  }
}

const died = (cause: Cause.Cause<never>): TransportError =>
  new TransportError({ reason: "Read", message: "The request died", cause })

const errorOf = (cause: Cause.Cause<TransportError>, millis: number): TransportError =>
  Option.getOrElse(Cause.failureOption(cause), () =>
    Cause.isInterruptedOnly(cause)
      ? new TransportError({ reason: "Write", message: `The server did not take the message within ${millis} ms` })
      : new TransportError({ reason: "Write", message: "Sending died", cause }))

/** For messages that nobody waits for. */
const unheard = (site: HttpConnection, message: Message.Message): Told => (error) => {
  if (error === undefined || site.inbox.isEnded) return
  const what = Message.isResponse(message) ? "An answer" : `"${message.method}"`
  site.log(`${what} did not reach the server`, error)
}
