import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { RequestOptions } from "@effect-mcp/core/Outbound"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { type AskError, ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Deferred, Effect, Fiber, Layer, Schema, TestClock, Tracer } from "effect"
import { act, call, connect, logbook, result, serve, unchecked, uninitialized, until } from "../Serving.js"
import { answer, asking, refuse } from "./Asking.js"

type Asks = (session: ServerSessionService, options?: RequestOptions) => Effect.Effect<unknown, AskError>

const name = { message: "Who?", schema: Schema.Struct({ name: Schema.String }) }
const page = { message: "Pay.", url: "https://example.com", elicitationId: "1" }
const messages = [{ role: "user", content: { type: "text", text: "hi" } }] as const

/** A tool that asks and catches nothing. */
const live = (ask: Asks) =>
  McpServer.tool(Tool.make("act"), () => Effect.flatMap(ServerSession, (session) => Effect.asVoid(ask(session))))

const span = Tracer.externalSpan({ spanId: "b7ad6b7169203331", traceId: "0af7651916cd43dd8448eb211c80319c" })

interface Kind {
  readonly what: string
  readonly ask: Asks
  readonly method: string
  readonly required: JsonObject
  readonly named: string
  readonly answer: JsonObject
  readonly wrong: JsonObject
}

const kinds: ReadonlyArray<Kind> = [
  {
    what: "a form",
    ask: (session, options) => session.elicit(name, options),
    method: "elicitation/create",
    required: { elicitation: { form: {} } },
    named: "elicitation.form",
    answer: { action: "accept", content: { name: "Ada" } },
    wrong: { action: "accept", content: { name: { first: "Ada" } } }
  },
  {
    what: "a page",
    ask: (session, options) => session.elicit(page, options),
    method: "elicitation/create",
    required: { elicitation: { url: {} } },
    named: "elicitation.url",
    answer: { action: "accept" },
    wrong: { action: "maybe" }
  },
  {
    what: "a model",
    ask: (session, options) => session.createMessage({ messages, maxTokens: 1 }, options),
    method: "sampling/createMessage",
    required: { sampling: {} },
    named: "sampling",
    answer: { role: "assistant", model: "m", content: { type: "text", text: "a" } },
    wrong: { role: "assistant", content: { type: "text", text: "a" } }
  },
  {
    what: "roots",
    ask: (session) => session.listRoots,
    method: "roots/list",
    required: { roots: {} },
    named: "roots",
    answer: { roots: [] },
    wrong: { roots: [{ name: "home" }] }
  }
]

