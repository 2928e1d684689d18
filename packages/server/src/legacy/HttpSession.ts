/**
 * One session over HTTP: its id, whom it belongs to, its conversation, the stream beside its requests, and those streams of
 * requests that can be resumed. A plain object and a conversation; everything in it ends with it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { Opened } from "../Dispatcher.js"
import type { StreamKey } from "../http/EventStore.js"
import type { Site } from "../http/Site.js"
import type { Lane } from "./Lane.js"
import type { Home } from "./Post.js"
import type { Kept } from "./SessionStore.js"
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
export class HttpSession implements Home, Kept {
  lastUsed = 0
  readonly standalone: Standalone
  /** None while it is being opened. */
  opened: Opened | undefined
  private scope: Scope.CloseableScope | undefined
  private lanes: Map<string, Lane> | undefined
  private streams = 0
  private ended = false

  constructor(
    private readonly site: Site,
    readonly id: string,
    /** The principal that opened it. */
    readonly owner: string | undefined,
    private readonly onOver: (closing: Effect.Effect<void>) => void
  ) {
    this.standalone = new Standalone(
      site,
      site.events === undefined ? undefined : { session: id, stream: STANDALONE },
      () => this.end()
    )
  }

  get isBusy(): boolean {
    return this.opened === undefined || this.standalone.isAttached || this.opened.inFlight() > 0
  }

  /** Begins its conversation; calls back without one when it has ended before. */
  open(then: (opened: Opened | undefined) => void): void {
    const opening = Effect.flatMap(Scope.make(), (scope) => {
      this.scope = scope
      return Scope.extend(this.site.dispatcher.open(this.standalone), scope)
    })
    Runtime.runFork(this.site.runtime, opening).addObserver((exit) => {
      if (Exit.isSuccess(exit)) this.opened = exit.value
      const ended = this.ended || Exit.isFailure(exit)
      if (ended) {
        this.ended = true
        this.standalone.end()
        this.close()
      }
      then(ended ? undefined : this.opened)
    })
  }

  /** Ends it: what is in flight is stopped and answered, streams end. Safe to call twice. */
  end(): void {
    if (this.ended) return
    this.ended = true
    this.standalone.end()
    if (this.opened !== undefined) this.close()
  }

  streamKey(): StreamKey | undefined {
    return this.site.events === undefined
      ? undefined
      : { session: this.id, stream: (++this.streams).toString(36).padStart(2, "0") }
  }

  enter(lane: Lane): void {
    this.lanes ??= new Map()
    this.lanes.set(lane.key!.stream, lane)
  }

  leave(lane: Lane): void {
    if (lane.key !== undefined) this.lanes?.delete(lane.key.stream)
  }

  /** The stream of this name, if its request is not answered yet. */
  lane(stream: string): Lane | undefined {
    return this.lanes?.get(stream)
  }

  private close(): void {
    const { scope, site } = this
    const closing = scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
    this.onOver(
      site.events === undefined ? closing : Effect.zipRight(closing, site.events.forget(this.id))
    )
  }
}
