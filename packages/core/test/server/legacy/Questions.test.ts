import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Cause, Deferred, Effect, Exit, Schema } from "effect"
import { act, call, connect, result, serve } from "../Serving.js"
import { answer, asking, conversation, refuse } from "./Asking.js"

const Person = Schema.Struct({
  name: Schema.String,
  born: Schema.optional(Schema.DateFromString),
  size: Schema.optionalWith(Schema.Literal("s", "l"), { default: () => "s" as const })
})
const whoAreYou = { message: "Who are you?", schema: Person }

const forms = { elicitation: {} }

describe("A form", () => {
  it.effect("is filled in by a person, and comes back decoded, with defaults for missing fields", () =>
    Effect.gen(function*() {
      const { outcome, params } = yield* conversation({
        ask: (session) => session.elicit(whoAreYou),
        method: "elicitation/create",
        capabilities: forms,
        result: { action: "accept", content: { name: "Ada", born: "1815-12-10T00:00:00.000Z" } }
      })
      assert.deepStrictEqual(params, {
        mode: "form",
        message: "Who are you?",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string" },
            born: { type: "string", format: "date-time" },
            size: { type: "string", enum: ["s", "l"], default: "s" }
          },
          required: ["name"]
        }
      })
      const born = new Date("1815-12-10")
      assert.deepStrictEqual(outcome, Exit.succeed({ action: "accept", content: { name: "Ada", born, size: "s" } }))
    }))

  for (const action of ["decline", "cancel"] as const) {
    it.effect(`that the person did not fill in gives "${action}", and no failure`, () =>
      Effect.gen(function*() {
        const { outcome } = yield* conversation({
          ask: (session) => session.elicit(whoAreYou),
          method: "elicitation/create",
          capabilities: forms,
          result: { action }
        })
        assert.deepStrictEqual(outcome, Exit.succeed({ action }))
      }))
  }

  it.effect("can consist of described fields", () =>
    Effect.gen(function*() {
      const requestedSchema = { type: "object", properties: { n: { type: "integer", minimum: 1 } } } as const
      const { outcome, params } = yield* conversation({
        ask: (session) => session.elicit({ message: "How many?", requestedSchema }),
        method: "elicitation/create",
        capabilities: { elicitation: { form: {} } },
        result: { action: "accept", content: { n: 2 } }
      })
      assert.deepStrictEqual(params?.requestedSchema, requestedSchema)
      assert.deepStrictEqual(outcome, Exit.succeed({ action: "accept", content: { n: 2 } }))
    }))

  it.effect("is sent in the form of 2025-06-18 to a client of that revision", () =>
    Effect.gen(function*() {
      const { outcome, params } = yield* conversation({
        ask: (session) =>
          session.elicit({
            message: "Choose.",
            schema: Schema.Struct({
              size: Schema.Union(
                Schema.Literal("s").annotations({ title: "Small" }),
                Schema.Literal("l").annotations({ title: "Large" })
              ).annotations({ default: "l" }),
              tags: Schema.Array(Schema.Literal("a", "b")),
              name: Schema.optionalWith(Schema.String, { default: () => "Ada" })
            })
          }),
        method: "elicitation/create",
        capabilities: forms,
        version: "2025-06-18",
        result: { action: "accept", content: { tags: "b" } }
      })
      assert.deepStrictEqual(params, {
        message: "Choose.",
        requestedSchema: {
          type: "object",
          properties: {
            size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
            tags: { type: "string", enum: ["a", "b"] },
            name: { type: "string" }
          },
          required: ["size", "tags"]
        }
      })
      // Defaults that such a client does not receive are filled in all the same.
      assert.deepStrictEqual(
        outcome,
        Exit.succeed({ action: "accept", content: { size: "l", tags: ["b"], name: "Ada" } })
      )
    }))

  it.effect("dies with the tool when no form can ask for its schema, and is never sent", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        session.elicit({ message: "?", schema: Schema.Struct({ in: Schema.Struct({}) }) })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, forms)
        yield* result(peer, "act")
        assert.include(
          Cause.pretty(yield* Effect.flip(Effect.sandbox(Effect.flatten(outcome)))),
          `the field "in" has a type that a form cannot have`
        )
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))

  it.effect("with described fields that no form can have is never sent, and names the problem", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        session.elicit({
          message: "?",
          requestedSchema: { type: "object", properties: { n: { type: "integer", minimum: 2, maximum: 1 } } }
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, forms)
        yield* result(peer, "act")
        const error = yield* Effect.flip(yield* outcome)
        assert.deepInclude(error, {
          _tag: "InternalError",
          message: `"elicitation/create" cannot be sent: n: minimum is above maximum`
        })
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))
})

