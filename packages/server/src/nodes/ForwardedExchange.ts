/**
 * An HTTP request that arrived at another node, as this node serves it: the answer goes back in envelopes. It knows nothing of
 * sessions.
 *
 * The fields are mutable because the endpoint answers by calling functions. What they hold: `unsent` is text that waits for the
 * envelope before it; `untaken` counts what the client has not taken, `unsent` included. Once `done`, the endpoint adds nothing;
 * once `isBroken`, what waits is not sent either.
 */
import type * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import { SerialQueue } from "@effect-mcp/jsonrpc/unstable/kit/SerialQueue"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { BodyFault, Headers, HttpExchange, Reader, SlowReaders, Writer } from "../http/HttpExchange.js"
import type { Back, Forth } from "./Envelope.js"
import * as Envelope from "./Envelope.js"

type Request = Extract<Forth, { readonly type: "exchange" }>

/** How many characters a client may not have taken before the writer is full. */
const HIGH_WATER = 256 * 1024

/** How long it waits before it sends the end of an answer again, and when it does so once more: longer than a store is away. */
const RETRY = "500 millis"
const AGAIN = Schedule.upTo(Schedule.union(Schedule.exponential(RETRY, 1.5), Schedule.spaced("5 seconds")), "1 minute")

export class ForwardedExchange implements HttpExchange, Writer {
  readonly method: string
  readonly url: string
  readonly path: string
  readonly headers: Headers
  readonly remoteAddress: string | undefined
  readonly encrypted: boolean | undefined
  /** The node where the request arrived. */
  readonly from: string
  // The node where the request arrived has checked what these are for.
  readonly rawHeaders = undefined
  added: Headers | undefined
  slowReaders: SlowReaders | undefined
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
    runtime: Edition.Services,
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

  body(_maxBytes: number, then: (body: string | BodyFault) => void): void {
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
    // One envelope carries what was written while the one before it was sent.
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

  /** This node has lost its place: a request of which nothing has run goes on at another one. */
  abandon(): void {
    const { onLeave } = this
    if (this.hasBegun) return this.leave()
    this.moved(false)
    onLeave?.()
  }

  private close(envelope: Back): void {
    if (this.done) return
    this.post(envelope)
    this.finish()
  }

  private post(envelope: Back): void {
    this.sending.add(() => this.sent(envelope))
  }

  private flush(): Effect.Effect<void> {
    const body = this.unsent
    this.unsent = ""
    return this.sent({ type: "text", id: this.request.id, node: this.node, body })
  }

  private sent(envelope: Back): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isBroken) return Effect.void
      const text = Envelope.encode(envelope)
      return Effect.flatMap(this.send(text), (outcome) => {
        if (outcome === "sent") return Effect.void
        this.isBroken = true
        // Not before `stream` has returned the writer.
        queueMicrotask(this.leave)
        if (outcome === "gone") return Effect.void
        const isLast = envelope.type !== "stream" && envelope.type !== "text"
        return this.settle(isLast ? text : Envelope.encode({ type: "cut", id: this.request.id }))
      })
    })
  }

  /** Sends what ends the answer until the other node has it, which would wait for it without an end. */
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
