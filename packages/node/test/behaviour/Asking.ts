/**
 * Behaviours of a handler that asks its client, whatever code stands around the questions. From 2026-07-28 on each round of
 * questions ends the call, and the handler runs again with the answers; in earlier revisions the handler waits.
 */
import { assert } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Message from "@effect-mcp/core/Message"
import { Effect } from "effect"
import { type Behaviour, isModern, key, type RecordedClient, text } from "./Behaviour.js"
import type * as Contract from "./Contract.js"

/** How often a client has sent the call. */
const rounds = ({ transcript: { entries } }: RecordedClient): number =>
  entries.filter(({ from, message }) =>
    from === "client" && Message.isRequest(message) && message.method === "tools/call"
  ).length

const asking = (
  way: typeof Contract.Way.Type,
  questions: ReadonlyArray<string>,
  name: string,
  expected: number
): Behaviour => ({
  name,
  sessions: true,
  since: "2025-06-18",
  run: ({ connect, served, transport }) =>
    Effect.gen(function*() {
      const id = key()
      const reported = (what: string) => served.reports.lines().filter((line) => line === `${id} ${what}`).length
      const asked: Array<string> = []
      const finalized: Array<number> = []
      const client: RecordedClient = yield* connect({
        features: ClientFeatures.elicitation(({ message }) =>
          Effect.sync(() => {
            asked.push(message)
            finalized.push(reported("finalized"))
            return { action: "accept", content: { name: `re:${message}` } }
          })
        )
      })
      const { content } = yield* client.callTool("ask", { key: id, way, questions })
      assert.deepStrictEqual(content, text(questions.map((one) => `re:${one}`).join(" ")))
      assert.sameMembers(asked, [...questions])
      yield* served.reports.until(`${id} finalized`)
      const count = isModern(transport) ? expected : 1
      assert.deepStrictEqual([rounds(client), reported("acted"), reported("finalized")], [count, 1, count])
      // The finalizers of a round run before its questions leave.
      if (isModern(transport)) {
        const before = expected === questions.length + 1 ? questions.map((_, i) => i + 1) : questions.map(() => 1)
        assert.deepStrictEqual(finalized, before)
      }
    })
})

const around = (
  [
    ["plain", "as it is"],
    ["catchAllCause", "inside of `Effect.catchAllCause`"],
    ["exit", "inside of `Effect.exit`"],
    ["option", "inside of `Effect.option`"],
    ["ignore", "inside of `Effect.ignore`"],
    ["retry", "inside of `Effect.retry`"],
    ["timeout", "inside of `Effect.timeout`"],
    ["race", "inside of `Effect.race`"],
    ["uninterruptible", "in an uninterruptible region"],
    ["uninterruptible and catchAllCause", "in an uninterruptible region with `Effect.catchAllCause`"],
    ["acquire", "as the acquisition of a resource"],
    ["forked", "in a forked fiber"],
    ["forked in the scope", "in a fiber that is forked in the scope of the request"]
  ] as const
).map(([way, where]) =>
  asking(way, ["1", "2"], `a handler that asks twice ${where} gets both answers, and acts once, after them`, 3)
)

export const behaviours: ReadonlyArray<Behaviour> = [
  ...around,
  asking("concurrent", ["a", "b", "c"], "a handler that asks several questions at the same time asks in one round", 2),
  asking(
    "one by one",
    Array.from({ length: 10 }, (_, n) => `${n + 1}`),
    "a handler that asks ten questions one after another gets all answers",
    11
  )
]