for (const { answer: good, ask, method, named, required, what, wrong } of kinds) {
  describe(`A question about ${what}`, () => {
    it.effect("MUST NOT be sent to a client without the capability", () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking(ask)
        yield* Effect.gen(function*() {
          const peer = yield* connect()
          yield* result(peer, "act")
          assert.deepInclude(yield* Effect.flip(yield* outcome), { _tag: "MissingClientCapability", required })
          yield* peer.expectSilence
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }))

    it.effect("to a client without the capability fails the call, unless the handler catches it", () =>
      Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* peer.expectError(yield* call(peer, "act")), {
          code: -32600,
          message: `The client lacks a required capability: ${named}`,
          data: { requiredCapabilities: required }
        })
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    it.effect("fails with the error that the client answers", () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking(ask)
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, required)
          const id = yield* call(peer, "act")
          yield* refuse(peer, yield* peer.expectRequest(method), { code: -32602, message: "not like this" })
          yield* peer.expectResult(id)
          assert.deepInclude(yield* Effect.flip(yield* outcome), { _tag: "InvalidParams", message: "not like this" })
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }))

    it.effect("fails when the answer is not valid, and describes what is wrong with it", () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking(ask)
        yield* Effect.gen(function*() {
          const peer = yield* unchecked(undefined, required)
          const id = yield* call(peer, "act")
          yield* answer(peer, yield* peer.expectRequest(method), wrong)
          yield* peer.expectResult(id)
          const error = yield* Effect.flip(yield* outcome)
          assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
          assert.isTrue(error.message.startsWith(`The client's answer to "${method}" is not valid: `), error.message)
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }))

    it.effect("with an answer that is not valid fails the call without details, unless the handler catches it", () =>
      Effect.gen(function*() {
        const { layer, lines } = logbook()
        yield* Effect.gen(function*() {
          const peer = yield* unchecked(undefined, required)
          const id = yield* call(peer, "act")
          yield* answer(peer, yield* peer.expectRequest(method), wrong)
          const { code, data, message } = yield* peer.expectError(id)
          assert.deepStrictEqual([code, data], [-32603, undefined])
          assert.strictEqual(message, "The client's answer to a request of the server is not valid")
          assert.deepStrictEqual(lines.filter(({ level }) => level === "Error"), [])
        }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(live(ask)), layer)))
      }))

    it.effect("is cancelled at the client when the call is cancelled", () =>
      Effect.gen(function*() {
        const peer = yield* connect(undefined, required)
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest(method)
        yield* peer.notify("notifications/cancelled", { requestId: id })
        assert.strictEqual((yield* peer.expectNotification("notifications/cancelled")).requestId, question.id)
        // Too late: the question has ended.
        yield* answer(peer, question, good)
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    it.effect("SHOULD end after a timeout: it is cancelled at the client, and the call fails", () =>
      Effect.gen(function*() {
        const peer = yield* connect(undefined, required)
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest(method)
        // A person needs longer than a program.
        const millis = method === "elicitation/create" ? 600_000 : 60_000
        yield* TestClock.adjust(millis - 1)
        yield* peer.expectSilence
        yield* TestClock.adjust(1)
        assert.strictEqual((yield* peer.expectNotification("notifications/cancelled")).requestId, question.id)
        assert.deepStrictEqual(yield* peer.expectError(id), {
          code: -32603,
          message: `Request "${method}" timed out after ${millis} ms`
        })
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    it.effect("waits as long as the option of the server says", () =>
      Effect.gen(function*() {
        const peer = yield* connect(undefined, required)
        const id = yield* call(peer, "act")
        yield* peer.expectRequest(method)
        yield* TestClock.adjust(method === "elicitation/create" ? "2 hours" : "3 seconds")
        yield* peer.expectNotification("notifications/cancelled")
        assert.match((yield* peer.expectError(id)).message, /timed out/)
      }).pipe(
        Effect.scoped,
        Effect.provide(serve(live(ask), { limits: { elicitationTimeout: "2 hours", requestTimeout: "3 seconds" } }))
      ))

    it.effect("ends at once with the session", () =>
      Effect.gen(function*() {
        const ended = yield* Deferred.make<void>()
        const asks: Asks = (session) => Effect.onInterrupt(ask(session), () => Deferred.succeed(ended, undefined))
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, required)
          yield* call(peer, "act")
          yield* peer.expectRequest(method)
          yield* peer.hangUp
          yield* Deferred.await(ended)
        }).pipe(Effect.scoped, Effect.provide(serve(live(asks))))
      }))

    it.effect("SHOULD NOT be sent before the client is initialized: it waits", () =>
      Effect.gen(function*() {
        const peer = yield* uninitialized
        const hello = { protocolVersion: "2025-11-25", capabilities: required, clientInfo: { name: "a", version: "1" } }
        const initialize = yield* peer.request("initialize", hello)
        const id = yield* call(peer, "act")
        yield* peer.expectResult(initialize)
        yield* peer.expectSilence
        yield* peer.notify("notifications/initialized")
        yield* answer(peer, yield* peer.expectRequest(method), good)
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    it.effect("fails when the client is not initialized in time", () =>
      Effect.gen(function*() {
        const peer = yield* uninitialized
        const hello = { protocolVersion: "2025-11-25", capabilities: required, clientInfo: { name: "a", version: "1" } }
        yield* peer.expectResult(yield* peer.request("initialize", hello))
        const id = yield* call(peer, "act")
        yield* TestClock.adjust("10 minutes")
        assert.include((yield* peer.expectError(id)).message, `Request "${method}" timed out after`)
        yield* peer.notify("notifications/initialized")
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    it.effect("carries the trace context of the span in which the handler asks", () =>
      Effect.gen(function*() {
        const peer = yield* connect(undefined, required)
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest(method)
        assert.deepStrictEqual(question.params?._meta, {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        })
        yield* answer(peer, question, good)
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(live((session) => Effect.withParentSpan(ask(session), span))))))

    it.effect("carries no trace context without a span", () =>
      Effect.gen(function*() {
        const peer = yield* connect(undefined, required)
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest(method)
        assert.notProperty(question.params ?? {}, "_meta")
        yield* answer(peer, question, good)
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(live(ask)))))

    if (what !== "roots") {
      it.effect("waits as long as its own timeout says", () =>
        Effect.gen(function*() {
          const { live, outcome } = yield* asking((session) => ask(session, { timeout: "1 hour" }))
          yield* Effect.gen(function*() {
            const peer = yield* connect(undefined, required)
            const id = yield* call(peer, "act")
            const question = yield* peer.expectRequest(method)
            yield* TestClock.adjust("59 minutes")
            yield* peer.expectSilence
            yield* answer(peer, question, good)
            yield* peer.expectResult(id)
            yield* Effect.flatten(outcome)
          }).pipe(Effect.scoped, Effect.provide(serve(live)))
        }))
    }

    it.effect("cannot be sent after the call was answered", () =>
      Effect.gen(function*() {
        const kept = yield* Deferred.make<ServerSessionService>()
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, required)
          yield* result(peer, "act")
          const session = yield* Deferred.await(kept)
          assert.strictEqual((yield* Effect.flip(ask(session)))._tag, "NoBackChannel")
          yield* peer.expectSilence
        }).pipe(
          Effect.scoped,
          Effect.provide(serve(act(Effect.flatMap(ServerSession, (session) => Deferred.succeed(kept, session)))))
        )
      }))

    it.effect("ends when the client closes the transport", () =>
      Effect.gen(function*() {
        const failed = yield* Deferred.make<AskError>()
        const stubborn = act(Effect.flatMap(ServerSession, (session) =>
          Effect.uninterruptible(Effect.flatMap(Effect.flip(ask(session)).pipe(Effect.orDie), (error) =>
            Deferred.succeed(failed, error)))))
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, required)
          yield* call(peer, "act")
          yield* peer.expectRequest(method)
          yield* peer.hangUp
          assert.strictEqual((yield* Deferred.await(failed))._tag, "ConnectionClosed")
        }).pipe(Effect.scoped, Effect.provide(serve(stubborn)))
      }))
  })
}

