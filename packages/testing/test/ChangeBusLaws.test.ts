import { describe } from "@effect/vitest"
import type { Change, ChangeBusService, Member } from "@effect-mcp/core/ChangeBus"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import { laws } from "@effect-mcp/testing/ChangeBusLaws"
import { Effect, Queue, Stream } from "effect"
import { found } from "./Faults.js"

const members = (change: (member: Member) => Partial<Member>) => (bus: ChangeBusService): ChangeBusService => ({
  join: Effect.map(bus.join, (member) => ({ ...member, ...change(member) }))
})

describe("The laws of a bus", () => {
  found(laws, ChangeBus.memory(), {
    "loses the key of a notification": [
      members(({ publish }) => ({
        publish: (change) =>
          publish(
            change._tag === "Extension"
              ? { ...change, notification: { ...change.notification, key: undefined } }
              : change
          )
      })),
      "delivers every change to the other members, in order and unchanged"
    ],
    "drops without a word what is too much": [
      members(({ changes }) => ({ changes: Stream.filter(changes, ({ _tag }) => _tag !== "Unknown") })),
      "gives Unknown to a slow reader instead of the missed changes"
    ],
    "brings changes back to their publisher": [
      ({ join }) => ({
        join: Effect.gen(function*() {
          const own = yield* Queue.unbounded<Change>()
          const { changes, publish } = yield* join
          return {
            publish: (change: Change) => Effect.zipRight(publish(change), own.offer(change)),
            changes: Stream.merge(changes, Stream.fromQueue(own))
          }
        })
      }),
      "does not deliver a change to the member that has published the change"
    ],
    "joins when a member begins to read": [
      ({ join }) => ({
        join: Effect.map(join, ({ publish }) => ({
          publish,
          changes: Stream.unwrapScoped(Effect.map(join, ({ changes }) => changes))
        }))
      }),
      "misses no change after it has joined, even if it reads later"
    ],
    "gives a new member what came before it": [
      ({ join }) => {
        const all: Array<Change> = []
        return {
          join: Effect.map(join, ({ changes, publish }) => {
            const before = [...all]
            return {
              publish: (change: Change) => Effect.zipRight(Effect.sync(() => all.push(change)), publish(change)),
              changes: Stream.concat(Stream.fromIterable(before), changes)
            }
          })
        }
      },
      "does without a member that has left"
    ]
  })
})
