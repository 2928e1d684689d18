/**
 * Keeps this node a member of the nodes that serve the same sessions, for `Nodes`. It joins with a name that no node has had, keeps the
 * node's sessions in the directory, checks whether the nodes that this node waits for are alive, and reads the node's inbox. When the node
 * has lost its lease or its inbox, it joins again under another name. `Routing` and `ForwardedRequests` work with the current place.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as EventLoop from "../../kit/EventLoop.js"
import * as Race from "../../kit/Race.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import type { InboxService, Mailbox } from "../Inbox.js"
import type { Membership, SessionDirectoryService } from "../SessionDirectory.js"
import * as Metrics from "../telemetry/Metrics.js"

/** What a member has from the moment when it joins until it has lost its lease. */
export interface Place {
  readonly node: string
  readonly membership: Membership
  readonly mailbox: Mailbox
}

/** The functions that this module calls while the node has a place. */
export interface Work {
  /**
   * Called with a place when this node has joined, and with `undefined` when it has no place any more: then other nodes may serve its
   * sessions.
   */
  readonly onPlace: (place: Place | undefined) => void
  /** The sessions that this node serves. */
  readonly sessions: () => Iterable<string>
  /** The nodes that this node waits for. */
  readonly awaited: () => ReadonlySet<string>
  /** Called when a node has ended that this node waits for. */
  readonly onEnded: (node: string) => void
  readonly onText: (text: string, place: Place) => void
}

/** How often this node checks whether the nodes that it waits for are alive. */
const WATCH = Duration.millis(500)

/** How often this node tells the directory to keep its sessions. */
const TOUCH = Duration.minutes(1)

/** A text with more characters than this is long. */
const LONG = 256 * 1024

/**
 * Keeps this node a member, until it is interrupted. Completes `joined` when the node is a member for the first time, or when it cannot
 * become a member.
 */
export const keep = (
  directory: SessionDirectoryService,
  inbox: InboxService,
  work: Work,
  joined: Deferred.Deferred<void, unknown>
): Effect.Effect<void> => {
  const watch = ({ membership }: Place) =>
    Effect.suspend(() =>
      Effect.forEach(
        work.awaited(),
        (node) =>
          Effect.map(Effect.orElseSucceed(membership.isAlive(node), () => true), (isAlive) => {
            if (!isAlive) work.onEnded(node)
          }),
        { discard: true }
      )
    )
  const touch = ({ membership }: Place) => Effect.suspend(() => Effect.ignore(membership.touch([...work.sessions()])))
  const member = ScopeEnd.scoped(Effect.gen(function*() {
    const node = globalThis.crypto.randomUUID().replaceAll("-", "")
    const place: Place = { node, membership: yield* directory.join(node), mailbox: yield* inbox.open(node) }
    yield* Effect.acquireRelease(
      Effect.sync(() => work.onPlace(place)),
      () => Effect.sync(() => work.onPlace(undefined))
    )
    const receiving = yield* Effect.forkScoped(
      Stream.runForEach(place.mailbox.received, (text) =>
        Effect.catchAllDefect(
          // A request of megabytes takes as long to read as many turns of the event loop, and this node must renew its lease in them.
          Effect.zipRight(
            text.length > LONG ? EventLoop.turn : Effect.void,
            Effect.sync(() => work.onText(text, place))
          ),
          // A defect here does not end the sessions of this node.
          (defect) => Effect.logError("This node could not read what another node has sent", defect)
        ))
    )
    yield* Effect.forkScoped(Effect.repeat(watch(place), Schedule.spaced(WATCH)))
    yield* Effect.forkScoped(Effect.repeat(touch(place), Schedule.spaced(TOUCH)))
    yield* Deferred.succeed(joined, undefined)
    // Without its inbox this node gets no requests of other nodes, while they take it for alive.
    yield* Race.raceFirst(place.membership.lost, Fiber.join(receiving))
    Metrics.add(Metrics.leaseLost)
    yield* Effect.logError("This node has lost its lease or its inbox: its sessions end here, and go on at other nodes")
  }))
  return member.pipe(
    Effect.onExit((exit) => Exit.isFailure(exit) ? Deferred.failCause(joined, exit.cause) : Effect.void),
    // Not reached when this fiber is interrupted, but when the directory or the inbox interrupts itself.
    Effect.catchAllCause((cause) =>
      Option.isSome(Cause.failureOption(cause))
        ? Effect.logDebug("This node could not join the others", cause)
        : Effect.logError("This node has lost its place, and joins the others again", cause)
    ),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid
  )
}
