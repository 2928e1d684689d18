import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Transport from "@effect-mcp/core/Transport"
import { Effect, Fiber, Queue } from "effect"

/** A client over a pair whose server has agreed on a revision, and the server's end: it sends any text. */
const connected = (version: string) =>
  Effect.gen(function*() {
    const [here, there] = yield* Transport.memory()
    const received = yield* Queue.unbounded<Message.Request>()
    yield* Effect.forkScoped(
      Transport.run(there, (incoming) => Queue.unsafeOffer(received, incoming as Message.Request))
    )
    const send = (value: unknown) => {
      there.unsafeSend(MessageText.parse(JSON.stringify(value)) as Message.Message)
    }
    const opening = yield* Effect.fork(Client.make(Connector.fromTransport(here), { versions: Version.legacy }))
    const { id } = yield* Queue.take(received)
    send(Message.success(id, { protocolVersion: version, capabilities: {}, serverInfo: { name: "s", version: "1" } }))
    const client = yield* Fiber.join(opening)
    assert.strictEqual((yield* Queue.take(received)).method, "notifications/initialized")
    return {
      client,
      received,
      send,
      sendText: (text: string) => there.unsafeSend(MessageText.parse(text) as Message.Message)
    }
  })

describe("A client over a pipe", () => {
  it.scoped("MUST support receiving batches at 2025-03-26", () =>
    Effect.gen(function*() {
      const { client, received, send } = yield* connected("2025-03-26")
      const calls = yield* Effect.fork(Effect.all([client.ping(), client.request("m")], { concurrency: "unbounded" }))
      const ids = [(yield* Queue.take(received)).id, (yield* Queue.take(received)).id]
      send([
        Message.request("theirs", "ping"),
        Message.notification("notifications/x"),
        ...ids.map((id) => Message.success(id, {}))
      ])
      assert.deepStrictEqual(yield* Fiber.join(calls), [undefined, {}])
      assert.deepStrictEqual<unknown>(yield* Queue.take(received), Message.success("theirs", {}))
    }))

  for (const version of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
    it.scoped(`takes a batch at ${version}, and refuses a batch that is too large: the calls that it answers fail`, () =>
      Effect.gen(function*() {
        const { client, received, send } = yield* connected(version)
        const call = yield* Effect.fork(client.ping())
        const { id } = yield* Queue.take(received)
        send([Message.success(id, {}), Message.notification("notifications/tools/list_changed")])
        yield* Fiber.join(call)
        const next = yield* Effect.fork(Effect.flip(client.ping()))
        const answer = Message.success((yield* Queue.take(received)).id, {})
        send([answer, ...Array.from({ length: 100 }, () => Message.notification("notifications/x"))])
        assert.deepInclude(yield* Fiber.join(next), { _tag: "TransportError", reason: "Decode" })
        assert.strictEqual(yield* Queue.size(received), 0)
      }))
  }
})
