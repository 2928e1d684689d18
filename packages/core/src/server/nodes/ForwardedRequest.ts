/**
 * One HTTP request that arrived at this node, although another node serves the session. `ForwardedRequests` makes a `Forward` for each such
 * request. This object sends the request to the other node. The other node sends the pieces of the answer back in envelopes
 * (`NodeMessage`). This object writes the pieces to the client, as fast as the client reads.
 *
 * The fields are mutable, because envelopes arrive one by one. `writer` writes to the client, and is set when the answer has begun. `taken`
 * is the number of characters that the client has read and this node has not reported to the other node yet. When `over` is true, the
 * request has ended at this node. `isWhole` is false while this node has written only a part of the last event. `hasId` turns true when
 * this node has written the id of an event. `canResume` turns true when this node has written the whole event with this id.
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

/** After how many characters this node reports to the other node that the client has read them. */
const REPORTED = 64 * 1024

/**
 * Called when the other node has not run the request, and will not run it, because the other node does not serve the session. When
 * `isDraining` is true, the other node will release the session as soon as the session's requests have ended.
 */
export type Moved = (isDraining: boolean) => void

export interface Options {
  /** The node that serves the session. */
  readonly node: string
  readonly id: string
  /** This node. */
  readonly from: string
  readonly body: string | undefined
  /** Whether clients can resume a stream after an event with an id. `true` with an `EventStore`. */
  readonly isResumable: boolean
  /** Sends an envelope to the other node. When this is not possible, ends the request at this node. */
  readonly send: (envelope: Forth) => Effect.Effect<void>
  readonly moved: Moved
  /** Called once, when the request has ended at this node. */
  readonly onDone: () => void
}

export class Forward {
  readonly node: string
  private readonly sending: SerialQueue
  private writer: Writer | undefined
  private taken = 0
  private isFlowing = true
  private over = false
  /** Whether the request waits at this node, because the inbox of the other node is full. */
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

  /** Whether the request has ended at this node. */
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
        // The client has read the whole text so far, and waits for more. If the client has no event id, it cannot resume, so `fail` ends
        // the response with errors.
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

  /** The other node has no room for the request, or the store of the inboxes has refused the request. The request has not run. */
  refuse(): void {
    if (this.over) return
    this.done()
    Refusal.send(this.exchange, Refusal.nodeLost)
  }

  /**
   * The other node has ended, or this node cannot reach it. The other node may have run the request, so this node does not send the request
   * again. The client resumes the stream, or gets an error.
   */
  fail(): void {
    if (this.isHeld) return this.refuse()
    if (this.over) return
    const { canResume, exchange, options: { body }, writer } = this
    this.done()
    // The errors are made as late as possible, because the body may be large, and an ended node may have had many requests.
    if (canResume && writer !== undefined) return writer.cut()
    const errors = errorsOf(body)
    if (writer === undefined) {
      if (errors === undefined) return Refusal.send(exchange, Refusal.nodeSilent)
      return exchange.reply(200, { "content-type": "application/json" }, errors)
    }
    if (errors === undefined) return writer.cut()
    // Ends an incomplete event. Clients ignore an event with an unknown name.
    const unfinished = this.isWhole ? "" : "\nevent: unfinished\n\n"
    writer.write(`${unfinished}event: message\ndata: ${errors}\n\n`)
    writer.end()
  }

  /** Finds out whether the client has an event id from which it can resume. The JSON text of a message has no line breaks. */
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

/** Gives the headers with one text for each field, because Node's HTTP server gives the field `set-cookie` as an array. */
const joined = (headers: Headers): Headers => {
  const cookies: unknown = headers["set-cookie"]
  return Array.isArray(cookies) ? { ...headers, "set-cookie": cookies.join(", ") } : headers
}

/** Makes the error responses to the requests in a body; `undefined` when the body has no requests. */
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

/** The error in the response to a request whose node has ended. */
export const LOST: JsonRpcError.ErrorObject = {
  code: JsonRpcError.UNAVAILABLE,
  message: "The node that served this request has ended; whether the request has run is not known"
}
