/**
 * One session over HTTP: its id, its owner, its conversation, its standalone stream, and the streams of POSTs that clients
 * can resume. `Http` opens and finds sessions; everything of a session ends with it.
 *
 * A class with mutable fields because an idle session may cost 4 KB: it is this object, its transport and a conversation,
 * without a fiber or a scope. `ended` is set once; `streams` exists only while a stream can be resumed, and
 * `waiting` while requests run.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { FedConversation } from "../Dispatcher.js"
import type { StreamKey } from "../EventStore.js"
import type { HttpContext } from "./HttpContext.js"
import { ResumableStream } from "./ResumableStream.js"
import type { StoredSession } from "./SessionStore.js"
import { Standalone } from "./Standalone.js"

/** The name of the standalone stream in event ids and in the event store. */
export const STANDALONE = "g"

/** A response that is not complete: the client reads it, or has gone. */
interface Response {
  readonly isConnected: boolean
}

export class HttpSession implements StoredSession {
  lastUsed = 0
  finished = false
  wasConnected = false
  /** Whether the operator has been warned that its client names another revision than it has agreed on. */
  hasWarned = false
  readonly standalone: Standalone
  private readonly conversation: FedConversation
  private streams: Map<string, ResumableStream> | undefined
  private waiting: Set<Response> | undefined
  private lastStream = 0
  private ended = false

  constructor(
    private readonly context: HttpContext,
    readonly id: string,
    /** The id of the principal that opened it. */
    readonly owner: string | undefined,
    /** Called once with the work that is left when the session ends. */
    private readonly onEnd: (closing: Effect.Effect<void>) => void
  ) {
    const end = () => this.end()
    const key = context.events === undefined ? undefined : { session: id, stream: STANDALONE }
    this.standalone = new Standalone(context, key, end)
    this.conversation = context.converse(this.standalone, end)
  }

  /** The revision that `initialize` agreed on; none before. */
  get version(): Version.Version | undefined {
    return this.conversation.version()
  }

  get isConnected(): boolean {
    if (this.standalone.isAttached) return true
    for (const { isConnected } of this.waiting ?? []) if (isConnected) return true
    return false
  }

  get isBusy(): boolean {
    return this.standalone.isAttached || this.conversation.inFlight() > 0
  }

  /** A POST waits for its responses. */
  addWaiting(response: Response): void {
    this.waiting ??= new Set()
    this.waiting.add(response)
  }

  removeWaiting(response: Response): void {
    this.waiting?.delete(response)
    // An idle session does not pay for it.
    if (this.waiting?.size === 0) this.waiting = undefined
  }

  get isResumable(): boolean {
    return this.context.events !== undefined
  }

  /** Whether a stream begins with an event that names a position. Clients of older revisions take it for a message. */
  get primesStreams(): boolean {
    return this.isResumable && Version.primesStreams(this.version)
  }

  /** Hands a message to the conversation; `false` when too many wait. */
  receive(incoming: Message.Incoming, channel?: Channel): boolean {
    return this.standalone.feed.offer(incoming, channel)
  }

  /** Ends it: running requests are interrupted and answered, streams end. Safe to call twice. */
  end(): void {
    if (this.ended) return
    this.ended = true
    this.standalone.end()
    for (const stream of this.streams?.values() ?? []) stream.stop()
    const { close } = this.conversation
    const { events } = this.context
    this.onEnd(events === undefined ? close : Effect.zipRight(close, events.forget(this.id)))
  }

  /** The key of the next stream; none where streams cannot be resumed. */
  nextStreamKey(): StreamKey | undefined {
    if (!this.isResumable) return undefined
    return { session: this.id, stream: (++this.lastStream).toString(36).padStart(2, "0") }
  }

  addStream(stream: ResumableStream): void {
    this.streams ??= new Map()
    this.streams.set(stream.key!.stream, stream)
  }

  removeStream(stream: ResumableStream): void {
    const { key } = stream
    if (key !== undefined && this.streams?.get(key.stream) === stream) this.streams.delete(key.stream)
  }

  /** The stream of this name: of a running request, or one whose events are still stored. */
  findStream(name: string): ResumableStream {
    const known = this.streams?.get(name)
    if (known !== undefined) return known
    const stored = ResumableStream.stored(
      this.context,
      { session: this.id, stream: name },
      () => this.removeStream(stored)
    )
    this.addStream(stored)
    return stored
  }
}
