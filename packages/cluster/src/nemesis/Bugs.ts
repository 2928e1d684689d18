/**
 * Known mistakes of distributed servers, built into a node on purpose: a store that ignores epochs, and messages that are not stored. (The
 * epoch of a session is a number that increases each time a node claims the session.) A run must find such a mistake; otherwise the run
 * proves nothing.
 */
import { type Change, ChangeBus, type ChangeBusService } from "@effect-mcp/core/ChangeBus"
import { EventStore } from "@effect-mcp/core/EventStore"
import { Inbox, type InboxService } from "@effect-mcp/core/Inbox"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import type { RedisError } from "@effect-mcp/redis/RedisError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { connect, type Socket } from "node:net"
import { createInterface } from "node:readline"

/** Makes a store that ignores epochs. It accepts the writes of nodes that have lost a session. */
export const withoutFencing = <E, R>(store: Layer.Layer<EventStore, E, R>): Layer.Layer<EventStore, E, R> =>
  Layer.effect(
    EventStore,
    Effect.map(EventStore, (events) => ({
      open: (key, requests) => events.open({ ...key, epoch: undefined }, requests),
      unfinished: (key) => events.unfinished(key),
      append: (key, event) => events.append({ ...key, epoch: undefined }, event),
      after: (key, position) => events.after(key, position),
      finish: (key) => events.finish({ ...key, epoch: undefined }),
      forget: (session) => events.forget(session)
    }))
  ).pipe(Layer.provide(store))

/**
 * Returns the messages of a channel. A broken connection is opened again after 200 ms, and the messages in between are lost. In the answer
 * of Redis, each message is the fourth line after the line "message".
 */
const subscribed = (url: string, channel: string) =>
  Effect.gen(function*() {
    const texts = yield* Queue.unbounded<string>()
    const { hostname, port } = new URL(url)
    let isOver = false
    let socket: Socket | undefined
    const open = () => {
      if (isOver) return
      const lines: Array<string> = []
      socket = connect(Number(port), hostname, () => socket?.write(`SUBSCRIBE ${channel}\r\n`))
      socket.on("error", () => {}).on("close", () => setTimeout(open, 200))
      createInterface({ input: socket }).on("error", () => {}).on("line", (line) => {
        if (lines.length === 4 && lines.shift() === "message") Queue.unsafeOffer(texts, decodeURIComponent(line))
        lines.push(line)
      })
    }
    yield* Effect.acquireRelease(
      Effect.sync(open),
      () =>
        Effect.sync(() => {
          isOver = true
          socket?.destroy()
        })
    )
    return Stream.fromQueue(texts)
  })

/** Provides inboxes and a bus over the channels of Redis. These channels do not store messages. */
export const publishAndSubscribe = (url: string): Layer.Layer<ChangeBus | Inbox, RedisError> => {
  const services = Effect.gen(function*() {
    const { command } = yield* RedisConnection.RedisConnection
    const publish = (channel: string, text: string) =>
      Effect.ignore(command("PUBLISH", channel, encodeURIComponent(text)))
    const inbox: InboxService = {
      open: (node) =>
        Effect.map(subscribed(url, `inbox:${node}`), (received) => ({
          send: (to, text) => publish(`inbox:${to}`, text),
          received
        }))
    }
    const bus: ChangeBusService = {
      join: Effect.map(subscribed(url, "changes"), (all) => {
        const id = crypto.randomUUID()
        return {
          publish: (change) => publish("changes", JSON.stringify({ id, change })),
          changes: all.pipe(
            Stream.map((text) => JSON.parse(text) as { readonly id: string; readonly change: Change }),
            Stream.filterMap((message) => message.id === id ? Option.none() : Option.some(message.change))
          )
        }
      })
    }
    return Context.make(Inbox, inbox).pipe(Context.add(ChangeBus, bus))
  })
  return Layer.provide(Layer.effectContext(services), RedisConnection.layerWith({ url }))
}
