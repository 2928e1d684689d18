/**
 * Listens to channels of Redis for a node, over one connection of `RedisConnection`. A message has no data: this module only calls the
 * listeners of the channel, and each listener then reads the state from Redis. Redis does not repeat messages that it sent while the
 * connection was lost. So when the connection listens again, this module calls all listeners.
 *
 * The map `listeners` contains only channels that have at least one listener.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { RedisError } from "../RedisError.js"
import type { Client } from "./RedisClient.js"

/** How many channels one SUBSCRIBE command names at most. */
const PORTION = 1000

/** How often this module sends a PING on the connection. When no reply to the PING arrives, the driver replaces the connection. */
const CHECK = "2 seconds"

export class Subscriptions {
  private readonly listeners = new Map<string, Set<() => void>>()

  constructor(private readonly client: Client) {
    client.driver.on("message", (channel: string) => this.wake(channel))
  }

  add(channel: string, listener: () => void): Effect.Effect<void, RedisError, Scope.Scope> {
    return Effect.flatMap(
      Effect.acquireRelease(
        Effect.sync(() => {
          const own = () => listener()
          const present = this.listeners.get(channel)
          if (present === undefined) this.listeners.set(channel, new Set([own]))
          else present.add(own)
          return own
        }),
        (own) => this.remove(channel, own)
      ),
      // Each listener subscribes to its channel, because the subscription of an earlier listener may fail.
      (own) => Effect.onError(this.client.command("SUBSCRIBE", channel), () => this.remove(channel, own))
    )
  }

  private remove(channel: string, listener: () => void): Effect.Effect<void> {
    return Effect.suspend(() => {
      const present = this.listeners.get(channel)
      if (!present?.delete(listener) || present.size > 0) return Effect.void
      this.listeners.delete(channel)
      if (this.client.driver.status !== "ready") return Effect.void
      const unsubscribed = Effect.ignore(this.client.command("UNSUBSCRIBE", channel))
      // A new listener may have been added in the meantime, so this effect subscribes to the channel again if needed.
      return Effect.zipRight(unsubscribed, Effect.ignore(this.subscribed([channel])))
    })
  }

  private subscribed(all: Iterable<string>): Effect.Effect<void, RedisError> {
    return Effect.suspend(() => {
      const channels = Arr.filter(all, (channel) => this.listeners.has(channel))
      return channels.length === 0 ? Effect.void : Effect.map(
        this.client.command("SUBSCRIBE", ...channels),
        () => channels.forEach((channel) => this.wake(channel))
      )
    })
  }

  /** Subscribes to all channels on a new connection. */
  readonly again: Effect.Effect<void, RedisError> = Effect.suspend(() =>
    Effect.forEach(Arr.chunksOf(this.listeners.keys(), PORTION), (channels) => this.subscribed(channels), {
      discard: true
    })
  )

  private wake(channel: string): void {
    for (const listener of this.listeners.get(channel) ?? []) listener()
  }
}

export const make = (client: Client): Effect.Effect<Subscriptions, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { command, driver } = client
    const subscriptions = new Subscriptions(client)
    const connected = yield* Queue.sliding<void>(1)
    driver.on("ready", () => void Queue.unsafeOffer(connected, undefined))
    // If this connection is lost in the meantime, the event "ready" of the next connection runs this effect again.
    const again = subscriptions.again.pipe(
      Effect.tapError((error) => Effect.logDebug(`Channels are subscribed to again: ${error.message}`)),
      Effect.retry({ schedule: Schedule.spaced("200 millis"), while: () => driver.status === "ready" })
    )
    const subscribing = Effect.forever(Effect.zipRight(Queue.take(connected), Effect.ignore(again)))
    const check = Effect.suspend(() => driver.status === "ready" ? Effect.ignore(command("PING")) : Effect.void)
    const checking = Effect.repeat(check, Schedule.spaced(CHECK))
    for (const running of [subscribing, checking]) yield* Effect.forkScoped(Effect.interruptible(running))
    return subscriptions
  })
