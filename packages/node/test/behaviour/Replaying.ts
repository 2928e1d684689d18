/**
 * Behaviours of a conversation that was recorded over a transport, and is replayed in memory to a client like the recorded
 * one.
 */
import { assert } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Replay from "@effect-mcp/testing/Replay"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Chunk, Effect, Stream } from "effect"
import type { Behaviour } from "./Behaviour.js"

const replayed = (
  use: (client: ClientSessionService) => Effect.Effect<unknown, unknown>,
  options: () => Parameters<Parameters<Behaviour["run"]>[0]["connect"]>[0] = () => ({})
): Behaviour["run"] =>
({ connect, ownServer, transport }) =>
  Effect.gen(function*() {
    const client = yield* connect(options(), yield* ownServer)
    const first = yield* use(client)
    yield* client.close
    const json = yield* Transcript.toJson(client.transcript)
    yield* Effect.scoped(Effect.gen(function*() {
      const server = yield* Replay.server(yield* Transcript.fromJson(json))
      const again = yield* Client.make(server, { versions: [transport.version], ...options() })
      assert.deepStrictEqual(yield* use(again), first)
    }))
  })

export const behaviours: ReadonlyArray<Behaviour> = [
  {
    name: "a recorded conversation is replayed to a client, which gets the same results and progress",
    run: replayed((client) =>
      Effect.gen(function*() {
        const tools = yield* Stream.runCollect(client.tools)
        const steps: Array<number> = []
        const { content } = yield* client.callTool("steps", { to: 3 }, {
          onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
        })
        assert.deepStrictEqual(steps, [1, 2, 3])
        return { tools: Chunk.toReadonlyArray(tools), content, resource: yield* client.readResource("test://text") }
      })
    )
  },
  {
    name: "recorded questions of a server are replayed to a client",
    since: "2025-06-18",
    sessions: true,
    run: replayed(
      (client) => client.callTool("ask", { key: "replayed", way: "plain", questions: ["a", "b"] }),
      () => ({
        features: TestFeatures.elicitation([
          { action: "accept", content: { name: "Ada" } },
          { action: "accept", content: { name: "Bob" } }
        ])
      })
    )
  }
]