describe("The capabilities of a client", () => {
  it.effect("are those that its revision knows, whatever else it declares", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [string, JsonObject, Asks]> = [
        ["2025-03-26", { elicitation: {} }, (session) => session.elicit(name)],
        ["2025-06-18", { elicitation: { form: {}, url: {} } }, (session) => session.elicit(page)],
        ["2025-06-18", { sampling: { tools: {} } }, (session) =>
          session.createMessage({ messages, maxTokens: 1, tools: [] })]
      ]
      for (const [version, capabilities, ask] of cases) {
        const { live, outcome } = yield* asking(ask)
        yield* Effect.gen(function*() {
          const peer = yield* unchecked(version, capabilities)
          const id = yield* call(peer, "act")
          const heard = yield* peer.next
          assert.strictEqual((heard as { readonly id?: unknown }).id, id, JSON.stringify(heard))
          assert.strictEqual((yield* Effect.flip(yield* outcome))._tag, "MissingClientCapability")
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }
    }))

  it.effect("include forms for an empty elicitation, and only pages for one with pages", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.elicit(name))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { elicitation: { url: {} } })
        yield* result(peer, "act")
        assert.deepInclude(yield* Effect.flip(yield* outcome), { required: { elicitation: { form: {} } } })
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))
})

describe("A question in an uninterruptible region", () => {
  it.effect("goes on when the call is cancelled, and can no longer be sent", () =>
    Effect.gen(function*() {
      const steps: Array<string> = []
      const started = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const stubborn = act(Effect.flatMap(ServerSession, (session) =>
        Effect.uninterruptible(Effect.gen(function*() {
          yield* Deferred.succeed(started, undefined)
          yield* Deferred.await(gate)
          steps.push((yield* Effect.flip(session.listRoots).pipe(Effect.orDie))._tag)
        }))))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {} })
        const id = yield* call(peer, "act")
        yield* Deferred.await(started)
        yield* peer.notify("notifications/cancelled", { requestId: id })
        yield* Deferred.succeed(gate, undefined)
        yield* until(() => steps.length > 0)
        assert.deepStrictEqual(steps, ["NoBackChannel"])
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(stubborn)))
    }))

  it.effect("of a forked fiber ends when the handler interrupts the fiber", () =>
    Effect.gen(function*() {
      const racing = act(Effect.flatMap(ServerSession, (session) =>
        Effect.gen(function*() {
          const asking = yield* Effect.fork(session.listRoots)
          yield* Effect.yieldNow()
          yield* Fiber.interrupt(asking)
        })))
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { roots: {} })
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("roots/list")
        assert.strictEqual((yield* peer.expectNotification("notifications/cancelled")).requestId, question.id)
        yield* peer.expectResult(id)
      }).pipe(Effect.scoped, Effect.provide(serve(racing)))
    }))
})

describe("A question about a page", () => {
  for (const url of ["example.com", "/pay", "", "https://example.com/a b", "https://exämple.com"]) {
    it.effect(`MUST have a valid URL, and is not sent with ${JSON.stringify(url)}`, () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking((session) => session.elicit({ ...page, url }))
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, { elicitation: { url: {} } })
          yield* result(peer, "act")
          const error = yield* Effect.flip(yield* outcome)
          assert.include(error.message, "the url is not valid: begin it with a scheme")
          yield* peer.expectSilence
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }))
  }
})
