/**
 * One session over HTTP: its id, its owner, its conversation, its standalone stream (for messages outside of requests), and the streams of
 * POSTs that clients can resume. `Http` opens and finds sessions. All parts of a session end with the session.
 *
 * The state is in mutable fields, not in a fiber or a scope. So an idle session needs only about 4 KB, for this object, its transport
 * (`Standalone`) and its conversation. `ended` is true when the session has ended. `streams` exists only while clients can resume a stream.
 * `waiting` exists only while requests run.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Version from "../../protocol/Version.js"
import type { StreamKey } from "../EventStore.js"
import { LOST } from "../nodes/ForwardedRequest.js"
import type { SessionConversation } from "../runtime/SessionConversation.js"
import type { DirectoryEntry } from "./DirectoryEntry.js"
import * as EventId from "./EventId.js"
import type { GuardedCalls } from "./GuardedCalls.js"
import type { HttpContext } from "./HttpContext.js"
import { ResumableStream } from "./ResumableStream.js"
import type { StoredSession } from "./SessionStore.js"
import { Standalone } from "./Standalone.js"
import { logDefect } from "./StreamStore.js"

/** The name of the standalone stream in event ids and in the event store. */
export const STANDALONE = "g"

/** The schedule with which this node tries again to remove the entry of an ended session, when the directory did not answer. */
export const ENDING_AGAIN = Schedule.jittered(
  Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
)

/** A response to a POST that is not complete yet. The client is reading the response, or has disconnected. */
interface Response {
  readonly isConnected: boolean
}

export class HttpSession implements StoredSession {
  lastUsed = 0
  finished = false
  wasConnected = false
  /** Whether this session has already logged that the client names a different revision than the agreed revision. */
  hasWarned = false
  readonly standalone: Standalone
  /**
   * The calls that require authorization scopes. Not every token of the user may cancel these calls or answer their questions. `undefined`
   * before the first such call.
   */
  guarded: GuardedCalls | undefined
  private readonly conversation: SessionConversation
  private streams: Map<string, ResumableStream> | undefined
  private waiting: Set<Response> | undefined
  private lastStream = 0
  private ended = false

  constructor(
    private readonly context: HttpContext,
    readonly id: string,
    /** The id of the principal that opened the session; `undefined` for a client without a principal. */
    readonly owner: string | undefined,
    /** The entry of the session in the directory that nodes share; `undefined` on a server with one node. */
    private readonly entry: DirectoryEntry | undefined,
    /** Called once when the session ends. `closing` does the rest of the work. */
    private readonly onEnd: (closing: Effect.Effect<void>) => void
  ) {
    const end = () => this.end()
    const isRestored = entry?.facts !== undefined
    const key = context.events === undefined ? undefined : this.keyOf(STANDALONE)
    this.standalone = new Standalone(context, key, isRestored, this.onLost)
    this.conversation = context.converse(this.standalone, end, entry)
  }

  /** The revision that both sides agreed on in `initialize`; `undefined` before. */
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

  /** Whether another node can continue the session: no request runs, and all sent messages have reached the client and the event store. */
  get isSettled(): boolean {
    return this.conversation.inFlight() === 0 && this.waiting === undefined && !this.standalone.stream.isStoring &&
      [...this.streams?.values() ?? []].every(({ isSettled }) => isSettled)
  }

  /** Adds a POST that waits for its responses. */
  addWaiting(response: Response): void {
    this.waiting ??= new Set()
    this.waiting.add(response)
  }

  removeWaiting(response: Response): void {
    this.waiting?.delete(response)
    // Removed, so that an idle session does not need memory for an empty set.
    if (this.waiting?.size === 0) this.waiting = undefined
  }

  get isResumable(): boolean {
    return this.context.events !== undefined
  }

  /** Whether clients can resume the stream of a call that requires these scopes. */
  mayResume(scopes: ReadonlyArray<string> = []): boolean {
    return this.isResumable && EventId.guarded("", scopes) !== undefined
  }

  /**
   * Whether each stream begins with an event that contains only an id. `false` for clients of older revisions, which would read this event
   * as a message.
   */
  get primesStreams(): boolean {
    return this.isResumable && Version.primesStreams(this.version)
  }

