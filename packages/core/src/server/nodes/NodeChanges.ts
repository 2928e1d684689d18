/**
 * Delivers changes to the clients of this node, for `dispatch/Dispatch`. With a `ChangeBus`, this module also sends each change to the
 * other nodes. A slow bus never delays the delivery at this node: changes wait for the bus in a queue, at most one change for each key, up
 * to a limit.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Release from "../../kit/Release.js"
import * as ScopeEnd from "../../kit/ScopeEnd.js"
import { SerialQueue } from "../../kit/SerialQueue.js"
import { type Change, ChangeBus, type ChangeBusService, type Member } from "../ChangeBus.js"
import type { Kind, RegistryService } from "../Registry.js"

/** How many changes may wait for the bus. When more changes wait, one change `Unknown` replaces all of them. */
export const MAX_WAITING = 1024

/**
 * Calls `deliver` with every change of this node and of the other nodes, until the scope closes. Gives a function for changes that do not
 * come from the registry. The function delivers a change at this node, and shares the change with the other nodes.
 */
export const deliver = (
  registry: RegistryService,
  deliver: (change: Change) => Effect.Effect<void>
): Effect.Effect<(change: Change) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const bus = yield* Effect.serviceOption(ChangeBus)
    const changed = Option.isNone(bus) ? deliver : yield* sharing(bus.value, deliver)
    yield* announce(registry, (kind) => changed({ _tag: "List", kind }))
    yield* registry.onUpdate((uri) => changed({ _tag: "Resource", uri }))
    yield* registry.onNotify((notification) => changed({ _tag: "Extension", notification }))
    return changed
  })

/**
 * Runs `notify` once for each kind of list that has changed since the last announcement, until the scope closes. An announcement first
 * waits until all ready fibers have run. So a feature layer that adds a hundred tools causes only one announcement.
 */
export const announce = (
  registry: RegistryService,
  notify: (kind: Kind) => Effect.Effect<void>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = new SerialQueue({ runtime: yield* EffectInternals.services })
    yield* Effect.addFinalizer(() => Release.stop(queue))
    yield* registry.onChange((kind) => {
      queue.add(() => Effect.yieldNow(), undefined, "turn")
      queue.add(() => notify(kind), undefined, kind)
    })
  })

/**
 * Shares changes over a bus, which the application may have written itself. When the stream of changes ends, this node joins the bus again,
 * and the clients of all nodes are notified that everything may have changed.
 */
const sharing = (bus: ChangeBusService, deliver: (change: Change) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const joined = yield* Deferred.make<void>()
    let publish: Member["publish"] = () => Effect.void
    const delivered = (change: Change) =>
      Effect.catchAllCause(deliver(change), (cause) => Effect.logError("A change could not be delivered", cause))
    const published = (change: Change) =>
      Effect.catchAllCause(
        Effect.suspend(() => publish(change)),
        (cause) => Effect.logError("A change could not be sent to the other nodes", cause)
      )
    const member = ScopeEnd.scoped(Effect.gen(function*() {
      const own = yield* bus.join
      publish = own.publish
      if (!(yield* Deferred.succeed(joined, undefined))) {
        yield* published({ _tag: "Unknown" })
        yield* delivered({ _tag: "Unknown" })
      }
      yield* Stream.runForEach(own.changes, delivered)
    }))
    yield* member.pipe(
      Effect.onError((cause) => Deferred.failCause(joined, cause)),
      Effect.as(Cause.empty),
      Effect.catchAllCause(Effect.succeed),
      Effect.flatMap((cause) => Effect.logError("This node has lost the bus of changes, and joins it again", cause)),
      Effect.repeat(Schedule.spaced("1 second")),
      Effect.interruptible,
      Effect.forkScoped
    )
    yield* Deferred.await(joined)
    const waiting = new SerialQueue({ capacity: MAX_WAITING, surplus: published({ _tag: "Unknown" }) })
    yield* Effect.addFinalizer(() => Release.stop(waiting))
    return (change: Change) => Effect.zipRight(deliver(change), waiting.fork(published(change), keyOf(change)))
  })

/**
 * Gives the key of a change. When two changes have the same key, only the later change must be sent. `undefined` for a change that must
 * always be sent.
 */
const keyOf = (change: Change): string | undefined => {
  switch (change._tag) {
    case "List":
      return `list ${change.kind} ${change.principal ?? ""}`
    case "Resource":
      return `resource ${change.uri}`
    case "Extension": {
      const { key, method } = change.notification
      return key === undefined ? undefined : `extension ${method} ${key}`
    }
    case "Unknown":
      return "unknown"
  }
}
