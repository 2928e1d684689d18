/**
 * The HTTP requests that pass between this node and other nodes of a server. When a request arrives here, but another node serves its
 * session, this module passes the request to the other node. This module also serves the requests that other nodes pass to this node.
 * `Routing` finds the node that serves a session.
 *
 * A request and the pieces of its answer are separate envelopes (`NodeMessage`), so this class stores the running requests. `forwards`
 * contains the requests that other nodes serve, by their ids. `served` contains the requests of other nodes that this node serves.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as EffectInternals from "../../kit/EffectInternals.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import type { Answerable, Headers, HttpExchange, Reader, Writer } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { BodyFault } from "../http/RequestBody.js"
import * as Metrics from "../telemetry/Metrics.js"
import { Forward, type Moved } from "./ForwardedRequest.js"
import * as NodeMessage from "./NodeMessage.js"
import type { Place } from "./Place.js"
import * as Stored from "./Stored.js"

/** The schedule with which this module sends a text again to a node whose inbox is full. */
const SEND_AGAIN = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(3))

/**
 * How many characters of requests may wait for the store of the inboxes. The last request may exceed this number. This module refuses
 * further requests.
 */
const MAX_UNSENT = 16 * 1024 * 1024

export class ForwardedRequests {
  private readonly forwards = new Map<string, Forward>()
  private readonly served = new Map<string, ForwardedExchange>()
  private readonly report = Stored.reporter()
  private lastId = 0
  /** How many characters of requests wait for the store. */
  private unsent = 0

  constructor(
    private readonly runtime: EffectInternals.Services,
    /** Whether clients can resume a broken stream. `true` with an `EventStore`. */
    private readonly isResumable: boolean,
    /** Serves a request that arrived at another node, or notifies that node that the session has moved. */
    private readonly serve: (exchange: HttpExchange) => void
  ) {}

  /** Gives the nodes that serve requests of this node, and the nodes that wait for answers of this node. */
  readonly awaited = (): ReadonlySet<string> =>
    new Set([
      ...[...this.forwards.values()].map(({ node }) => node),
      ...[...this.served.values()].map(({ from }) => from)
    ])

  /** Gives `true` when no other node is serving a request that arrived at this node. */
  get isIdle(): boolean {
    return this.forwards.size === 0
  }

  /** Ends the streams that clients can open again at another node. `retry` is the text of an event that says when to reconnect. */
  pause(retry: string): void {
    for (const forward of [...this.forwards.values()]) forward.pause(retry)
  }

  /** Passes a request to the node `to`. Calls `moved` when that node does not serve the session. */
  forward(
    to: string,
    { mailbox, node: from }: Place,
    exchange: Answerable,
    body: string | undefined,
    moved: Moved
  ): void {
    if (this.unsent > MAX_UNSENT) return Refusal.send(exchange, Refusal.nodeBusy)
    let size = body?.length ?? 0
    this.unsent += size
    // Called when the store has the request, or when the request has ended.
    const leave = () => {
      this.unsent -= size
      size = 0
    }
    const id = `${++this.lastId}`
    const forward: Forward = new Forward(exchange, {
      node: to,
      id,
      from,
      body,
      isResumable: this.isResumable,
      moved,
      onDone: () => {
        leave()
        this.forwards.delete(id)
      },
      send: (envelope) => {
        const text = NodeMessage.encode(envelope)
        const isRequest = envelope.type === "exchange"
        const sent = Effect.suspend(() => {
          forward.isHeld = false
          // The request has ended before it was sent, so it does not run.
          return isRequest && forward.isOver ? Effect.void : mailbox.send(to, text)
        }).pipe(
          Effect.tapError(({ reason }) =>
            Effect.sync(() => {
              forward.isHeld = isRequest && reason === "Full"
            })
          )
        )
        const attempts = Effect.retry(sent, { schedule: SEND_AGAIN, while: ({ reason }) => reason === "Full" })
        return Effect.catchAll(
          isRequest ? Effect.ensuring(attempts, Effect.sync(leave)) : attempts,
          ({ reason }) =>
            Effect.sync(() => {
              if (reason === "Unavailable" || !isRequest) return forward.fail()
              // The other node has ended after this node has read the directory.
              if (reason === "Gone") forward.moved()
              else forward.refuse()
            })
        )
      }
    }, this.runtime)
    this.forwards.set(id, forward)
    Metrics.add(Metrics.forwarded)
    exchange.onGone(forward.gone)
    forward.begin()
  }

