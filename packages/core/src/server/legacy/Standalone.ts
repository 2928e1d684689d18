/**
 * Sends the messages of a session that belong to no request, on the standalone stream. The client opens this stream with a GET
 * (`legacy/Http`). The client's messages arrive in POSTs, which `HttpSession` passes to the conversation. With an event store,
 * `ResumableStream` stores the notifications that the server sends while the stream is not open. Without an event store, this module
 * buffers up to `MAX_BUFFERED` of these notifications.
 *
 * The state is in mutable fields, not in a fiber, because each fiber of an idle session would need memory.
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
 * The greatest number of notifications that this module buffers, when there is no reader and no event store. When more notifications come,
 * the module drops the oldest notifications.
 */
export const MAX_BUFFERED = 256

export class Standalone implements Sender {
  readonly stream: ResumableStream
  /** The notifications that wait for the next reader. */
  private buffered: ReadonlyArray<string> = nothing
  /** The change notifications that no client has read yet. An equal notification is not queued again. */
  private queuedChanges: Set<string> | undefined
  /** How often the response had written waiting text when `queuedChanges` was checked. After one more time, the client has read them. */
  private flushes = 0
  private ended = false
  /** Whether the session has ended at this node, and goes on at another node. */
  private hasMoved = false

  constructor(
    private readonly context: HttpContext,
    key: StreamKey | undefined,
    /** Whether another node has served the session before. If `true`, this node uses request ids that the other node has not used. */
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

  /**
   * Ends the standalone stream. After this call, the object accepts no messages. With `isMoving`, the session goes on at another node. You
   * may call this function twice.
   */
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

  // A getter, because a function object for each session would need memory in each idle session.
  get send(): Sender["send"] {
    return (message) => Outbox.send(this, message, closed)
  }

  /** Makes a channel to the standalone stream, for messages that get no response. */
  channelFor(origin: RequestOrigin): Channel {
    return { origin, canRequest: this.canRequest, unsafeSend: this.unsafeSend, send: this.send }
  }

  /** Attaches a client that opens the standalone stream. The client gets the buffered messages, and later messages. */
  attach(exchange: Admitted, prime: boolean): void {
    this.stream.attach(this.opening(exchange), prime, () => Refusal.send(exchange, Refusal.streamAway))
    const { response } = this.stream
    if (response === undefined) return
    for (const event of this.buffered) response.push(event)
    this.buffered = nothing
  }

  /** Attaches a client that resumes after a position. The client gets the missed messages, and later messages. */
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
          // With an event store, an event that was written to a lost connection may not have reached the client. The stream sends such an
          // event again.
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

  /** Whether an equal change notification already waits for a reader. If not, adds this notification to `queuedChanges`. */
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