describe("A page", () => {
  const pay = { message: "Pay here.", url: "https://example.com/pay", elicitationId: "p1" }

  it.effect("is opened by a person, or not", () =>
    Effect.gen(function*() {
      for (const action of ["accept", "decline", "cancel"] as const) {
        const { outcome, params } = yield* conversation({
          ask: (session) => session.elicit(pay),
          method: "elicitation/create",
          capabilities: { elicitation: { url: {} } },
          result: { action }
        })
        assert.deepStrictEqual(params, { mode: "url", ...pay })
        assert.deepStrictEqual(outcome, Exit.succeed(action))
      }
    }))

  it.effect("that is finished is reported outside of requests, also afterwards, to clients that open pages", () =>
    Effect.gen(function*() {
      const pages = { elicitation: { url: {} } }
      for (
        const [version, capabilities, heard] of [
          ["2025-11-25", pages, true],
          ["2025-11-25", { elicitation: {} }, false],
          ["2025-06-18", pages, false]
        ] as const
      ) {
        const kept = yield* Deferred.make<ServerSessionService>()
        yield* Effect.gen(function*() {
          const peer = yield* connect(version, capabilities)
          yield* result(peer, "act")
          yield* (yield* Deferred.await(kept)).elicitationComplete("p1")
          if (heard) {
            assert.deepStrictEqual(yield* peer.expectNotification("notifications/elicitation/complete"), {
              elicitationId: "p1"
            })
          }
          yield* peer.expectSilence
        }).pipe(
          Effect.scoped,
          Effect.provide(serve(act(Effect.flatMap(ServerSession, (session) => Deferred.succeed(kept, session)))))
        )
      }
    }))
})

describe("Roots", () => {
  it.effect("are listed by a client that has some", () =>
    Effect.gen(function*() {
      const roots = [{ uri: "file:///home/ada", name: "home" }, { uri: "file:///tmp" }]
      const { outcome, params } = yield* conversation({
        ask: (session) => session.listRoots,
        method: "roots/list",
        capabilities: { roots: {} },
        version: "2024-11-05",
        result: { roots }
      })
      assert.deepStrictEqual(params ?? {}, {})
      assert.deepStrictEqual(outcome, Exit.succeed(roots))
    }))
})

describe("A ping", () => {
  it.effect("is answered by a client of any capabilities", () =>
    Effect.gen(function*() {
      const { outcome } = yield* conversation({
        ask: (session) => session.request("ping"),
        method: "ping",
        capabilities: {},
        result: {}
      })
      assert.deepStrictEqual(outcome, Exit.succeed({}))
    }))

  it.effect("fails as any request, when the client answers with an error", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.request("ping"))
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        const id = yield* call(peer, "act")
        yield* refuse(peer, yield* peer.expectRequest("ping"), { code: -32603, message: "not now" })
        yield* peer.expectResult(id)
        assert.deepInclude(yield* Effect.flip(yield* outcome), {
          _tag: "JsonRpcError",
          code: -32603,
          message: "not now"
        })
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))
})

describe("Several questions", () => {
  it.effect("are asked one after another, and answered under their names", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        session.ask({ sure: Ask.confirm("Sure?"), who: Ask.elicit(whoAreYou), where: Ask.roots })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { ...forms, roots: {} })
        const id = yield* call(peer, "act")
        const sure = yield* peer.expectRequest("elicitation/create")
        assert.strictEqual(sure.params?.message, "Sure?")
        yield* peer.expectSilence
        yield* answer(peer, sure, { action: "accept", content: {} })
        yield* answer(peer, yield* peer.expectRequest("elicitation/create"), { action: "decline" })
        yield* answer(peer, yield* peer.expectRequest("roots/list"), { roots: [] })
        yield* peer.expectResult(id)
        assert.deepStrictEqual(yield* outcome, Exit.succeed({ sure: true, who: { action: "decline" }, where: [] }))
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))

  it.effect("end with the first that cannot be asked; the rest is not sent", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        session.ask({ sure: Ask.confirm("Sure?"), where: Ask.roots, again: Ask.confirm("Really?") })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, forms)
        const id = yield* call(peer, "act")
        yield* answer(peer, yield* peer.expectRequest("elicitation/create"), { action: "accept", content: {} })
        yield* peer.expectResult(id)
        assert.strictEqual((yield* Effect.flip(yield* outcome))._tag, "MissingClientCapability")
        yield* peer.expectSilence
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))

  it.effect("can be none at all", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) => session.ask({}))
      yield* Effect.gen(function*() {
        yield* result(yield* connect(), "act")
        assert.deepStrictEqual(yield* outcome, Exit.succeed({}))
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))
})
