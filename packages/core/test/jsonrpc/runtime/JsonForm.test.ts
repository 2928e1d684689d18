import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as Direct from "@effect-mcp/core/Direct"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, Schema } from "effect"
import { untilSuspended } from "../../../../testing/test/support/Suspended.js"

class Point {
  private readonly hidden = 1
  constructor(readonly x: number) {}
  get y() {
    return this.hidden
  }
}

const cycle: Record<string, unknown> = {}
cycle.self = cycle

let deep: object = {}
for (let depth = 0; depth < 1500; depth++) deep = { deep }

/** Values that JSON changes. */
const changed: Record<string, unknown> = {
  "an absent member": { a: undefined, b: 1 },
  "an absent element": [1, undefined, , 2], // eslint-disable-line no-sparse-arrays
  "a date": { at: new Date(0) },
  "an object with toJSON": { a: { toJSON: () => "text" } },
  "no number": [NaN, Infinity, -0],
  "a function": { a: () => 1 },
  "a symbol": { a: Symbol.iterator },
  "an instance of a class": new Point(1),
  "a map": new Map([[1, 2]]),
  "a boxed text": { a: Object("text") },
  "half of a character": { a: "\ud800", ["\udc00"]: 1 },
  "a member named __proto__": JSON.parse("{\"__proto__\":1}"),
  "a nested absent member": { a: [{ b: { c: undefined } }] }
}

const pairs = { Direct: Direct.pair, "Transport.memory": Transport.memory() }

/** What the other side receives of messages. */
const received = (pair: (typeof pairs)[keyof typeof pairs], messages: ReadonlyArray<Message.Message>) =>
  Effect.scoped(Effect.gen(function*() {
    const [left, right] = yield* pair
    const received: Array<Transport.Delivery> = []
    const fiber = yield* Effect.fork(Transport.run(right, (incoming) => received.push(incoming)))
    yield* untilSuspended(fiber)
    for (const message of messages) {
      assert.isTrue(left.unsafeSend(message))
      yield* left.send(message)
    }
    yield* untilSuspended(fiber)
    return received
  }))

describe("In process", () => {
  for (const [name, pair] of Object.entries(pairs)) {
    for (const [what, value] of Object.entries(changed)) {
      it.effect(`${what} arrives by ${name} as it does over JSON`, () =>
        Effect.gen(function*() {
          const messages = [
            Message.request(1, "a", { value }),
            Message.notification("b", { value }),
            Message.success(2, { value }),
            Message.failure(3, { code: 1, message: "c", data: value })
          ]
          const expected = messages.map((message) => MessageText.parse(MessageText.stringify(message)!))
          const twice = expected.flatMap((one) => [one, one])
          assert.deepStrictEqual<unknown>(yield* received(pair, messages), twice)
        }))
    }

    it.effect(`a message that has only values of JSON arrives by ${name} as the same value, however deep`, () =>
      Effect.gen(function*() {
        const plain = Message.request(1, "a", { value: [null, true, -1.5, "é😀", { a: Object.create(null) }] })
        const deepOne = Message.request(2, "a", { deep })
        const got = yield* received(pair, [plain, Message.notification("b"), deepOne])
        assert.strictEqual(got[0], plain)
        assert.deepStrictEqual(got[2], { jsonrpc: "2.0", method: "b" })
        assert.strictEqual(JSON.stringify(got[4]), JSON.stringify(deepOne))
      }))

    it.scoped(`what has no JSON form is not sent by ${name}, and an answer without one is "Internal error"`, () =>
      Effect.gen(function*() {
        for (const value of [1n, cycle]) {
          const [left] = yield* pair
          const message = Message.request(1, "a", { value })
          assert.isFalse(left.unsafeSend(message))
          assert.deepInclude(yield* Effect.flip(left.send(message)), { _tag: "TransportError", reason: "Encode" })
          const [answer] = yield* received(pair, [Message.success(1, { value })])
          assert.deepInclude(answer as object, { error: { code: -32603, message: "Internal error" } })
        }
      }))
  }

  const Odd = Tool.make("odd", {
    parameters: { at: Schema.optionalWith(Schema.String, { exact: true }), note: Schema.optional(Schema.String) },
    success: Schema.Struct({ seen: Schema.Array(Schema.String), note: Schema.optional(Schema.String) })
  })

  for (const version of ["2025-11-25", "2026-07-28"] as const) {
    for (const transport of ["direct", undefined] as const) {
      it.effect(`arguments and results may have members that are undefined, at ${version} by ${transport ?? "JSON"}`, () =>
        Effect.gen(function*() {
          const client = yield* Client.Client
          const { structuredContent } = yield* client.callTool("odd", { at: undefined, note: undefined } as never)
          assert.deepStrictEqual<unknown>(structuredContent, { seen: [] })
        }).pipe(Effect.provide(TestServer.layer(
          Definition.make(Odd),
          McpServer.tool(Odd, (given) => Effect.succeed({ seen: Object.keys(given), note: undefined })),
          { versions: [version], transport }
        ))))
    }
  }
})
