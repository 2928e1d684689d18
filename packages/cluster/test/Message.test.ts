import { assert, describe, it } from "@effect/vitest"
import * as Message from "../src/nemesis/Message.js"

describe("a message of the server of a run", () => {
  it("says which client it was made for, also where the result of its tool is a text", () => {
    const result = { echo: "c3/12", served: "c3", node: "n1.1" }
    const answer = (result: object) => JSON.stringify({ jsonrpc: "2.0", id: 12, result })
    const text = { content: [{ type: "text", text: JSON.stringify(result) }] }
    assert.strictEqual(Message.madeFor(answer(text)), "c3")
    assert.strictEqual(Message.madeFor(answer({ ...text, structuredContent: result })), "c3")
    assert.isUndefined(Message.madeFor(JSON.stringify({ method: "notifications/resources/updated" })))
  })
})
