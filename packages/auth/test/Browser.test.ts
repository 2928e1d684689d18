import { assert, describe, it } from "@effect/vitest"
import * as Browser from "@effect-mcp/auth/Browser"
import { Effect } from "effect"

describe("A browser of the application", () => {
  it.scoped("is given the address and the state of each login", () =>
    Effect.gen(function*() {
      const opened: Array<string> = []
      const layer = Browser.layer({
        redirectUri: "https://host.test/callback",
        open: (url, state) =>
          Effect.as(Effect.sync(() => opened.push(`${url.href} ${state}`)), new URLSearchParams({ state }))
      })
      const { login } = yield* Effect.provide(Browser.Browser, layer)
      const { open, redirectUri } = yield* login([])
      assert.strictEqual(redirectUri, "https://host.test/callback")
      assert.strictEqual((yield* open(new URL("https://auth.test/"), "s1")).get("state"), "s1")
      assert.deepStrictEqual(opened, ["https://auth.test/ s1"])
    }))
})
