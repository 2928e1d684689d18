import { assert, describe, it } from "@effect/vitest"
import type { CreateMessageParams, SamplingMessage } from "@effect-mcp/core/protocol/Sampling"
import { Effect, Exit } from "effect"
import { ask, asking as tool, session } from "../modern/Asking.js"
import * as Modern from "../modern/Modern.js"
import { call, connect, result, serve } from "../Serving.js"
import { answer, asking, conversation, refuse } from "./Asking.js"

const text = (text: string) => ({ type: "text", text }) as const
const user = (content: SamplingMessage["content"]): SamplingMessage => ({ role: "user", content })
const assistant = (content: SamplingMessage["content"]): SamplingMessage => ({ role: "assistant", content })
const use = { type: "tool_use", id: "1", name: "find", input: { q: "x" } } as const
const found = { type: "tool_result", toolUseId: "1", content: [text("found")] } as const
const find = { name: "find", inputSchema: { type: "object" } } as const

const answered = { role: "assistant", model: "m", content: text("hello"), stopReason: "endTurn" } as const

const sampled = (params: CreateMessageParams, version?: string, result: object = answered) =>
  conversation({
    ask: (session) => session.createMessage(params),
    method: "sampling/createMessage",
    capabilities: version === undefined || version === "2025-11-25" ? { sampling: { tools: {} } } : { sampling: {} },
    ...(version === undefined ? undefined : { version }),
    result: result as never
  })