  /** Handles an envelope from another node. */
  readonly receive = (text: string, place: Place): void => {
    const envelope = NodeMessage.decode(text)
    if (envelope === undefined) {
      EffectInternals.runFork(this.runtime, this.report("a text in the inbox of this node"))
      return
    }
    if (!NodeMessage.isForth(envelope)) {
      const forward = this.forwards.get(envelope.id)
      if (forward !== undefined) return forward.receive(envelope)
      // The other node does not know that the request has ended, because an envelope was lost.
      if (envelope.type !== "stream" && envelope.type !== "text") return
      return this.tell(envelope.node, { type: "gone", from: place.node, id: envelope.id }, place)
    }
    if (envelope.type === "exchange") return this.begin(envelope, place)
    // The other node has an earlier version of this library, and could not read the answer. With `moved`, the other node searches for the
    // session again, and finally refuses the request.
    if (envelope.type === "request") return this.tell(envelope.from, { type: "moved", id: envelope.id }, place)
    const exchange = this.served.get(keyOf(envelope))
    if (envelope.type === "taken") exchange?.taken(envelope.size)
    else exchange?.leave()
  }

  /**
   * Handles the end of another node. Ends the requests that arrived at the other node. Fails the requests that the other node served for
   * this node.
   */
  readonly ended = (node: string): void => {
    for (const forward of [...this.forwards.values()]) if (forward.node === node) forward.fail()
    for (const exchange of [...this.served.values()]) if (exchange.from === node) exchange.leave()
  }

  /** This node is no longer a member. Ends all requests, because no envelopes can pass any more. */
  end(): void {
    for (const forward of [...this.forwards.values()]) forward.fail()
    for (const exchange of [...this.served.values()]) exchange.abandon()
  }

  private tell(node: string, envelope: NodeMessage.Envelope, { mailbox }: Place): void {
    EffectInternals.runFork(this.runtime, Effect.ignore(mailbox.send(node, NodeMessage.encode(envelope))))
  }

  private begin(request: Extract<NodeMessage.Forth, { readonly type: "exchange" }>, { mailbox, node }: Place): void {
    const key = keyOf(request)
    const send = (text: string) =>
      Effect.match(mailbox.send(request.from, text), {
        onFailure: ({ reason }) => reason === "Gone" ? "gone" as const : "unknown" as const,
        onSuccess: () => "sent" as const
      })
    const exchange = new ForwardedExchange(request, node, this.runtime, send, () => this.served.delete(key))
    this.served.set(key, exchange)
    this.serve(exchange)
  }
}

const keyOf = ({ from, id }: NodeMessage.Forth): string => `${from} ${id}`

type Request = Extract<NodeMessage.Forth, { readonly type: "exchange" }>

/** From this number of unread characters on, `write` returns `false`. */
const HIGH_WATER = 256 * 1024

/**
 * How long this module waits before it first sends the end of an answer again. It tries again for one minute, which is longer than most
 * failures of a store.
 */
const RETRY = "500 millis"
const AGAIN = Schedule.upTo(Schedule.union(Schedule.exponential(RETRY, 1.5), Schedule.spaced("5 seconds")), "1 minute")

/**
 * A request that arrived at another node, and that this node serves. The answer goes back to the other node in envelopes.
 *
 * The fields are mutable, because the endpoint answers by calling functions. `unsent` is text that waits until the previous envelope is
 * sent. `untaken` is the number of characters that the client has not read, including `unsent`. When `done` is true, the endpoint adds
 * nothing more. When `isBroken` is true, this object also does not send the text in `unsent`.
 */
class ForwardedExchange implements HttpExchange, Writer {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly headers: Headers
  readonly remoteAddress: string | undefined
  readonly encrypted: boolean | undefined
  /** The node where the request arrived. */
  readonly from: string
  // The node where the request arrived has already made the checks that need the raw headers.
  readonly rawHeaders = undefined
  // The services that the application has provided with the request exist only at the node where the request arrived.
  readonly services = undefined
  readonly values = undefined
  isGone = false
  private readonly sending: SerialQueue
  private reader: Reader | undefined
  private onLeave: (() => void) | undefined
  private unsent = ""
  private untaken = 0
  private full = false
  private done = false
  private isBroken = false
  private hasBegun = false

