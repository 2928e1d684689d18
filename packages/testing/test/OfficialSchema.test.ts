import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as OfficialSchema from "@effect-mcp/testing/OfficialSchema"
import { Effect } from "effect"

const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0.0.0" }
}

const request = (method: string, params?: JsonObject) => Message.request(1, method, params)

for (const version of Version.all) {
  describe(`The oracle of ${version}`, () => {
    it.effect("is compiled once", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        assert.strictEqual(oracle.version, version)
        assert.strictEqual(yield* OfficialSchema.make(version), oracle)
      }))

    it.effect("accepts every kind of message", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        const messages = [
          request("x"),
          Message.request("", "x", { a: null }),
          Message.notification("x"),
          Message.notification("x", { _meta: {} }),
          // The modern schema says of every result what kind it is of.
          Message.success(0, { resultType: "complete" }),
          Message.failure(1, { code: 1, message: "no", data: [1] }),
          // What could not be read has no id.
          Message.failure(undefined, { code: -32700, message: "what?" })
        ]
        for (const message of messages) assert.isUndefined(oracle.message(message), JSON.stringify(message))
      }))

    it.effect("reports values that are not messages", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        const messages: ReadonlyArray<unknown> = [
          {},
          { jsonrpc: "2.0" },
          { jsonrpc: "1.0", id: 1, method: "x" },
          { jsonrpc: "2.0", id: null, method: 7 },
          { jsonrpc: "2.0", id: 1, result: 7 },
          { jsonrpc: "2.0", error: { code: 1.5, message: "no" } },
          { jsonrpc: "2.0", id: 1, error: { code: 1 } }
        ]
        for (const message of messages) {
          assert.include(
            oracle.message(message as Message.Message),
            `JSONRPCMessage of ${version}: `,
            JSON.stringify(message)
          )
        }
      }))

    it.effect("accepts calls of unknown methods", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        assert.isUndefined(oracle.call(request("ours/do", { anything: 1 })))
        assert.isUndefined(oracle.call(Message.notification("notifications/ours")))
        assert.isUndefined(oracle.result("ours/do", 7))
      }))

    it.effect("checks the result of a tool", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        assert.isUndefined(oracle.result("tools/call", { content: [], resultType: "complete" }))
        assert.include(oracle.result("tools/call", { content: 7, resultType: "complete" }), `of ${version}: `)
        assert.isString(oracle.result("tools/call", { isError: true }))
      }))

    it.effect("checks ids, URIs, URI templates and base64", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
        const image = (data: string) =>
          oracle.result("tools/call", { ...hints, content: [{ type: "image", data, mimeType: "image/png" }] })
        const blob = (uri: string, blob: string) =>
          oracle.result("resources/read", { ...hints, contents: [{ uri, blob }] })
        const template = (uriTemplate: string) =>
          oracle.result("resources/templates/list", { ...hints, resourceTemplates: [{ name: "a", uriTemplate }] })
        const valid = [
          oracle.message(request("x")),
          image("AAEC/w=="),
          image(""),
          blob("test://a", "AAE="),
          template("test://{a}")
        ]
        const invalid = [
          oracle.message({ ...request("x"), id: 1.5 }),
          oracle.message({ ...request("x"), id: null as never }),
          image("AAEC_w=="),
          image("AAE"),
          blob("test://a", "="),
          blob("no URI", ""),
          template("test://{a")
        ]
        assert.deepStrictEqual(valid, valid.map(() => undefined))
        assert.deepStrictEqual(invalid.map((violation) => typeof violation), invalid.map(() => "string"))
      }))
  })
}

for (const version of Version.legacy) {
  describe(`The oracle of ${version}, as any with a handshake,`, () => {
    it.effect("checks the requests of a method", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        assert.isUndefined(oracle.call(request("initialize", initialize)))
        assert.include(
          oracle.call(request("initialize", { ...initialize, clientInfo: {} })),
          `InitializeRequest of ${version}: message/params/clientInfo must have required property 'name'`
        )
        assert.isString(oracle.call(request("tools/call", { arguments: {} })))
        assert.isUndefined(oracle.call(request("ping")))
      }))

    it.effect("checks notifications", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        const progress = (params: JsonObject) => oracle.call(Message.notification("notifications/progress", params))
        assert.isUndefined(progress({ progressToken: 1, progress: 0.5 }))
        assert.isString(progress({ progressToken: true, progress: 0.5 }))
        assert.isString(progress({ progressToken: 1, progress: "half" }))
      }))

    it.effect("accepts any object as an empty result", () =>
      Effect.gen(function*() {
        const oracle = yield* OfficialSchema.make(version)
        for (const method of ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]) {
          assert.isUndefined(oracle.result(method, {}))
          assert.isString(oracle.result(method, { _meta: 7 }))
        }
      }))
  })
}

describe("The oracles", () => {
  const says = (version: Version.Version, method: string, result: unknown) =>
    Effect.map(OfficialSchema.make(version), (oracle) => oracle.result(method, result))

  it.effect("differ by what each revision introduced", () =>
    Effect.gen(function*() {
      const audio = { content: [{ type: "audio", data: "", mimeType: "audio/wav" }] }
      assert.isString(yield* says("2024-11-05", "tools/call", audio))
      assert.isUndefined(yield* says("2025-03-26", "tools/call", audio))
      const list = { content: [], structuredContent: [1] }
      assert.isString(yield* says("2025-11-25", "tools/call", list))
      assert.isUndefined(yield* says("2026-07-28", "tools/call", { ...list, resultType: "complete" }))
    }))

  it.effect("accept a required input as the answer to a modern call", () =>
    Effect.gen(function*() {
      const question = { resultType: "input_required", requestState: "sealed" }
      assert.isUndefined(yield* says("2026-07-28", "tools/call", question))
      assert.isString(yield* says("2026-07-28", "tools/list", question))
    }))
})