describe("The client's model", () => {
  it.effect("continues messages", () =>
    Effect.gen(function*() {
      const params = {
        messages: [user(text("hi")), assistant(text("hello")), user([text("and"), text("so on")])],
        systemPrompt: "Be brief.",
        maxTokens: 7,
        temperature: 0,
        stopSequences: ["."],
        modelPreferences: { hints: [{ name: "small" }], costPriority: 1 },
        metadata: { a: 1 }
      }
      const { outcome, params: asked } = yield* sampled(params)
      assert.deepStrictEqual(asked, params)
      assert.deepStrictEqual(outcome, Exit.succeed(answered))
    }))

  it.effect("uses tools that it was given, and names them", () =>
    Effect.gen(function*() {
      const params = {
        messages: [user(text("hi"))],
        maxTokens: 7,
        tools: [find],
        toolChoice: { mode: "required" }
      } as const
      const using = { role: "assistant", model: "m", content: [use], stopReason: "toolUse" } as const
      const { outcome, params: asked } = yield* sampled(params, undefined, using)
      assert.deepStrictEqual(asked, params)
      assert.deepStrictEqual(outcome, Exit.succeed(using))
    }))

  for (
    const [includeContext, version, sampling, sent] of [
      ["thisServer", "2025-11-25", {}, undefined],
      ["allServers", "2025-11-25", { tools: {} }, undefined],
      ["allServers", "2025-11-25", { context: {} }, "allServers"],
      ["none", "2025-11-25", {}, "none"],
      ["thisServer", "2025-06-18", {}, "thisServer"]
    ] as const
  ) {
    const what = `includeContext "${includeContext}" for a client of ${version} with ${JSON.stringify({ sampling })}`
    it.effect(`SHOULD NOT get context without sampling.context: sends ${sent ?? "nothing"} of ${what}`, () =>
      Effect.gen(function*() {
        const { outcome, params } = yield* conversation({
          ask: (session) => session.createMessage({ messages: [user(text("hi"))], maxTokens: 7, includeContext }),
          method: "sampling/createMessage",
          capabilities: { sampling },
          version,
          result: answered
        })
        assert.strictEqual(params?.includeContext, sent)
        assert.deepStrictEqual(outcome, Exit.succeed(answered))
      }))
  }

  for (const sampling of [{}, { context: {} }]) {
    it.scoped(`SHOULD NOT get context without sampling.context, at 2026-07-28 with ${JSON.stringify({ sampling })}`, () => {
      const handler = Effect.flatMap(
        session,
        (one) => one.createMessage({ messages: [user(text("hi"))], maxTokens: 7, includeContext: "allServers" })
      )
      return Effect.gen(function*() {
        const { inputRequests } = yield* ask(yield* Modern.connect, {}, { sampling })
        const sent = Object.values(inputRequests).map(({ params }) => params.includeContext)
        assert.deepStrictEqual(sent, ["context" in sampling ? "allServers" : undefined])
      }).pipe(Effect.provide(serve(tool(handler))))
    })
  }

  it.effect("gets messages in the form of an older revision: one block a message, tools and audio as text", () =>
    Effect.gen(function*() {
      const messages = [user([text("a"), text("b")]), assistant(use), user(found)]
      const older = yield* sampled({ messages, maxTokens: 7 }, "2025-06-18")
      assert.deepStrictEqual((older.params as unknown as CreateMessageParams).messages, [
        user(text("a")),
        user(text("b")),
        assistant(text(`[tool use: find] {"q":"x"}`)),
        user(text("[tool result]\nfound"))
      ])
      const sound = user({ type: "audio", data: "AQ==", mimeType: "audio/wav" })
      for (const [version, kind] of [["2024-11-05", "text"], ["2025-03-26", "audio"]] as const) {
        const { outcome, params } = yield* sampled({ messages: [sound], maxTokens: 7 }, version)
        const [message] = (params as unknown as { messages: ReadonlyArray<{ content: { type: string } }> }).messages
        assert.strictEqual(message?.content.type, kind)
        assert.deepStrictEqual(outcome, Exit.succeed(answered))
      }
    }))

  it.effect("MUST NOT get tools through a client without the capability, and nothing is sent", () =>
    Effect.gen(function*() {
      for (const more of [{ tools: [find] }, { toolChoice: { mode: "auto" } }] as const) {
        const { live, outcome } = yield* asking((session) =>
          session.createMessage({ messages: [user(text("hi"))], maxTokens: 7, ...more })
        )
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, { sampling: {} })
          yield* result(peer, "act")
          assert.deepInclude(yield* Effect.flip(yield* outcome), {
            _tag: "MissingClientCapability",
            required: { sampling: { tools: {} } }
          })
          yield* peer.expectSilence
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }
    }))

  const dialogues: ReadonlyArray<readonly [string, ReadonlyArray<SamplingMessage>, string]> = [
    ["a use that is not answered", [user(text("hi")), assistant(use)], "message 1: a tool use is not answered"],
    ["an answer to no use", [user(found)], "message 0: a tool result answers no tool use of the message before"],
    [
      "an answer among other things",
      [assistant(use), user([found, text("!")])],
      "message 1: a message with tool results must not have other content"
    ],
    ["a user that uses tools", [user(use)], "message 0: only a message of the assistant may use tools"],
    [
      "an assistant that answers",
      [assistant(use), assistant(found)],
      "message 1: only a message of the user may have tool results"
    ]
  ]
  for (const [what, messages, why] of dialogues) {
    it.effect(`MUST NOT be asked to continue ${what}, and nothing is sent`, () =>
      Effect.gen(function*() {
        const { live, outcome } = yield* asking((session) => session.createMessage({ messages, maxTokens: 7 }))
        yield* Effect.gen(function*() {
          const peer = yield* connect(undefined, { sampling: { tools: {} } })
          yield* result(peer, "act")
          assert.deepInclude(yield* Effect.flip(yield* outcome), {
            _tag: "InternalError",
            message: `"sampling/createMessage" cannot be sent: ${why}`
          })
          yield* peer.expectSilence
        }).pipe(Effect.scoped, Effect.provide(serve(live)))
      }))
  }

  it.effect("that breaks the rules for tools gives an answer that is not valid", () =>
    Effect.gen(function*() {
      const ask = (mode: "none" | "required") => ({
        messages: [user(text("hi"))],
        maxTokens: 7,
        tools: [find],
        toolChoice: { mode }
      })
      const required = yield* sampled(ask("required"))
      assert.deepInclude(yield* Effect.flip(required.outcome), {
        _tag: "TransportError",
        reason: "Decode",
        message: `The client's answer to "sampling/createMessage" is not valid: the model had to use a tool`
      })
      const none = yield* sampled(ask("none"), undefined, { ...answered, content: [use] })
      assert.include((yield* Effect.flip(none.outcome)).message, "the model must not use a tool")
    }))

  it.effect("is not asked when its user rejects that, which the handler sees as an error", () =>
    Effect.gen(function*() {
      const { live, outcome } = yield* asking((session) =>
        session.createMessage({ messages: [user(text("hi"))], maxTokens: 7 })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { sampling: {} })
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("sampling/createMessage")
        yield* refuse(peer, question, { code: -1, message: "User rejected sampling request" })
        yield* peer.expectResult(id)
        assert.deepInclude(yield* Effect.flip(yield* outcome), {
          _tag: "PeerError",
          code: -1,
          message: "User rejected sampling request"
        })
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))

  it.effect("reports progress, which extends the timeout", () =>
    Effect.gen(function*() {
      const heard: Array<number> = []
      const { live, outcome } = yield* asking((session) =>
        session.createMessage({ messages: [user(text("hi"))], maxTokens: 7 }, {
          onProgress: ({ progress }) => Effect.sync(() => heard.push(progress))
        })
      )
      yield* Effect.gen(function*() {
        const peer = yield* connect(undefined, { sampling: {} })
        const id = yield* call(peer, "act")
        const question = yield* peer.expectRequest("sampling/createMessage")
        const { progressToken } = question.params?._meta as { readonly progressToken: string }
        yield* peer.notify("notifications/progress", { progressToken, progress: 1 })
        yield* answer(peer, question, answered)
        yield* peer.expectResult(id)
        assert.deepStrictEqual(yield* outcome, Exit.succeed(answered))
        assert.deepStrictEqual(heard, [1])
      }).pipe(Effect.scoped, Effect.provide(serve(live)))
    }))
})
