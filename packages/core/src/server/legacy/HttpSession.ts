/**
 * One session over HTTP: its id, its owner, its conversation, its standalone stream, and the streams of POSTs that clients can resume.
 * `Http` opens and finds sessions. Everything that a session has ends with the session.
 *
 * A class with mutable fields, because an idle session may cost only 4 KB: this object, its transport (`Standalone`) and a conversation,
 * without a fiber or a scope. `ended` is set once. `streams` exists only while a stream can be resumed, and `waiting` only while requests
 * run.
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

/** When removing the entry of a session that has ended is tried again, after the directory did not answer. */
export const ENDING_AGAIN = Schedule.jittered(
  Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
)

/** A response that is not complete. Its client reads it, or has disconnected. */
interface Response {
  readonly isConnected: boolean
}

export class HttpSession implements StoredSession {
  lastUsed = 0
  finished = false
  wasConnected = false
  /** Whether the log has a warning that the client names a revision other than the agreed revision. */
  hasWarned = false
  readonly standalone: Standalone
  /**
   * The calls that require scopes. Not every token of the user may cancel them or answer their questions. `undefined` until there is such a
   * call.
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
    /** The entry of the session in the directory that nodes share; `undefined` on a single node. */
    private readonly entry: DirectoryEntry | undefined,
    /** Called once when the session ends, with the effect that does the rest of the work. */
    private readonly onEnd: (closing: Effect.Effect<void>) => void
  ) {
    const end = () => this.end()
    const isRestored = entry?.facts !== undefined
    const key = context.events === undefined ? undefined : this.keyOf(STANDALONE)
    this.standalone = new Standalone(context, key, isRestored, this.onLost)
    this.conversation = context.converse(this.standalone, end, entry)
  }

  /** The revision that `initialize` agreed on; `undefined` before. */
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

  /** Whether no request runs, and clients and event store have all that was sent. Then another node can go on with the session. */
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
    // An idle session should not cost the memory of an empty set.
    if (this.waiting?.size === 0) this.waiting = undefined
  }

  get isResumable(): boolean {
    return this.context.events !== undefined
  }

  /** Whether the stream of a call that requires these scopes can be resumed. */
  mayResume(scopes: ReadonlyArray<string> = []): boolean {
    return this.isResumable && EventId.guarded("", scopes) !== undefined
  }

  /** Whether a stream begins with an event that only names a position. Clients of older revisions would take this event for a message. */
  get primesStreams(): boolean {
    return this.isResumable && Version.primesStreams(this.version)
  }

  /** Passes a message to the conversation. The answer to the message leaves on the channel. */
  get receive(): SessionConversation["receive"] {
    return this.conversation.receive
  }

  /** Ends the standalone stream, so that the client opens it again at another node. */
  pause(): void {
    this.standalone.stream.pause()
  }

  /**
   * Ends the session: interrupts and answers running requests, and ends streams. Safe to call twice. With `isMoving`, the session goes on
   * at another node.
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
    // The events of a session that another node serves belong to that node.
    const ended = entry === undefined
      ? forget
      // Waits for `stored`, because the next node refuses events that this node stores later.
      : Effect.zipRight(
        this.stored,
        Effect.flatMap(entry.end(isMoving), (hasEnded) => hasEnded ? forget : Effect.void)
      )
    // Tried again, because the directory would keep the session for this node. When a node leaves, its sessions are free when its lease
    // ends.
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

  /** Ends the session at this node only, because other nodes may serve it. */
  abandon(): void {
    this.entry?.lose()
  }

  /** The function to call when another node has taken the session over; `undefined` on a single node. */
  get onLost(): (() => void) | undefined {
    const { entry } = this
    return entry && (() => entry.lose())
  }

  /** The key of the next stream, for a call that requires these scopes; `undefined` where its stream cannot be resumed. */
  nextStreamKey(scopes: ReadonlyArray<string> = []): StreamKey | undefined {
    if (!this.isResumable) return undefined
    const number = (++this.lastStream).toString(36)
    const { digits, prefix } = this.streamNames
    const name = EventId.guarded(prefix + number.padStart(digits, "0"), scopes)
    return name === undefined ? undefined : this.keyOf(name)
  }

  /** How this node names streams. Nodes that have served the session before have used other names. */
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

  /** The stream with this name: the stream of a running request, or a stream whose events are still stored. */
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
    // The names of later epochs have at least ten characters. In the first epoch, a node never begins so many streams that their names have
    // ten.
    const isOwn = prefix === "" ? name.length < 10 : name.startsWith(prefix) && name.length >= prefix.length + digits
    // A node that has served the session before may have ended while the request of the stream ran.
    if (!isOwn) stored.store?.recover(LOST)
    return stored
  }
}
