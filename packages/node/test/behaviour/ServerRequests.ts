/**
 * Behaviours of the requests that a server sends to its client while it serves a call.
 */
import { assert } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ErrorCodes from "@effect-mcp/core/protocol/ErrorCodes"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { Deferred, Effect, Fiber, Queue, Stream } from "effect"
import { type Behaviour, collect, isModern, key, type RecordedClient, text } from "./Behaviour.js"

const sample = (text: string) => ({ role: "assistant", model: "parrot", content: { type: "text", text } } as const)

/** A model that repeats the prompt. */
const parrot = ClientFeatures.sampling(({ messages: [first] }) =>
  Effect.succeed(sample(first !== undefined && "text" in first.content ? first.content.text : "?"))
)

const accepting = ClientFeatures.elicitation(() =>
  Effect.succeed({ action: "accept", content: { name: "Ada", size: "large" } })
)

const answers: ReadonlyArray<Behaviour> = [
  {
    name: "a tool requests samples from the client's model",
    sessions: true,
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect({ features: parrot })
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
    name: "a rejected sampling request fails the tool, and the client gets the reason",
    sessions: true,
    run: ({ connect, transport }) =>
      Effect.gen(function*() {
        const client = yield* connect({
          features: ClientFeatures.sampling(() =>
            Effect.fail(new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "Not today" }))
          )
        })
        const error = yield* Effect.flip(client.callTool("sample", { prompt: "a" }))
        // From 2026-07-28 on the server does not get the reason: the client does not send the call again.
        assert.strictEqual(error._tag, isModern(transport) ? "InputRefused" : "PeerError")
        const reason = error._tag === "InputRefused" ? error.cause : error
        assert.deepInclude(reason as object, { _tag: "PeerError", code: -1, message: "Not today" })
      })
  },
  {
    name: "a tool elicits a form, and fields without an answer get their defaults",
    sessions: true,
    since: "2025-06-18",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect({ features: accepting })
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
    name: "a tool gets the answers decline and cancel to a form",
    sessions: true,
    since: "2025-06-18",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const actions = yield* Queue.unbounded<"decline" | "cancel">()
        yield* Queue.offerAll(actions, ["decline", "cancel"])
        const client = yield* connect({
          features: ClientFeatures.elicitation(() => Effect.map(Queue.take(actions), (action) => ({ action })))
        })
        assert.deepStrictEqual((yield* client.callTool("form")).content, text("{\"action\":\"decline\"}"))
        assert.deepStrictEqual((yield* client.callTool("form")).content, text("{\"action\":\"cancel\"}"))
      })
  },
  {
    name: "a tool elicits the visit of a URL, and the client gets the notification that it is complete",
    until: "2025-11-25",
    sessions: true,
    since: "2025-11-25",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const id = key()
        const opened: Array<string> = []
        const client = yield* connect({
          features: ClientFeatures.urlElicitation(({ url }) =>
            Effect.sync(() => {
              opened.push(url)
              return "accept"
            })
          )
        })
        const done = yield* collect(client.elicitationsCompleted)
        assert.deepStrictEqual((yield* client.callTool("page", { id })).content, text("accept"))
        yield* done.count(1)
        assert.deepStrictEqual([opened, done.received], [[`https://example.com/${id}`], [id]])
      })
  },
  {
    name: "a tool lists the client's roots, again after they have changed",
    sessions: true,
    run: ({ connect }) =>
      Effect.gen(function*() {
        const changes = yield* Queue.unbounded<void>()
        let uri = "file:///one"
        const client = yield* connect({
          features: ClientFeatures.roots(Effect.sync(() => [{ uri, name: "work" }]), {
            changes: Stream.fromQueue(changes)
          })
        })
        assert.deepStrictEqual((yield* client.callTool("roots")).content, text("work file:///one"))
        uri = "file:///two"
        yield* Queue.offer(changes, undefined)
        assert.deepStrictEqual((yield* client.callTool("roots")).content, text("work file:///two"))
      })
  },
  {
    name: "the server MUST NOT send requests for capabilities that the client has not declared",
    rule: "2025-11-25 basic/lifecycle#operation",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        const calls: ReadonlyArray<readonly [string, Record<string, string>]> = [
          ["sample", { prompt: "a" }],
          ["form", {}],
          ["page", { id: "a" }],
          ["roots", {}]
        ]
        for (const [tool, args] of calls) {
          assert.strictEqual((yield* Effect.flip(client.callTool(tool, args)))._tag, "MissingClientCapability", tool)
        }
        assert.isTrue(
          client.transcript.entries.every(({ from, message }) =>
            from === "client" || !("method" in message) || message.method === "notifications/subscriptions/acknowledged"
          )
        )
      })
  }
]

const concurrent: ReadonlyArray<Behaviour> = [
  {
    name: "a client calls the server while it answers a request of the server",
    sessions: true,
    run: ({ connect }) =>
      Effect.gen(function*() {
        const connected = yield* Deferred.make<RecordedClient>()
        const client = yield* connect({
          // The model calls the server whose request it answers.
          features: ClientFeatures.sampling(({ messages: [first] }) =>
            Effect.gen(function*() {
              const client = yield* Deferred.await(connected)
              const a = first !== undefined && "text" in first.content ? Number(first.content.text) : NaN
              const { content } = yield* Effect.orDie(client.callTool("add", { a, b: a }))
              return sample(JSON.stringify(content))
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
    name: "a cancelled call cancels the server's request to the client, and interrupts the client's handler",
    sessions: true,
    run: ({ connect }) =>
      Effect.gen(function*() {
        const requested = yield* Deferred.make<void>()
        const interrupted = yield* Deferred.make<void>()
        const client = yield* connect({
          features: ClientFeatures.sampling(() =>
            Deferred.succeed(requested, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
          )
        })
        const calling = yield* Effect.fork(client.callTool("sample", { prompt: "a" }))
        yield* Deferred.await(requested)
        yield* Fiber.interrupt(calling)
        yield* Deferred.await(interrupted)
        yield* client.ping()
      })
  }
]

export const behaviours = [...answers, ...concurrent]
