import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Message from "../../../src/jsonrpc/Message.js"
import * as MessageOutline from "../../../src/jsonrpc/runtime/MessageOutline.js"

const long = "x".repeat(5000)

describe("MessageOutline.read", () => {
  const texts: ReadonlyArray<
    readonly [name: string, text: string, kind: MessageOutline.MessageOutline["kind"], id?: unknown]
  > = [
    ["a request", `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"${long}"}}`, "request", 7],
    [
      "a request whose id comes last",
      `{"method":"m","params":{"a":"${long}"},"jsonrpc":"2.0","id":"a"}`,
      "request",
      "a"
    ],
    ["a request that begins with its parameters", `{"params":{"a":"${long}"},"id":7,"method":"m"}`, "request", 7],
    ["a notification", `{"jsonrpc":"2.0","method":"m","params":{"id":1,"a":"${long}","id":2}}`, "request"],
    ["a response", `{"jsonrpc":"2.0","id":-7,"result":{"method":"${long}"}}`, "response", -7],
    [
      "a response whose id comes last",
      `{"result":{"id":8,"a":"${long}"} , "jsonrpc" : "2.0" , "id" : 7 } \n`,
      "response",
      7
    ],
    ["an error", `{"id":"\\"q\\"","error":{"message":"${long}"}}`, "response", "\"q\""],
    ["an error without an id", `{"id":null,"error":{"message":"${long}"}}`, "response"],
    ["a message that is both", `{"result":1,"method":"m","params":{"a":"${long}"}}`, "request"],
    ["a batch of requests", `[{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"${long}"}}]`, "request"],
    ["a batch of responses", `[ {"id":7,"result":{"a":"${long}"}}]`, "response"],
    ["names within values", `{"a":{"method":1,"id":2},"b":["result",{"error":1}],"c":"${long}"}`, undefined],
    ["names that stand too far within", `{"a":"${long}","method":"m","id":7,"b":{"c":"${long}"}}`, undefined],
    ["an id that is cut", `{"method":"m","id":"${long}","b":{"c":"${long}"}}`, "request"],
    ["an id in a string at the end", `{"method":"m","params":{},"b":"${long},\\"id\\":7}"}`, "request"],
    ["an id that is none", `{"method":"m","id":1.5,"params":{"a":"${long}"}}`, "request"],
    ["an object within a string", `{"a":"{\\"method\\":1,${long}`, undefined],
    ["no message", `]]}"${long}`, undefined],
    ["nothing", "", undefined]
  ]

  for (const [name, text, kind, id] of texts) {
    it(`finds ${name}`, () => {
      assert.deepStrictEqual<unknown>(MessageOutline.read(text), { kind, id })
    })
  }

  const members = FastCheck.record({
    jsonrpc: FastCheck.constant("2.0"),
    id: FastCheck.oneof(FastCheck.string(), FastCheck.integer()),
    body: FastCheck.oneof(
      FastCheck.record({
        method: FastCheck.string(),
        params: FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue())
      }),
      FastCheck.record({ result: FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue()) })
    )
  })

  it("agrees with parsing for short messages, in any order of their members", () => {
    FastCheck.assert(FastCheck.property(members, FastCheck.array(FastCheck.nat(), { minLength: 4, maxLength: 4 }), (
      { body, ...rest },
      order
    ) => {
      const entries = Object.entries({ ...rest, ...body }).map((entry, i) => [order[i]!, entry] as const)
      const message = Object.fromEntries(entries.sort(([a], [b]) => a - b).map(([, entry]) => entry))
      const text = JSON.stringify(message)
      if (text.length > 1024) return
      const parsed = Message.fromUnknown(JSON.parse(text)) as Message.Request | Message.Response
      assert.deepStrictEqual<unknown>(MessageOutline.read(text), {
        kind: Message.isResponse(parsed) ? "response" : "request",
        id: parsed.id
      })
    }))
  })

  it("reads the two ends only", () => {
    const text = { slice: (from: number, to?: number) => (assert.isAtMost((to ?? 0) - from, 1024), "{}") }
    assert.deepStrictEqual(MessageOutline.read(text as unknown as string), { kind: undefined, id: undefined })
  })
})
