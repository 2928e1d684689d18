import { assert, describe, it } from "@effect/vitest"
import type * as Message from "@effect-mcp/core/Message"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer, Schema } from "effect"
import { act, serve, until } from "./Serving.js"

describe("The notifications of an extension", () => {
  const shape = { params: Schema.Struct({}) }
  const Parcels = Extension.make("com.example/parcels", {
    notifications: {
      lost: Extension.notification("parcels/lost", { ...shape, from: "client" }),
      lostOld: Extension.notification("parcels/lost-old", { ...shape, from: "client", until: "2025-11-25" }),
      lostNew: Extension.notification("parcels/lost-new", { ...shape, from: "client", since: "2026-07-28" }),
      sent: Extension.notification("parcels/sent", shape),
      sentOld: Extension.notification("parcels/sent-old", { ...shape, until: "2025-11-25" }),
      sentNew: Extension.notification("parcels/sent-new", { ...shape, since: "2026-07-28" })
    }
  })
  const { lost, lostNew, lostOld, sent, sentNew, sentOld } = Parcels.notifications
  const capabilities = { extensions: { [Parcels.id]: {} } }
  const clients = {
    "2025-11-25": (capabilities: JsonObject) =>
      Effect.tap(TestPeer.client(), (peer) => peer.initialize({ capabilities })),
    "2026-07-28": (capabilities: JsonObject) =>
      Effect.map(TestPeer.client({ extensions: [Parcels] }), (peer) => peer.modern({ capabilities }))
  }

  for (const [version, client] of Object.entries(clients)) {
    const own = version === "2025-11-25" ? "old" : "new"

    it.effect(`MUST NOT be handled when the client has not declared it, or ${version} does not have them`, () => {
      const heard: Array<string> = []
      const hear = [lost, lostOld, lostNew].map((notification) =>
        MethodHandler.notification(notification, () => Effect.sync(() => heard.push(notification.name)))
      )
      return Effect.gen(function*() {
        for (const declared of [{}, capabilities]) {
          const peer = yield* client(declared)
          for (const { name } of [lostNew, lostOld, lost]) yield* peer.notify(name, {})
          yield* peer.expectSilence
        }
        yield* until(() => heard.includes(lost.name))
        assert.deepStrictEqual(heard, [`parcels/lost-${own}`, lost.name])
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(Layer.mergeAll(...(hear as [typeof hear[0]])), { extensions: [Parcels] }))
      )
    })

    it.effect(`MUST NOT be sent to a client that has not declared it, and in ${version} only those that it has`, () => {
      const send = act(
        Effect.flatMap(
          RequestContext,
          ({ notify }) => Effect.forEach([sentNew, sentOld, sent], (notification) => notify(notification, {}))
        )
      )
      const received = (declared: JsonObject) =>
        Effect.gen(function*() {
          const peer = yield* client(declared)
          const id = yield* peer.request("tools/call", { name: "act" })
          const methods: Array<string> = []
          for (let message = yield* peer.next; !("id" in message && message.id === id); message = yield* peer.next) {
            methods.push((message as Message.Notification).method)
          }
          return methods
        })
      return Effect.gen(function*() {
        const on = (extensions: ReadonlyArray<typeof Parcels>) =>
          Effect.forEach([{}, capabilities], received).pipe(
            Effect.scoped,
            Effect.provide(serve(send, { extensions }))
          )
        assert.deepStrictEqual(yield* on([Parcels]), [[], [`parcels/sent-${own}`, sent.name]])
        assert.deepStrictEqual(yield* on([]), [[], []])
      })
    })
  }
})
