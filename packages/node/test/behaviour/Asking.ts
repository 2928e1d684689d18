/**
 * Behaviours: the server asks the client while it serves one of its requests.
 */
import { assert } from "@effect/vitest"
import * as Features from "@effect-mcp/client/Features"
import * as ErrorCodes from "@effect-mcp/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/protocol/McpError"
import { Deferred, Effect, Fiber, Queue, Stream } from "effect"
import type { Behaviour, Visitor } from "./Behaviour.js"
import { hearing, key, text } from "./Behaviour.js"

const saying = (text: string) => ({ role: "assistant", model: "parrot", content: { type: "text", text } } as const)

/** A model that says again what it is told. */
const parrot = Features.sampling(({ messages: [first] }) =>
  Effect.succeed(saying(first !== undefined && "text" in first.content ? first.content.text : "?"))
)

const agreeing = Features.elicitation(() =>
  Effect.succeed({ action: "accept", content: { name: "Ada", size: "large" } })
)

const answers: ReadonlyArray<Behaviour> = [
  {
    name: "have the client's model answer, from inside a tool",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit({ features: parrot })
        const results = yield* Effect.forEach(
          ["a", "b", "c"],
          (prompt) => client.callTool("sample", { prompt }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          results.map(({ content }) => content),
          ["a", "b", "c"].map((it) => text(`parrot: ${it}`))
        )
      })
  },
  {
    name: "tell the tool that the model was refused: the calling program hears why",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit({
          features: Features.sampling(() =>
            Effect.fail(new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "Not today" }))
          )
        })
        assert.deepInclude((yield* Effect.flip(client.callTool("sample", { prompt: "a" }))) as object, {
          _tag: "PeerError",
          code: -1,
          message: "Not today"
        })
      })
  },
  {
    name: "have a person fill in a form; what they leave out gets its default",
    since: "2025-06-18",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit({ features: agreeing })
        const { content } = yield* client.callTool("form")
        assert.deepStrictEqual(
          content,
          text(JSON.stringify({
            action: "accept",
            content: { name: "Ada", size: "large", count: 3 }
          }))
        )
      })
  },
  {
    name: "tell the tool that the person declined, or closed the form",
    since: "2025-06-18",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const actions = yield* Queue.unbounded<"decline" | "cancel">()
        yield* Queue.offerAll(actions, ["decline", "cancel"])
        const client = yield* visit({
          features: Features.elicitation(() => Effect.map(Queue.take(actions), (action) => ({ action })))
        })
        assert.deepStrictEqual((yield* client.callTool("form")).content, text("{\"action\":\"decline\"}"))
        assert.deepStrictEqual((yield* client.callTool("form")).content, text("{\"action\":\"cancel\"}"))
      })
  },
  {
    name: "have a person open a page, and say when they are done there",
    since: "2025-11-25",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const id = key()
        const opened: Array<string> = []
        const client = yield* visit({
          features: Features.urlElicitation(({ url }) =>
            Effect.sync(() => {
              opened.push(url)
              return "accept"
            })
          )
        })
        const done = yield* hearing(client.elicitationsCompleted)
        assert.deepStrictEqual((yield* client.callTool("page", { id })).content, text("accept"))
        yield* done.count(1)
        assert.deepStrictEqual([opened, done.heard], [[`https://example.com/${id}`], [id]])
      })
  },
  {
    name: "list the client's folders, and tell the server that they are others",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const changes = yield* Queue.unbounded<void>()
        let uri = "file:///one"
        const client = yield* visit({
          features: Features.roots(Effect.sync(() => [{ uri, name: "work" }]), { changes: Stream.fromQueue(changes) })
        })
        assert.deepStrictEqual((yield* client.callTool("roots")).content, text("work file:///one"))
        uri = "file:///two"
        yield* Queue.offer(changes, undefined)
        assert.deepStrictEqual((yield* client.callTool("roots")).content, text("work file:///two"))
      })
  },
  {
    name: "MUST NOT ask a client for what it has not declared",
    rule: "2025-11-25 basic/lifecycle#operation",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit()
        const calls: ReadonlyArray<readonly [string, Record<string, string>]> = [
          ["sample", { prompt: "a" }],
          ["form", {}],
          ["page", { id: "a" }],
          ["roots", {}]
        ]
        for (const [tool, args] of calls) {
          assert.strictEqual((yield* Effect.flip(client.callTool(tool, args)))._tag, "MissingClientCapability", tool)
        }
        assert.isTrue(client.said.entries.every(({ from, message }) => from === "client" || !("method" in message)))
      })
  }
]

const crosswise: ReadonlyArray<Behaviour> = [
  {
    name: "ask each other at once: the client calls on while it is asked",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const connected = yield* Deferred.make<Visitor>()
        const client = yield* visit({
          // The model asks the server that asks it.
          features: Features.sampling(({ messages: [first] }) =>
            Effect.gen(function*() {
              const client = yield* Deferred.await(connected)
              const a = first !== undefined && "text" in first.content ? Number(first.content.text) : NaN
              const { content } = yield* Effect.orDie(client.callTool("add", { a, b: a }))
              return saying(JSON.stringify(content))
            })
          )
        })
        yield* Deferred.succeed(connected, client)
        const numbers = Array.from({ length: 10 }, (_, n) => n)
        const results = yield* Effect.forEach(numbers, (n) => client.callTool("sample", { prompt: String(n) }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          results.map(({ content }) => content),
          numbers.map((n) => text(`parrot: ${JSON.stringify(text(`{"sum":${2 * n}}`))}`))
        )
      })
  },
  {
    name: "stop asking when the call that asks is cancelled: the client's answer is stopped, too",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const asked = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        const client = yield* visit({
          features: Features.sampling(() =>
            Deferred.succeed(asked, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
            )
          )
        })
        const calling = yield* Effect.fork(client.callTool("sample", { prompt: "a" }))
        yield* Deferred.await(asked)
        yield* Fiber.interrupt(calling)
        yield* Deferred.await(stopped)
        yield* client.ping()
      })
  }
]

export const behaviours = [...answers, ...crosswise]
