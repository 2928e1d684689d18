import { assert, describe, it } from "@effect/vitest"
import * as ChangeBus from "@effect-mcp/core/ChangeBus"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Layer } from "effect"
import { call } from "../http/TestExchange.js"
import * as Posting from "../modern/Posting.js"
import { act, byHeader, serve, until } from "../Serving.js"
import * as Cluster from "./Cluster.js"

const methods = (exchange: { readonly messages: Array<any> }) => exchange.messages.map(({ method }) => method)

describe("a change for one client", () => {
  const server = serve(
    act(Effect.flatMap(ServerSession, ({ changed: { tools: toolListChanged } }) => toolListChanged)),
    byHeader
  )

  it.scoped("reaches the subscriptions of its principal at every node, and no others, from 2026-07-28 on", () =>
    Effect.gen(function*() {
      const bus = Layer.succeed(ChangeBus.ChangeBus, yield* ChangeBus.memory())
      const { node } = yield* Cluster.make(Layer.provide(server, bus))
      const [one, two] = [yield* node, yield* node]
      const listen = Posting.request("subscriptions/listen", { notifications: { toolsListChanged: true } })
      const at = (http: typeof one.http, authorization: string) => Posting.post(http, listen, { authorization })
      const streams = [at(one.http, "ada"), at(two.http, "ada"), at(two.http, "bob")]
      yield* until(() => streams.every(({ messages }) => messages.length === 1))
      yield* Posting.ask(one.http, Posting.request("tools/call", { name: "act" }), { authorization: "ada" })
      yield* until(() => streams.slice(0, 2).every(({ messages }) => messages.length === 2))
      for (let n = 0; n < 50; n++) yield* Effect.yieldNow()
      const own = ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]
      assert.deepStrictEqual(streams.map(methods), [own, own, own.slice(0, 1)])
    }))

  for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    it.scoped(`reaches the stream of its session at any node, and no others, at ${version}`, () =>
      Effect.gen(function*() {
        const { node } = yield* Cluster.make(server)
        const [one, two, three] = [yield* node, yield* node, yield* node]
        const own = yield* one.http.open(version, {}, { authorization: "ada" })
        const other = yield* one.http.open(version, {}, { authorization: "ada" })
        const streams = [two.of(own).get(), two.of(other).get()]
        yield* until(() => streams.every(({ status }) => status === 200))
        // The headers of a client are those of its session.
        yield* three.of(own).ask(call(1, "act"))
        yield* until(() => streams[0]!.messages.length === 1)
        for (let n = 0; n < 50; n++) yield* Effect.yieldNow()
        assert.deepStrictEqual(streams.map(methods), [["notifications/tools/list_changed"], []])
      }))
  }
})
