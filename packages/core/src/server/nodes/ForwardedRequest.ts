/**
 * One HTTP request that arrived at this node, while another node has its session. `ForwardedRequests` makes a `Forward` for each such
 * request. The object sends the request to the other node. The pieces of the answer come back as envelopes. The object writes them to the
 * client, not faster than the client reads.
 *
 * The fields are mutable, because envelopes arrive one by one. `writer` is set once the answer has begun. `taken` counts the characters
 * that the client has taken and that the other node does not know of yet. Once `over` is true, nothing happens any more. `isWhole` is false
 * while only a part of the last event is written. `hasId` is true once the id of an event is written, and `canResume` is true once such an
 * event is written to its end.
 */
import type * as Effect from "effect/Effect"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type * as EffectInternals from "../../kit/EffectInternals.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import type { Answerable, Headers, Writer } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { Back, Forth } from "./NodeMessage.js"

/** After how many characters, taken by the client, the other node is told of them. */
const REPORTED = 64 * 1024

/**
 * Called when the other node has not run the request, and will not run it. Either it does not serve the session, or, when `isDraining` is
 * true, it gives the session away as soon as the session's requests have ended.
 */
export type Moved = (isDraining: boolean) => void

export interface Options {
  /** The node that serves the session. */
  readonly node: string
  readonly id: string
  /** This node. */
  readonly from: string
  readonly body: string | undefined
  /** Whether clients can resume a stream after an event that has an id. This is so with an `EventStore`. */
  readonly isResumable: boolean
  /** Sends an envelope to the other node. Ends the request here when that is not possible. */
  readonly send: (envelope: Forth) => Effect.Effect<void>
  readonly moved: Moved
  /** Called once, when nothing more is to come. */
  readonly onDone: () => void
}

export class Forward {
  readonly node: string
  private readonly sending: SerialQueue
  private writer: Writer | undefined
  private taken = 0
  private isFlowing = true
  private over = false
  /** Whether the request still waits at this node, because the inbox of the other node is full. */
  isHeld = false
  private isWhole = true
  private hasId = false
  private canResume = false

  constructor(
    private readonly exchange: Answerable,
    private readonly options: Options,
    runtime: EffectInternals.Services
  ) {
    this.node = options.node
    this.sending = new SerialQueue({ runtime })
  }

  /** Whether nothing happens any more. */
  get isOver(): boolean {
    return this.over
  }

  begin(): void {
    const { encrypted, headers, method, path, remoteAddress, url } = this.exchange.arrived
    const { body, from, id } = this.options
    // The client may have disconnected before a listener was registered.
    if (this.exchange.isGone) return this.done()
    this.post({
      type: "exchange",
      from,
      id,
      method,
      url,
      path,
      headers: joined(headers),
      remoteAddress,
      encrypted,
      body
    })
  }

  receive(envelope: Back): void {
    if (this.over) return
    switch (envelope.type) {
      case "reply":
        this.exchange.reply(envelope.status, envelope.headers, envelope.body)
        return this.done()
      case "stream":
        this.writer = this.exchange.stream(envelope.status, envelope.headers, {
          drained: () => {
            this.isFlowing = true
            this.report()
          },
          gone: this.gone
        })
        return
      case "text":
        this.taken += envelope.body.length
        this.note(envelope.body)
        this.isFlowing = this.writer?.write(envelope.body) ?? true
        if (this.isFlowing && this.taken >= REPORTED) this.report()
        return
      case "end":
        this.writer?.end()
        return this.done()
      case "cut":
        // A client that reads would wait in vain, unless it has an event id to resume from.
        if (this.writer === undefined || this.isFlowing) return this.fail()
        this.writer.cut()
        return this.done()
      case "moved":
        return this.moved(envelope.isDraining === true)
    }
  }

  moved(isDraining = false): void {
    if (this.over) return
    this.done()
    this.options.moved(isDraining)
  }

