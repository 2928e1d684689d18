/**
 * One session over HTTP: its id, its owner, its conversation, its standalone stream, and the streams of POSTs that clients can resume.
 * `Http` opens and finds sessions; everything of a session ends with it.
 *
 * A class with mutable fields because an idle session may cost 4 KB: it is this object, its transport (`Standalone`) and a conversation,
 * without a fiber or a scope. `ended` is set once; `streams` exists only while a stream can be resumed, and `waiting` while requests run.
 *
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

/** How the entry of a session that has ended is removed again, after the directory did not answer. */
export const ENDING_AGAIN = Schedule.jittered(
  Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))
)

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
  /**
   * The calls that require scopes, so that not every token of the user may cancel them or answer their questions; `undefined` as long as
   * there was no such call.
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
    /** The id of the principal that opened it. */
    readonly owner: string | undefined,
    /** Its entry in the directory that nodes share. */
    private readonly entry: DirectoryEntry | undefined,
    /** Called once with the work that is left when the session ends. */
    private readonly onEnd: (closing: Effect.Effect<void>) => void
  ) {
    const end = () => this.end()
    const isRestored = entry?.facts !== undefined
    const key = context.events === undefined ? undefined : this.keyOf(STANDALONE)
    this.standalone = new Standalone(context, key, isRestored, this.onLost)
    this.conversation = context.converse(this.standalone, end, entry)
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

  /** Whether no request runs, and clients and store have all that was sent: another node can go on with the session. */
  get isSettled(): boolean {
    return this.conversation.inFlight() === 0 && this.waiting === undefined && !this.standalone.stream.isStoring &&
      [...this.streams?.values() ?? []].every(({ isSettled }) => isSettled)
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

  /** Whether the stream of a call that requires these scopes can be resumed. */
  mayResume(scopes: ReadonlyArray<string> = []): boolean {
    return this.isResumable && EventId.guarded("", scopes) !== undefined
  }

  /** Whether a stream begins with an event that names a position. Clients of older revisions take it for a message. */
  get primesStreams(): boolean {
    return this.isResumable && Version.primesStreams(this.version)
  }

  /** Passes a message to the conversation. Its answer leaves on the channel. */
  get receive(): SessionConversation["receive"] {
    return this.conversation.receive
  }

  /** Ends the standalone stream, which the client opens again at another node. */
  pause(): void {
    this.standalone.stream.pause()
  }

  /**
   * Ends it: running requests are interrupted and answered, streams end. Safe to call twice. With `isMoving`, another node
   * goes on with it.
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
    // The events of a session that another node serves are its own.
    const ended = entry === undefined
      ? forget
      // The next node refuses what this node has not stored.
      : Effect.zipRight(
        this.stored,
        Effect.flatMap(entry.end(isMoving), (hasEnded) => hasEnded ? forget : Effect.void)
      )
    // Otherwise the directory would keep the session for this node. The session of a node that leaves is free when the lease of the node
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

  /** Other nodes may serve the session: ends it here only. */
  abandon(): void {
    this.entry?.lose()
  }

  /** Another node has taken the session over. */
  get onLost(): (() => void) | undefined {
    const { entry } = this
    return entry && (() => entry.lose())
  }

  /** The key of the next stream, of a call that requires these scopes; none where streams cannot be resumed. */
  nextStreamKey(scopes: ReadonlyArray<string> = []): StreamKey | undefined {
    if (!this.isResumable) return undefined
    const number = (++this.lastStream).toString(36)
    const { digits, prefix } = this.streamNames
    const name = EventId.guarded(prefix + number.padStart(digits, "0"), scopes)
    return name === undefined ? undefined : this.keyOf(name)
  }

  /** How this node names streams: the nodes that have served the session before have used other names. */
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

  /** The stream of this name: the stream of a running request, or a stream whose events are still stored. */
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
    // The names of later epochs have at least ten characters. In the first epoch no node begins as many streams as would have such names.
    const isOwn = prefix === "" ? name.length < 10 : name.startsWith(prefix) && name.length >= prefix.length + digits
    // A node that has served the session before may have ended while the request ran.
    if (!isOwn) stored.store?.recover(LOST)
    return stored
  }
}
