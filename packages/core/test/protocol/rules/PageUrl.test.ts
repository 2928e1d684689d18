import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { Effect, Layer } from "effect"
import * as PageUrl from "../../../src/protocol/rules/PageUrl.js"

const refused = [
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  " \u0000javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "FILE:///etc/passwd",
  "vbscript:x",
  "blob:https://example.com/1",
  "view-source:https://example.com",
  "myapp://login",
  "ms-msdt:/id",
  "ssh://example.com",
  "mailto:ada@example.com"
]

describe("The URL of a page that a server asks a user to open", () => {
  for (const url of refused) {
    it(`is refused: ${JSON.stringify(url)}`, () => assert.include(PageUrl.problem(url), "is not the scheme of a page"))
  }

  it("is accepted with the scheme of a page, also with another scheme elsewhere", () => {
    for (
      const url of ["https://example.com/?u=javascript:x", "http://localhost:3000", "HTTPS://example.com", "/data:x"]
    ) {
      assert.isUndefined(PageUrl.problem(url))
    }
  })

  it("is not sent by a server, which tells its handler why", () => {
    const question = (url: string) => Ask.url({ message: "Log in", url, elicitationId: "1" })
    assert.include(question("javascript:alert(1)").problem, "the url has the scheme \"javascript:\"")
    assert.isUndefined(question("https://example.com").problem)
  })

  it.scoped("does not reach the handler of a client", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const features = yield* ClientFeatures.make
      yield* Layer.build(
        Layer.provide(
          ClientFeatures.urlElicitation(({ url }) => Effect.sync(() => (seen.push(url), "accept" as const))),
          Layer.succeed(ClientFeatures.ClientFeatures, features)
        )
      )
      const ask = (url: string) =>
        features.url!.handler({ message: "x", url, elicitationId: "1" } as never) as Effect.Effect<
          unknown,
          Error,
          any
        > as Effect.Effect<unknown, Error>
      for (const url of refused) assert.include((yield* Effect.flip(ask(url))).message, "Invalid params: the url has")
      yield* ask("https://example.com")
      assert.deepStrictEqual(seen, ["https://example.com"])
    }))
})
