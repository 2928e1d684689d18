/**
 * The sender of one session over HTTP. The client's messages come in POSTs, which `HttpSession` passes to the conversation. Messages of the
 * server outside of requests leave on the standalone stream, which the client opens with GET (`legacy/Http`). While this stream is not
 * open, `ResumableStream` puts notifications into the event store. Without an event store, this module buffers up to `MAX_BUFFERED`
 * notifications.
 *
 * The fields are mutable, because an idle session is this object and its conversation, without a fiber. `buffered` is empty while the
 * stream is open. `queuedChanges` are the notifications of changes that no reader has taken yet. They count only while `flushes` equals the
 * number of flushes of the response: when the response was flushed again, the reader has taken them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type * as Effect from "effect/Effect"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import type { Channel } from "../../jsonrpc/Side.js"
import { closed, type Sender } from "../../jsonrpc/Transport.js"
import * as Outbox from "../../kit/Outbox.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import type { StreamKey } from "../EventStore.js"
import type { Admitted } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { EventStream } from "../http/StreamedAnswer.js"
import type { RequestOrigin } from "../runtime/RequestOrigin.js"
import type { HttpContext } from "./HttpContext.js"
import { ReaderNotes } from "./ReaderNotes.js"
import { endNow, frame, type Reader, ResumableStream } from "./ResumableStream.js"
import * as SessionRefusal from "./SessionRefusal.js"

/**
 * How many notifications are buffered while there is neither a reader nor an event store. Beyond this number the oldest notifications are
 * dropped.
 */
export const MAX_BUFFERED = 256

export class Standalone implements Sender {
  readonly stream: ResumableStream
  private buffered: ReadonlyArray<string> = nothing
  private queuedChanges: Set<string> | undefined
  private flushes = 0
  private ended = false
  /** The session has ended at this node, and goes on at another node. */
  private hasMoved = false

  constructor(
    private readonly context: HttpContext,
    key: StreamKey | undefined,
    /** Whether another node has served the session before. This node then uses ids for its requests that the other node has not used. */
    readonly isResumed = false,
    /** Called when another node has taken the session over. */
    onLost?: () => void
  ) {
    const stream = this.stream = new ResumableStream(context, key, undefined, onLost)
    if (stream.store?.key.epoch !== undefined) stream.notes = new ReaderNotes(stream.store, isResumed)
  }

  get isAttached(): boolean {
    return this.stream.response !== undefined
  }

  /** Ends both directions, for good or, with `isMoving`, to go on at another node. Safe to call twice. */
  end(isMoving = false): void {
    if (this.ended) return
    this.ended = true
    this.hasMoved = isMoving
    if (!isMoving) this.stream.notes = undefined
    this.stream.stop()
    this.stream.response?.end()
  }

  readonly canRequest = (): boolean => this.isAttached

  readonly unsafeSend = (message: Message.Message): boolean => {
    if (this.ended || (Message.isRequest(message) && !this.stream.isReadable)) return false
    const text = MessageText.stringify(message)
    if (text === undefined) return false
    if (isChange(message) && this.isQueuedChange(text)) return true
    if (this.stream.isReadable) return this.stream.push(text)
    this.buffer([frame(text)])
    return true
  }

  get congestion(): Effect.Effect<void> | undefined {
    return this.ended ? undefined : this.stream.congestion
  }

  get isUnread(): boolean {
    return !this.isAttached
  }

  // A getter, because a function for each object would add to the memory of each idle session.
  get send(): Sender["send"] {
    return (message) => Outbox.send(this, message, closed)
  }

  /** The standalone stream as the channel of messages that get no response. */
  channelFor(origin: RequestOrigin): Channel {
    return { origin, canRequest: this.canRequest, unsafeSend: this.unsafeSend, send: this.send }
  }

  /** Attaches the client that opened the standalone stream: it gets what was buffered, and later messages. */
  attach(exchange: Admitted, prime: boolean): void {
    this.stream.attach(this.opening(exchange), prime, () => Refusal.send(exchange, Refusal.streamAway))
    const { response } = this.stream
    if (response === undefined) return
    for (const event of this.buffered) response.push(event)
    this.buffered = nothing
  }

  /** Attaches a client that resumes after a position: it gets what it has missed, and later messages. */
  resume(exchange: Admitted, position: number, refuse: (mayRetry: boolean) => void): void {
    this.stream.resume(position, this.opening(exchange), refuse)
  }

  private opening(exchange: Admitted): Reader {
    const open = (): EventStream | undefined => {
      if (this.ended) {
        Refusal.send(exchange, this.hasMoved ? Refusal.streamAway : SessionRefusal.unknownSession)
        return undefined
      }
      this.queuedChanges = undefined
      const response = this.context.stream(
        exchange,
        (unsent) => {
          // An event that was written to a lost connection, and can be replayed, may not have reached the client.
          if (this.stream.isResumable || response.flushes !== this.flushes) this.queuedChanges = undefined
          this.stream.detach(response)
          if (!this.stream.isResumable) this.buffer(unsent)
        },
        undefined,
        endNow
      )
      return response
    }
    return { exchange, open }
  }

  /** Whether the same change already waits for a reader. If not, this function records that the change waits. */
  private isQueuedChange(text: string): boolean {
    const { response } = this.stream
    if (response !== undefined) {
      if (response.isFlowing) return false
      if (response.flushes !== this.flushes) this.queuedChanges = undefined
      this.flushes = response.flushes
    }
    const queued = this.queuedChanges ??= new Set()
    const event = frame(text)
    if (queued.has(event)) return true
    if (queued.size >= MAX_BUFFERED) queued.clear()
    queued.add(event)
    return false
  }

  private buffer(events: ReadonlyArray<string>): void {
    if (this.ended || events.length === 0) return
    const all = [...this.buffered, ...events]
    let size = 0
    let surplus = all.length
    while (surplus > Math.max(0, all.length - MAX_BUFFERED)) {
      size += all[surplus - 1]!.length
      if (size > this.context.options.limits.maxQueued) break
      surplus--
    }
    for (const dropped of all.slice(0, surplus)) this.queuedChanges?.delete(dropped)
    this.buffered = all.slice(surplus)
  }
}

const nothing: ReadonlyArray<string> = []

// After such a notification the client reads the list or the resource again, so one notification is enough.
const changes = new Set<string>([
  Methods.toolListChanged.name,
  Methods.resourceListChanged.name,
  Methods.promptListChanged.name,
  Methods.resourceUpdated.name
])

const isChange = (message: Message.Message): boolean => "method" in message && changes.has(message.method)
