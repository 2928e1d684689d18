import { assert, describe, it } from "@effect/vitest"
import * as Connector from "@effect-mcp/core/Connector"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as Transport from "@effect-mcp/core/Transport"
import { Context, Effect } from "effect"
import { peer } from "./ScriptedPeer.js"

class Address extends Context.Tag("Address")<Address, string>() {}

describe("Connector", () => {
  it.scoped("opens a transport that exists already", () =>
    Effect.gen(function*() {
      const [here, there] = yield* Transport.memory()
      const connector = Connector.fromTransport(here)
      assert.strictEqual(connector.name, "transport")
      assert.strictEqual(Connector.fromTransport(here, "notes").name, "notes")
      assert.strictEqual(yield* connector.connect, here)
      const other = yield* peer(there)
      yield* here.send(Message.notification("hello"))
      assert.deepStrictEqual(yield* other.receive, Message.notification("hello"))
    }))

  it.effect("closes what it opened with the scope, and requires the services that it needs", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const connector: Connector.Connector<Address> = Connector.make(
        "address",
        Effect.gen(function*() {
          const address = yield* Address
          const [here] = yield* Transport.memory()
          yield* Effect.acquireRelease(
            Effect.sync(() => log.push(`open ${address}`)),
            () => Effect.sync(() => log.push(`close ${address}`))
          )
          return here
        })
      )
      const transport = yield* Effect.scoped(connector.connect).pipe(Effect.provideService(Address, "a"))
      assert.deepStrictEqual(log, ["open a", "close a"])
      assert.isFalse(transport.unsafeSend(Message.notification("late")))
    }))

  it.scoped("fails with reason Open", () =>
    Effect.gen(function*() {
      const failing = Connector.make(
        "nowhere",
        Effect.fail(new LocalError.TransportError({ reason: "Open", message: "no such place" }))
      )
      const error = yield* Effect.flip(failing.connect)
      assert.deepStrictEqual([error._tag, error.reason, error.message], ["TransportError", "Open", "no such place"])
    }))
})