  constructor(
    private readonly request: Request,
    /** This node. */
    private readonly node: string,
    runtime: EffectInternals.Services,
    /**
     * Sends an encoded envelope to the node where the request arrived. `unknown`: the envelope may have arrived or not. `gone`: that node
     * has ended.
     */
    private readonly send: (text: string) => Effect.Effect<"sent" | "unknown" | "gone">,
    /** Called once, when the answer is complete or the client has disconnected. */
    private readonly onDone: () => void
  ) {
    this.method = request.method
    this.url = request.url
    this.path = request.path
    this.headers = request.headers
    this.remoteAddress = request.remoteAddress
    this.encrypted = request.encrypted
    this.from = request.from
    this.sending = new SerialQueue({ runtime })
  }

  body(_into: unknown, then: (body: string | BodyFault) => void): void {
    if (!this.done) then(this.request.body ?? "")
  }

  reply(status: number, headers: Headers, body: string): void {
    if (this.done || this.reader !== undefined) return
    this.post({ type: "reply", id: this.request.id, status, headers, body })
    this.finish()
  }

  readonly moved = (isDraining: boolean): void => this.close({ type: "moved", id: this.request.id, isDraining })

  readonly begins = (): void => {
    this.hasBegun = true
  }

  stream(status: number, headers: Headers, reader: Reader): Writer {
    if (this.done) {
      queueMicrotask(reader.gone)
      return this
    }
    this.reader = reader
    this.post({ type: "stream", id: this.request.id, node: this.node, status, headers })
    return this
  }

  onGone(listener: () => void): void {
    this.onLeave = listener
  }

  readonly write = (text: string): boolean => {
    if (this.done) return true
    this.untaken += text.length
    this.full = this.untaken >= HIGH_WATER
    // The next envelope contains all the text that was written during the sending of the previous envelope.
    const isFirst = this.unsent === ""
    this.unsent += text
    if (isFirst) this.sending.add(() => this.flush())
    return !this.full
  }

  readonly end = (): void => this.close({ type: "end", id: this.request.id })

  readonly cut = (): void => this.close({ type: "cut", id: this.request.id })

  /** The client has read `size` more characters. */
  taken(size: number): void {
    this.untaken -= size
    if (!this.full || this.untaken >= HIGH_WATER / 2) return
    this.full = false
    this.reader?.drained()
  }

  /** The client has disconnected, or the node where its request arrived has ended. */
  readonly leave = (): void => {
    if (this.done) return
    this.isGone = true
    const { onLeave, reader } = this
    this.finish()
    reader?.gone()
    onLeave?.()
  }

  /** This node is no longer a member. A request that has not begun to run goes on at another node. */
  abandon(): void {
    const { onLeave } = this
    if (this.hasBegun) return this.leave()
    this.moved(false)
    onLeave?.()
  }

  private close(envelope: NodeMessage.Back): void {
    if (this.done) return
    this.post(envelope)
    this.finish()
  }

  private post(envelope: NodeMessage.Back): void {
    this.sending.add(() => this.sent(envelope))
  }

  private flush(): Effect.Effect<void> {
    const body = this.unsent
    this.unsent = ""
    return this.sent({ type: "text", id: this.request.id, node: this.node, body })
  }

  private sent(envelope: NodeMessage.Back): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isBroken) return Effect.void
      const text = NodeMessage.encode(envelope)
      return Effect.flatMap(this.send(text), (outcome) => {
        if (outcome === "sent") return Effect.void
        this.isBroken = true
        // Called later, because `stream` must first return the writer.
        queueMicrotask(this.leave)
        if (outcome === "gone") return Effect.void
        const isLast = envelope.type !== "stream" && envelope.type !== "text"
        return this.settle(isLast ? text : NodeMessage.encode({ type: "cut", id: this.request.id }))
      })
    })
  }

  /**
   * Sends the end of the answer again, until the other node has received the end, for at most one minute. Without the end, the other node
   * would wait forever.
   */
  private settle(last: string): Effect.Effect<void> {
    const attempts = Effect.repeat(Effect.suspend(() => this.send(last)), {
      schedule: AGAIN,
      while: (outcome) => outcome === "unknown"
    })
    return Effect.delay(Effect.asVoid(attempts), RETRY)
  }

  private finish(): void {
    this.done = true
    this.reader = this.onLeave = undefined
    this.onDone()
  }
}
