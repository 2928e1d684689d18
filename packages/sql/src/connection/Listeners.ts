/**
 * Those in this process that wait for wake-ups, by their channels.
 * It calls them; what they then read is up to them.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Listeners {
  readonly wake: (channel: string) => void
  readonly wakeAll: () => void
  readonly add: (channel: string, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}

export const make = (): Listeners => {
  const channels = new Map<string, Set<() => void>>()
  const wake = (channel: string) => channels.get(channel)?.forEach((listener) => listener())
  return {
    wake,
    wakeAll: () => channels.forEach((_, channel) => wake(channel)),
    add: (channel, listener) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => {
          const listeners = channels.get(channel) ?? new Set()
          channels.set(channel, listeners.add(listener))
          return listeners
        }),
        (listeners) =>
          Effect.sync(() => {
            listeners.delete(listener)
            if (listeners.size === 0) channels.delete(channel)
          })
      ))
  }
}
