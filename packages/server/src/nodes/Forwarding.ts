/**
 * The HTTP requests that pass between this node and others: those that arrived here and another node serves, and those that
 * arrived at other nodes and this one serves. It knows nothing of sessions.
 *
 * A class, because envelopes arrive one by one: `forwards` holds the requests that other nodes serve, by their ids, and `served`
 * those of other nodes that this one serves.
 */
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as Metrics from "../telemetry/Metrics.js"
import type { Forth } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import type { Moved } from "./Forward.js"
import { Forward } from "./Forward.js"
import { ForwardedExchange } from "./ForwardedExchange.js"
import type { Place } from "./Place.js"

/** How often a text is sent again to a node whose inbox is full. */
const AGAIN = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(3))

export class Forwarding {
  private readonly forwards = new Map<string, Forward>()
  private readonly served = new Map<string, ForwardedExchange>()
  private lastId = 0

  constructor(
    private readonly runtime: Edition.Services,
    /** Whether clients can resume a stream that was cut. */
    private readonly isResumable: boolean,
    /** Serves a request that arrived at another node, or says that its session has moved. */
    private readonly serve: (exchange: HttpExchange) => void
  ) {}

  /** The nodes that have requests of this one, or that wait for its answers. */
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
    exchange: HttpExchange,
    body: string | undefined,
    moved: Moved
  ): void {
    const id = `${++this.lastId}`
    const forward: Forward = new Forward(exchange, {
      node: to,
      id,
      from,
      body,
      isResumable: this.isResumable,
      moved,
      onDone: () => this.forwards.delete(id),
      send: (envelope) => {
        const text = Envelope.encode(envelope)
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
        return Effect.catchAll(
          Effect.retry(sent, { schedule: AGAIN, while: ({ reason }) => reason === "Full" }),
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
    const envelope = Envelope.decode(text)
    if (envelope === undefined) return
    if (!Envelope.isForth(envelope)) {
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

  /** A node has ended: its requests are over, and those that it has will not be answered. */
  readonly ended = (node: string): void => {
    for (const forward of [...this.forwards.values()]) if (forward.node === node) forward.fail()
    for (const exchange of [...this.served.values()]) if (exchange.from === node) exchange.leave()
  }

  /** This node has lost its place: nothing more passes. */
  end(): void {
    for (const forward of [...this.forwards.values()]) forward.fail()
    for (const exchange of [...this.served.values()]) exchange.abandon()
  }

  private tell(node: string, envelope: Envelope.Envelope, { mailbox }: Place): void {
    Edition.runFork(this.runtime, Effect.ignore(mailbox.send(node, Envelope.encode(envelope))))
  }

  private begin(request: Extract<Forth, { readonly type: "exchange" }>, { mailbox, node }: Place): void {
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

const keyOf = ({ from, id }: Forth): string => `${from} ${id}`
