/**
 * Keeps this node a member of the nodes that serve the same sessions, for `Nodes`. This module joins with a name that no node has had
 * before, and keeps the node's sessions in the directory. It reads the node's inbox, and checks whether the nodes whose answers this node
 * needs are alive. When the node has lost its lease or its inbox, this module joins again with another name. A `Place` contains the current
 * name, membership and inbox, for `Routing` and `ForwardedRequests`.
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

/** The name, the membership and the inbox of a node, from its joining until it has lost its lease or its inbox. */
export interface Place {
  readonly node: string
  readonly membership: Membership
  readonly mailbox: Mailbox
}

/** The functions that this module calls. */
export interface Work {
  /**
   * Called with the place when this node has joined, and with `undefined` when this node is no longer a member. Then other nodes may serve
   * the sessions of this node.
   */
  readonly onPlace: (place: Place | undefined) => void
  /** The sessions that this node serves. */
  readonly sessions: () => Iterable<string>
  /** The nodes whose answers this node needs. */
  readonly awaited: () => ReadonlySet<string>
  /** Called when one of the awaited nodes has ended. */
  readonly onEnded: (node: string) => void
  readonly onText: (text: string, place: Place) => void
}

/** How often this node checks whether the awaited nodes are alive. */
const WATCH = Duration.millis(500)

/** How often this node tells the directory to keep the sessions of this node. */
const TOUCH = Duration.minutes(1)

/** The greatest length of a short text, in characters. */
const LONG = 256 * 1024

/**
 * Keeps this node a member, until this effect is interrupted. Completes `joined` when the node has joined for the first time, or cannot
 * join.
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
          // Reading a request of megabytes blocks the event loop for a long time. Between two such texts, this node must be able to renew
          // its lease.
          Effect.zipRight(
            text.length > LONG ? EventLoop.turn : Effect.void,
            Effect.sync(() => work.onText(text, place))
          ),
          // A defect while reading a text must not end the sessions of this node.
          (defect) => Effect.logError("This node could not read what another node has sent", defect)
        ))
    )
    yield* Effect.forkScoped(Effect.repeat(watch(place), Schedule.spaced(WATCH)))
    yield* Effect.forkScoped(Effect.repeat(touch(place), Schedule.spaced(TOUCH)))
    yield* Deferred.succeed(joined, undefined)
    // Without its inbox, this node would get no requests of other nodes, although the other nodes treat this node as alive.
    yield* Race.raceFirst(place.membership.lost, Fiber.join(receiving))
    Metrics.add(Metrics.leaseLost)
    yield* Effect.logError("This node has lost its lease or its inbox: its sessions end here, and go on at other nodes")
  }))
  return member.pipe(
    Effect.onExit((exit) => Exit.isFailure(exit) ? Deferred.failCause(joined, exit.cause) : Effect.void),
    // Does not run when this fiber is interrupted. Runs when the directory or the inbox interrupts itself.
    Effect.catchAllCause((cause) =>
      Option.isSome(Cause.failureOption(cause))
        ? Effect.logDebug("This node could not join the other nodes", cause)
        : Effect.logError("This node is no longer a member of the nodes, and joins them again", cause)
    ),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid
  )
}