  /** Passes a message to the conversation. The conversation sends the answer on the channel. */
  get receive(): SessionConversation["receive"] {
    return this.conversation.receive
  }

  /** Ends the standalone stream, so that the client opens it again at another node. */
  pause(): void {
    this.standalone.stream.pause()
  }

  /**
   * Ends the session: interrupts and answers running requests, and ends streams. You may call this function twice. With `isMoving`, the
   * session goes on at another node.
   */
  end(isMoving = false): void {
    if (this.ended) return
    this.ended = true
    if (isMoving && this.entry !== undefined) this.pause()
    this.standalone.end(isMoving)
    for (const stream of this.streams?.values() ?? []) stream.stop()
    const { close } = this.conversation
    const { context: { events }, entry } = this
    const forget = events === undefined
      ? Effect.void
      : Effect.catchAllCause(Effect.suspend(() => events.forget(this.id, entry?.epoch)), logDefect)
    // When another node serves the session, the events belong to that node.
    const ended = entry === undefined
      ? forget
      // Waits for `stored`, because the store refuses events that this node writes after the next node has taken over.
      : Effect.zipRight(
        this.stored,
        Effect.flatMap(entry.end(isMoving), (hasEnded) => hasEnded ? forget : Effect.void)
      )
    // Tried again, because otherwise the directory would keep the session. When a node leaves, this is not necessary, because its sessions
    // become free when its lease ends.
    const again = isMoving ? Effect.void : Effect.retry(ended, ENDING_AGAIN)
    this.onEnd(Effect.zipRight(close, Effect.catchAll(ended, () => this.context.inBackground(again))))
  }

  private get stored(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([this.standalone.stream, ...this.streams?.values() ?? []], ({ stored }) => stored, {
        discard: true
      })
    )
  }

  /** Ends the session only at this node, because other nodes may serve the session. */
  abandon(): void {
    this.entry?.lose()
  }

  /** The function to call when another node has taken the session over; `undefined` on a server with one node. */
  get onLost(): (() => void) | undefined {
    const { entry } = this
    return entry && (() => entry.lose())
  }

  /** Makes the key of the next stream, for a call that requires these scopes; `undefined` where clients cannot resume the stream. */
  nextStreamKey(scopes: ReadonlyArray<string> = []): StreamKey | undefined {
    if (!this.isResumable) return undefined
    const number = (++this.lastStream).toString(36)
    const { digits, prefix } = this.streamNames
    const name = EventId.guarded(prefix + number.padStart(digits, "0"), scopes)
    return name === undefined ? undefined : this.keyOf(name)
  }

  /**
   * The prefix and the number of digits of the stream names of this node. Nodes that served the session before this node have used other
   * names.
   */
  private get streamNames(): { readonly prefix: string; readonly digits: number } {
    const { epoch = 1 } = this.entry ?? {}
    return epoch === 1 ? { prefix: "", digits: 2 } : { prefix: `${epoch.toString(36)}z`, digits: 8 }
  }

  private keyOf(stream: string): StreamKey {
    const { entry, id: session } = this
    return entry === undefined ? { session, stream } : { session, stream, epoch: entry.epoch }
  }

  addStream(stream: ResumableStream): void {
    this.streams ??= new Map()
    this.streams.set(stream.key!.stream, stream)
  }

  removeStream(stream: ResumableStream): void {
    const { key } = stream
    if (key !== undefined && this.streams?.get(key.stream) === stream) this.streams.delete(key.stream)
  }

  /** Finds the stream with this name: the stream of a running request, or a stream whose events are still in the event store. */
  findStream(stream: string): ResumableStream {
    const known = this.streams?.get(stream)
    if (known !== undefined) return known
    const stored = ResumableStream.stored(
      this.context,
      this.keyOf(stream),
      () => this.removeStream(stored)
    )
    this.addStream(stored)
    const { name } = EventId.partsOf(stream)
    const { digits, prefix } = this.streamNames
    // The names of later epochs have at least ten characters. In the first epoch all names are shorter, because a node never begins so many
    // streams.
    const isOwn = prefix === "" ? name.length < 10 : name.startsWith(prefix) && name.length >= prefix.length + digits
    // The earlier node of the session may have ended during the request of the stream.
    if (!isOwn) stored.store?.recover(LOST)
    return stored
  }
}
