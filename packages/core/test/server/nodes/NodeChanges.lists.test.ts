import { assert, describe, it } from "@effect/vitest"
import type { Kind, RegistryService } from "@effect-mcp/core/Registry"
import { Deferred, Effect, Exit, Scope, TestClock } from "effect"
import * as NodeChanges from "../../../src/server/nodes/NodeChanges.js"
import { until } from "../Serving.js"

/** A registry that changes when a test says so. */
const changing = () => {
  const listeners = new Set<(kind: Kind) => void>()
  const registry: Pick<RegistryService, "onChange"> = {
    onChange: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
  }
  return {
    registry: registry as RegistryService,
    listeners,
    change: () => listeners.forEach((listener) => listener("tools"))
  }
}

describe("Changes of lists", () => {
  it.scoped("are announced once, however many occur at once", () =>
    Effect.gen(function*() {
      const { change, registry } = changing()
      let told = 0
      yield* NodeChanges.announce(registry, () => Effect.sync(() => told++))
      for (let i = 0; i < 1000; i++) change()
      assert.strictEqual(told, 0)
      yield* until(() => told > 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(told, 1)
    }))

  it.scoped("are announced again when they occur later", () =>
    Effect.gen(function*() {
      const { change, registry } = changing()
      let told = 0
      yield* NodeChanges.announce(registry, () => Effect.sync(() => told++))
      for (const go of [1, 2, 3]) {
        change()
        yield* until(() => told === go)
      }
    }))

  it.scoped("that occur during an announcement are announced after it", () =>
    Effect.gen(function*() {
      const { change, registry } = changing()
      const gate = yield* Deferred.make<void>()
      let telling = 0
      let told = 0
      yield* NodeChanges.announce(registry, () => {
        telling++
        return Effect.zipRight(Deferred.await(gate), Effect.sync(() => told++))
      })
      change()
      yield* until(() => telling === 1)
      change()
      change()
      yield* Effect.forEach([1, 2, 3], () => Effect.yieldNow())
      assert.strictEqual(telling, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => told === 2)
      assert.strictEqual(telling, 2)
    }))

  it.scoped("are never lost, whenever they occur", () =>
    Effect.gen(function*() {
      const { change, registry } = changing()
      let changes = 0
      let heard = 0
      yield* NodeChanges.announce(registry, () => Effect.sync(() => heard = changes))
      for (let turns = 0; turns < 50; turns++) {
        changes++
        change()
        for (let i = 0; i < turns % 7; i++) yield* Effect.yieldNow()
        yield* until(() => heard === changes)
      }
    }))

  it.effect("are not announced after the scope has closed, not even those under way", () =>
    Effect.gen(function*() {
      const { change, listeners, registry } = changing()
      let stopped = 0
      let telling = 0
      const scope = yield* Scope.make()
      yield* Scope.extend(
        NodeChanges.announce(registry, () =>
          Effect.onInterrupt(
            Effect.zipRight(Effect.sync(() => telling++), Effect.never),
            () => Effect.sync(() => stopped++)
          )),
        scope
      )
      change()
      yield* until(() => telling === 1)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(stopped, 1)
      assert.strictEqual(listeners.size, 0)
    }))
})
