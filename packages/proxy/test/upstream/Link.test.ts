import { assert, describe, it } from "@effect/vitest"
import * as Connector from "@effect-mcp/core/Connector"
import type { Message } from "@effect-mcp/core/Message"
import type { LoggingLevel } from "@effect-mcp/core/protocol/Logging"
import { OwnCalls } from "@effect-mcp/core/unstable/client/ListPace"
import { Effect, Fiber, Layer, TestClock } from "effect"
import * as Link from "../../src/upstream/Link.js"
import { legacy, server } from "../Setting.js"

/** A link to an upstream that does not get the log levels of `lost`. */
const linked = (isShared: boolean, lost: Set<string>) =>
  Effect.gen(function*() {
    const sent: Array<string> = []
    const isLost = (message: Message) => {
      if (!("method" in message) || message.method !== "logging/setLevel") return false
      const { level } = message.params as { readonly level: string }
      sent.push(level)
      return lost.has(level)
    }
    const upstream = yield* server(Layer.empty, { versions: legacy })
    const connector = Connector.make(
      "losing",
      Effect.map(upstream.connect, (transport) => ({
        ...transport,
        send: (message: Message) => isLost(message) ? Effect.void : transport.send(message),
        unsafeSend: (message: Message) => isLost(message) || transport.unsafeSend(message)
      }))
    )
    const { setLevel } = yield* Link.open({
      name: "up",
      connector,
      client: { timeout: "10 seconds" },
      capabilities: {},
      calls: [new OwnCalls()],
      isShared,
      standalone: () => undefined
    })
    return {
      sent,
      /** Sets the level, until the upstream has answered or the request has timed out. */
      set: (level: LoggingLevel) =>
        Effect.gen(function*() {
          const setting = yield* Effect.fork(setLevel(level))
          yield* TestClock.adjust("10 seconds")
          yield* Fiber.join(setting)
        }),
      begin: setLevel
    }
  })

describe("A log level of a link", () => {
  it.scoped("is set once", () =>
    Effect.gen(function*() {
      const { sent, set } = yield* linked(false, new Set())
      yield* set("error")
      yield* set("error")
      assert.deepStrictEqual(sent, ["error"])
    }))

  it.scoped("is sent again when the upstream has not answered the first time", () =>
    Effect.gen(function*() {
      const lost = new Set(["error"])
      const { sent, set } = yield* linked(false, lost)
      yield* set("error")
      lost.clear()
      yield* set("error")
      yield* set("error")
      assert.deepStrictEqual(sent, ["error", "error"])
    }))

  it.scoped("that is lost leaves the level of a shared link as it was", () =>
    Effect.gen(function*() {
      const { sent, set } = yield* linked(true, new Set(["debug"]))
      yield* set("error")
      yield* set("debug")
      yield* set("error")
      yield* set("warning")
      assert.deepStrictEqual(sent, ["error", "debug", "warning"])
    }))

  it.scoped("that is cancelled leaves another that was set meanwhile", () =>
    Effect.gen(function*() {
      const { begin, sent, set } = yield* linked(false, new Set(["error"]))
      const setting = yield* Effect.fork(begin("error"))
      yield* Effect.yieldNow()
      yield* begin("info")
      yield* Fiber.interrupt(setting)
      yield* set("info")
      yield* set("error")
      assert.deepStrictEqual(sent, ["error", "info", "error"])
    }))
})