  /** The other node has no place for the request, or the store has refused the request. Nothing has run. */
  refuse(): void {
    if (this.over) return
    this.done()
    Refusal.send(this.exchange, Refusal.nodeLost)
  }

  /**
   * The other node has ended, or cannot be reached. It is not known whether the request has run there, so it never runs again. The client
   * resumes the stream, or gets an error.
   */
  fail(): void {
    if (this.isHeld) return this.refuse()
    if (this.over) return
    const { canResume, exchange, options: { body }, writer } = this
    this.done()
    // Made only now, because the body may be large, and a node that ends may have many requests.
    if (canResume && writer !== undefined) return writer.cut()
    const errors = errorsOf(body)
    if (writer === undefined) {
      if (errors === undefined) return Refusal.send(exchange, Refusal.nodeSilent)
      return exchange.reply(200, { "content-type": "application/json" }, errors)
    }
    if (errors === undefined) return writer.cut()
    // Ends an event that was written in part. Clients ignore an event with an unknown name.
    const unfinished = this.isWhole ? "" : "\nevent: unfinished\n\n"
    writer.write(`${unfinished}event: message\ndata: ${errors}\n\n`)
    writer.end()
  }

  /** Remembers whether the client has an event id to resume from. The JSON text of a message has no line breaks. */
  private note(text: string): void {
    this.isWhole = text.endsWith("\n\n")
    if (this.canResume || !this.options.isResumable) return
    const end = text.lastIndexOf("\n\n")
    const id = text.startsWith("id: ") ? 0 : text.indexOf("\nid: ")
    this.canResume = end !== -1 && (this.hasId || (id !== -1 && id < end))
    this.hasId ||= id !== -1
  }

  /** Ends a stream of a GET, so that the client opens it again at another node. */
  pause(retry: string): void {
    if (this.over || this.writer === undefined || this.exchange.arrived.method !== "GET") return
    this.writer.write(retry)
    this.writer.end()
    this.gone()
  }

  /** The client has disconnected. */
  readonly gone = (): void => {
    if (this.over) return
    const { from, id } = this.options
    this.post({ type: "gone", from, id })
    this.done()
  }

  private report(): void {
    const { from, id } = this.options
    this.post({ type: "taken", from, id, size: this.taken })
    this.taken = 0
  }

  private post(envelope: Forth): void {
    this.sending.add(() => this.options.send(envelope))
  }

  private done(): void {
    this.over = true
    this.options.onDone()
  }
}

/** The headers, with one text for each field: Node's HTTP server gives the field `set-cookie` as an array. */
const joined = (headers: Headers): Headers => {
  const cookies: unknown = headers["set-cookie"]
  return Array.isArray(cookies) ? { ...headers, "set-cookie": cookies.join(", ") } : headers
}

/** The errors that answer the requests in a body; `undefined` when the body has no requests. */
const errorsOf = (body: string | undefined): string | undefined => {
  if (body === undefined) return undefined
  const incoming = MessageText.parse(body)
  const isBatch = Message.isMalformed(incoming) && incoming.batch !== undefined
  const ids = isBatch
    ? incoming.batch!.flatMap((one) => {
      const { id, method } = (typeof one === "object" && one !== null ? one : {}) as Partial<Message.Request>
      return method !== undefined && (typeof id === "string" || typeof id === "number") ? [id] : []
    })
    : !Message.isMalformed(incoming) && Message.isRequest(incoming)
    ? [incoming.id]
    : []
  const errors = ids.map((id) => Message.failure(id, LOST))
  return errors.length === 0 ? undefined : JsonText.stringify(isBatch ? errors : errors[0])
}

/** The error that answers a request whose node has ended. */
export const LOST: JsonRpcError.ErrorObject = {
  code: JsonRpcError.UNAVAILABLE,
  message: "The node that served this request has ended; whether the request has run is not known"
}
