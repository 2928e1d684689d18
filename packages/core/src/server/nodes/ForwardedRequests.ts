/**
 * The HTTP requests that pass between this node and other nodes of a server: requests that arrived here and that the owner of their session
 * serves, and requests that arrived at other nodes and that this node serves. `Routing` finds the owner; here sessions are not known.
 *
 * A request and the pieces of its answer travel as envelopes, one by one, so the class keeps what is under way: `forwards` has the requests
 * that other nodes serve, by their ids, and `served` the requests of other nodes that this node serves.
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

/** How often a text is sent again to a node whose inbox is full. */
const SEND_AGAIN = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(3))

/** How many characters of requests may be on their way to the store, and one request more. Further requests are refused. */
const MAX_UNSENT = 16 * 1024 * 1024

export class ForwardedRequests {
  private readonly forwards = new Map<string, Forward>()
  private readonly served = new Map<string, ForwardedExchange>()
  private readonly report = Stored.reporter()
  private lastId = 0
  /** How many characters of requests the store has not taken yet. */
  private unsent = 0

  constructor(
    private readonly runtime: EffectInternals.Services,
    /** Whether clients can resume a stream that was cut. */
    private readonly isResumable: boolean,
    /** Serves a request that arrived at another node, or says that its session has moved. */
    private readonly serve: (exchange: HttpExchange) => void
  ) {}

  /** The nodes that have requests of this node, or that wait for its answers. */
  readonly awaited = (): ReadonlySet<string> =>
    new Set([
      ...[...this.forwards.values()].map(({ node }) => node),
      ...[...this.served.values()].map(({ from }) => from)
    ])

  /** Whether no request that arrived here is served by another node. */
  get isIdle(): boolean {
    return this.forwards.size === 0
  }

  /** Ends the streams that clients open again at another node. */
  pause(retry: string): void {
    for (const forward of [...this.forwards.values()]) forward.pause(retry)
  }

  /** Has another node serve a request, or calls `moved`. */
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
    // The store has the request, or the request is over.
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
          // Nothing has run, and nothing will.
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
              // It has ended since the directory was read.
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

  /** Takes what another node has sent. */
  readonly receive = (text: string, place: Place): void => {
    const envelope = NodeMessage.decode(text)
    if (envelope === undefined) {
      EffectInternals.runFork(this.runtime, this.report("a text in the inbox of this node"))
      return
    }
    if (!NodeMessage.isForth(envelope)) {
      const forward = this.forwards.get(envelope.id)
      if (forward !== undefined) return forward.receive(envelope)
      // The other node does not know that the request is over: the envelope that said so was lost.
      if (envelope.type !== "stream" && envelope.type !== "text") return
      return this.tell(envelope.node, { type: "gone", from: place.node, id: envelope.id }, place)
    }
    if (envelope.type === "exchange") return this.begin(envelope, place)
    // That node could not read the answer. It looks for the session again, and refuses the request in the end.
    if (envelope.type === "request") return this.tell(envelope.from, { type: "moved", id: envelope.id }, place)
    const exchange = this.served.get(keyOf(envelope))
    if (envelope.type === "taken") exchange?.taken(envelope.size)
    else exchange?.leave()
  }

  /** A node has ended: its own requests are over, and the requests that it serves will not be answered. */
  readonly ended = (node: string): void => {
    for (const forward of [...this.forwards.values()]) if (forward.node === node) forward.fail()
    for (const exchange of [...this.served.values()]) if (exchange.from === node) exchange.leave()
  }

  /** This node has lost its place: nothing more passes. */
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

/** How many characters a client may not have taken before the writer is full. */
const HIGH_WATER = 256 * 1024

/** How long it waits before it sends the end of an answer again, and when it does so once more: longer than a store is away. */
const RETRY = "500 millis"
const AGAIN = Schedule.upTo(Schedule.union(Schedule.exponential(RETRY, 1.5), Schedule.spaced("5 seconds")), "1 minute")

/**
 * A request that arrived at another node, as this node serves it: the answer goes back in envelopes.
 *
 * The fields are mutable because the endpoint answers by calling functions. What they hold: `unsent` is text that waits for the envelope
 * before it; `untaken` counts what the client has not taken, `unsent` included. Once `done` is true, the endpoint adds nothing; once
 * `isBroken` is true, what waits is not sent either.
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
  // The node where the request arrived has made the checks that need these members.
  readonly rawHeaders = undefined
  // What the application has given stays at that node.
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
    /** Sends an encoded envelope to the node where the request arrived. `unknown`: it may have arrived. `gone`: that node has ended. */
    private readonly send: (text: string) => Effect.Effect<"sent" | "unknown" | "gone">,
    /** Called once, when the answer is complete or the client has gone. */
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
    // One envelope carries what was written while the envelope before it was sent.
    const isFirst = this.unsent === ""
    this.unsent += text
    if (isFirst) this.sending.add(() => this.flush())
    return !this.full
  }

  readonly end = (): void => this.close({ type: "end", id: this.request.id })

  readonly cut = (): void => this.close({ type: "cut", id: this.request.id })

  /** The client has taken so many more characters. */
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

  /** This node has lost its place: a request that has not begun to run goes on at another node. */
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
        // Not before `stream` has returned the writer.
        queueMicrotask(this.leave)
        if (outcome === "gone") return Effect.void
        const isLast = envelope.type !== "stream" && envelope.type !== "text"
        return this.settle(isLast ? text : NodeMessage.encode({ type: "cut", id: this.request.id }))
      })
    })
  }

  /** Sends the end of the answer again and again until the other node has it: without the end, the other node would wait for ever. */
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
