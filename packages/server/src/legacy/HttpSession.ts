/**
 * One session over HTTP: its id, whom it belongs to, its conversation, the stream beside its requests, and those streams of
 * requests that can be resumed. A plain object and a conversation; everything in it ends with it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { FedConversation } from "../Dispatcher.js"
import type { StreamKey } from "../EventStore.js"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { Home } from "./Post.js"
import { ResumableStream } from "./ResumableStream.js"
import type { StoredSession } from "./SessionStore.js"
import { Standalone } from "./Standalone.js"

/**
 * The name of the stream beside all requests.
 *
 * @since 0.1.0
 * @category constants
 */
export const STANDALONE = "g"

/**
 * @since 0.1.0
 * @category models
 */
export class HttpSession implements Home, StoredSession {
  lastUsed = 0
  readonly standalone: Standalone
  readonly opened: FedConversation
  private lanes: Map<string, ResumableStream> | undefined
  private streams = 0
  private ended = false

  constructor(
    private readonly site: EndpointContext,
    readonly id: string,
    /** The principal that opened it. */
    readonly owner: string | undefined,
    private readonly onOver: (closing: Effect.Effect<void>) => void
  ) {
    this.standalone = new Standalone(
      site,
      site.events === undefined ? undefined : { session: id, stream: STANDALONE }
    )
    this.opened = site.dispatcher.open(this.standalone, () => this.end())
  }

  get isBusy(): boolean {
    return this.standalone.isAttached || this.opened.inFlight() > 0
  }

  /** Ends it: what is in flight is stopped and answered, streams end. Safe to call twice. */
  end(): void {
    if (this.ended) return
    this.ended = true
    this.standalone.end()
    for (const lane of this.lanes?.values() ?? []) lane.stop()
    const { opened, site } = this
    this.onOver(
      site.events === undefined ? opened.close : Effect.zipRight(opened.close, site.events.forget(this.id))
    )
  }

  streamKey(): StreamKey | undefined {
    return this.site.events === undefined
      ? undefined
      : { session: this.id, stream: (++this.streams).toString(36).padStart(2, "0") }
  }

  enter(lane: ResumableStream): void {
    this.lanes ??= new Map()
    this.lanes.set(lane.key!.stream, lane)
  }

  leave(lane: ResumableStream): void {
    const { key } = lane
    if (key !== undefined && this.lanes?.get(key.stream) === lane) this.lanes.delete(key.stream)
  }

  /** The stream of this name: of a request that is not answered yet, or to be read again, by one reader at a time. */
  lane(stream: string): ResumableStream {
    const known = this.lanes?.get(stream)
    if (known !== undefined) return known
    const past = ResumableStream.past(this.site, { session: this.id, stream }, () => this.leave(past))
    this.enter(past)
    return past
  }
}
