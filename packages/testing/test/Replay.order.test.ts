import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Message from "@effect-mcp/core/Message"
import type { CallToolResult } from "@effect-mcp/core/protocol/Tools"
import * as Transport from "@effect-mcp/core/Transport"
import * as Replay from "@effect-mcp/testing/Replay"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Cause, Effect } from "effect"

/** What a result has for the model. */
const text = ({ content }: CallToolResult) => content.map((block) => block.type === "text" ? block.text : "").join()

describe("The order of a replayed conversation", () => {
  const initialize = Message.request(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "a", version: "1" }
  })
  const call = (id: number, name: string) => Message.request(id, "tools/call", { name })
  const done = (id: number) => Message.success(id, { content: [{ type: "text", text: `done ${id}` }] })
  const info = { capabilities: {}, protocolVersion: "2025-11-25", serverInfo: { name: "a", version: "1" } }

  const transcriptOf = (...entries: ReadonlyArray<readonly ["client" | "server", Message.Message]>) => {
    const transcript = Transcript.make()
    transcript.add({ from: "client", message: initialize })
    transcript.add({ from: "server", message: Message.success(1, info) })
    for (const [from, message] of entries) transcript.add({ from, message })
    return transcript
  }

  /** How the replay of one side ends when the other side sends these messages in a row. */
  const played = (side: "client" | "server", transcript: Transcript.Transcript, sent: ReadonlyArray<Message.Message>) =>
    Effect.gen(function*() {
      const [replayed, tested] = yield* Transport.memory()
      for (const message of sent) yield* tested.send(message)
      yield* Replay.play(yield* TestPeer.make(replayed), side, transcript)
    }).pipe(
      Effect.scoped,
      Effect.sandbox,
      Effect.match({ onFailure: (cause) => Cause.pretty(cause), onSuccess: () => "well" })
    )

  const playedAgainst = (transcript: Transcript.Transcript, ...answers: ReadonlyArray<Message.Message>) =>
    played("client", transcript, [Message.success(1, info), ...answers])

  const progress = (value: number) =>
    Message.notification("notifications/progress", { progressToken: 2, progress: value })

  it.effect("may have responses and notifications earlier than they were recorded", () =>
    Effect.gen(function*() {
      const transcript = transcriptOf(
        ["client", call(2, "slow")],
        ["server", progress(1)],
        ["server", progress(2)],
        ["client", Message.notification("notifications/ours")],
        ["server", done(2)]
      )
      assert.strictEqual(yield* playedAgainst(transcript, done(2), progress(1), progress(2)), "well")
    }))

  it.effect("may not have notifications of one method in another order", () =>
    Effect.gen(function*() {
      const transcript = transcriptOf(
        ["client", call(2, "slow")],
        ["server", progress(1)],
        ["server", progress(2)],
        ["server", done(2)]
      )
      assert.include(
        yield* playedAgainst(transcript, progress(2), progress(1), done(2)),
        "at params.progress\n    recorded: 1\n    received: 2"
      )
    }))

  it.effect("may have a subscription earlier than it was recorded, and no other request", () =>
    Effect.gen(function*() {
      const listen = (id: number) => Message.request(id, "subscriptions/listen", { notifications: {} })
      const transcript = transcriptOf(
        ["client", call(2, "one")],
        ["server", done(2)],
        ["client", listen(3)],
        ["client", call(4, "two")],
        ["server", done(4)]
      )
      const sent = (...requests: ReadonlyArray<Message.Message>) =>
        played("server", transcript, [initialize, ...requests])
      assert.strictEqual(yield* sent(listen(2), call(3, "one"), call(4, "two")), "well")
      assert.include(yield* sent(call(2, "two"), listen(3), call(4, "one")), "sent a message that differs")
    }))

  it.effect("has the answer to a request as soon as the request has come, though others are missing", () =>
    Effect.gen(function*() {
      const transcript = transcriptOf(
        ["client", Message.notification("notifications/initialized")],
        ["client", call(2, "one")],
        ["client", call(3, "two")],
        ["server", done(2)],
        ["server", done(3)]
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* Replay.server(transcript)
        const client = yield* Client.make(server, {
          versions: ["2025-11-25"],
          enforceCapabilities: false,
          checkOutputs: false
        })
        assert.strictEqual(text(yield* client.callTool("one")), "done 2")
        assert.strictEqual(text(yield* client.callTool("two")), "done 3")
      }))
    }))
})
