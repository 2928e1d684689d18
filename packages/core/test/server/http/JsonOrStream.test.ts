import { assert, describe, it } from "@effect/vitest"
import * as JsonOrStream from "../../../src/server/http/JsonOrStream.js"
import type { Form } from "../../../src/server/http/MediaType.js"

describe("The answer to a POST", () => {
  const responses: ReadonlyArray<
    readonly [sentence: string, form: Form, stream: boolean, refusal: boolean, json: boolean]
  > = [
    ["is JSON where nothing was sent before the response", "auto", false, false, true],
    ["is a stream once something was sent", "auto", true, false, false],
    ["is JSON where nothing else is accepted", "json", false, false, true],
    ["is a stream where streams are preferred", "stream", false, false, false],
    ["is JSON for a refusal, which has a status, also where streams are preferred", "stream", false, true, true],
    ["is a stream for a refusal after something was sent", "auto", true, true, false]
  ]

  for (const [sentence, form, hasStream, isRefusal, isJson] of responses) {
    it(sentence, () => assert.strictEqual(JsonOrStream.isJson(form, hasStream, isRefusal), isJson))
  }

  it("begins before the response where a stream is accepted, and at once where streams are preferred", () => {
    const forms: ReadonlyArray<Form> = ["auto", "json", "stream"]
    assert.deepStrictEqual(forms.map(JsonOrStream.mayStream), [true, false, true])
    assert.deepStrictEqual(forms.map(JsonOrStream.beginsAsStream), [false, false, true])
  })
})
