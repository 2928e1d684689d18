import { assert, describe, it } from "@effect/vitest"
import type { Outbound } from "@effect-mcp/core/Outbound"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import { Deferred, Effect } from "effect"
import { Connection } from "../../../src/server/legacy/Connection.js"
import { until } from "../Serving.js"

/** The way to a client that reads when the gate opens. */
const toClient = (gate: Effect.Effect<void> = Effect.void) => {
  const told: Array<string> = []
  let stopped = 0
  const outbound: Outbound = {
    request: () => Effect.never,
    notify: (method) =>
      Effect.zipRight(gate, Effect.sync(() => told.push(method))).pipe(
        Effect.onInterrupt(() => Effect.sync(() => stopped++)),
        Effect.asVoid
      )
  }
  return { outbound, told, stopped: () => stopped }
}

const ready = (outbound: Outbound): Connection => {
  const connection = new Connection(outbound)
  connection.accept()
  connection.initialized = true
  connection.serverCapabilities = { tools: { listChanged: true } }
  return connection
}

describe("Connection", () => {
  it.effect("notifies a client that is initialized", () =>
    Effect.gen(function*() {
      const { outbound, told } = toClient()
      const connection = ready(outbound)
      yield* connection.announce(Methods.toolListChanged)
      yield* until(() => told.length > 0)
      yield* connection.announce(Methods.toolListChanged)
      yield* until(() => told.length > 1)
      assert.deepStrictEqual(told, ["notifications/tools/list_changed", "notifications/tools/list_changed"])
    }))

  it.effect("does not notify a client that is not initialized", () =>
    Effect.gen(function*() {
      const { outbound, told } = toClient()
      const connection = ready(outbound)
      connection.initialized = false
      yield* connection.announce(Methods.toolListChanged)
      yield* Effect.yieldNow()
      assert.deepStrictEqual(told, [])
    }))

  it.effect("does not notify of a capability that was not advertised to the client", () =>
    Effect.gen(function*() {
      const { outbound, told } = toClient()
      const connection = ready(outbound)
      for (const capabilities of [{}, { logging: {} }, { tools: {} }, { tools: { listChanged: false } }]) {
        connection.serverCapabilities = capabilities
        yield* connection.announce(Methods.toolListChanged)
      }
      yield* Effect.yieldNow()
      assert.deepStrictEqual(told, [])
    }))

  it.effect("does not wait, and sends one notification to a client that does not read", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { outbound, told } = toClient(Deferred.await(gate))
      const connection = ready(outbound)
      for (let i = 0; i < 100; i++) yield* connection.announce(Methods.toolListChanged)
      assert.deepStrictEqual(told, [])
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => told.length > 0)
      yield* Effect.yieldNow()
      assert.lengthOf(told, 1)
    }))

  it.effect("interrupts its announcements on request", () =>
    Effect.gen(function*() {
      const { outbound, stopped, told } = toClient(Effect.never)
      const connection = ready(outbound)
      yield* connection.announce(Methods.toolListChanged)
      yield* Effect.yieldNow()
      yield* connection.stopAnnouncing(undefined)
      assert.strictEqual(stopped(), 1)
      assert.deepStrictEqual(told, [])
      yield* connection.stopAnnouncing(undefined)
    }))

  it.effect("announces from an uninterruptible region, and can be interrupted all the same", () =>
    Effect.gen(function*() {
      const { outbound, stopped } = toClient(Effect.never)
      const connection = ready(outbound)
      yield* Effect.uninterruptible(connection.announce(Methods.toolListChanged))
      yield* Effect.yieldNow()
      yield* connection.stopAnnouncing(undefined)
      assert.strictEqual(stopped(), 1)
    }))

  it.effect("announces each subject by itself, once each, to a client that does not read", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const told: Array<unknown> = []
      const connection = ready({
        request: () => Effect.never,
        notify: (_, params) => Effect.zipRight(Deferred.await(gate), Effect.sync(() => told.push(params?.uri)))
      })
      connection.serverCapabilities = { resources: { subscribe: true } }
      for (let i = 0; i < 10; i++) {
        for (const uri of ["file:///a", "file:///b"]) {
          yield* connection.announce(Methods.resourceUpdated, { uri }, uri)
        }
      }
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => told.length >= 2)
      yield* Effect.yieldNow()
      assert.deepStrictEqual(told, ["file:///a", "file:///b"])
    }))

  it.effect("announces a method without a capability to every client that is initialized", () =>
    Effect.gen(function*() {
      const { outbound, told } = toClient()
      const connection = ready(outbound)
      connection.serverCapabilities = {}
      yield* connection.announce(Methods.initialized)
      yield* until(() => told.length > 0)
      assert.deepStrictEqual(told, ["notifications/initialized"])
    }))

  it.effect("begins without facts of the client, services and subscriptions", () =>
    Effect.sync(() => {
      const connection = new Connection(toClient().outbound)
      assert.deepStrictEqual(
        [connection.accepted, connection.initialized, connection.clientInfo, connection.clientCapabilities],
        [false, false, undefined, {}]
      )
      assert.deepStrictEqual(
        [connection.services, connection.subscriptions, connection.handshake, connection.logLevel, connection.scope],
        [undefined, undefined, undefined, undefined, undefined]
      )
    }))
})
