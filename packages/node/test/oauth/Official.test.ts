/**
 * The official SDK and Effect MCP with one authorization server: its clients log in to our server, and our client to its.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as OfficialClient from "./OfficialClient.js"
import * as OfficialServer from "./OfficialServer.js"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"

const { whoami } = Protected

describe("A server of Effect MCP", () => {
  for (const [name, make] of Object.entries(OfficialClient.clients)) {
    // Version 1 refreshes its token when it lacks a scope, and does not log in again.
    const widens = name !== "the client of SDK 1.32"
    it.scopedLive(`is logged in to by ${name}, which refreshes${widens ? " and gets more scopes" : ""}`, () =>
      Effect.gen(function*() {
        const provider = yield* Provider.make({ format: "opaque", clients: [Protected.introspector] })
        const server = yield* Protected.make(provider, { introspect: true })
        const official = yield* OfficialClient.connect(make, server.url)
        assert.deepInclude(yield* official.whoami, { name: "ada", scopes: ["notes:read"] })
        assert.lengthOf(official.visitor.opened, 1)
        const before = provider.count("POST /token")
        yield* provider.forget("AccessToken")
        assert.strictEqual((yield* official.whoami).name, "ada")
        assert.strictEqual(provider.count("POST /token"), before + 1)
        assert.lengthOf(official.visitor.opened, 1)
        if (!widens) return
        yield* server.require("notes:write")
        assert.include((yield* official.whoami).scopes, "notes:write")
        assert.lengthOf(official.visitor.opened, 2)
      }))
  }

  for (const name of ["the client of SDK 2.4 in the legacy era", "the client of SDK 2.4 in the modern era"] as const) {
    it.scopedLive(`accepts tokens that are bound to a key of ${name}`, () =>
      Effect.gen(function*() {
        const provider = yield* Provider.make({ dpop: true, requireNonce: true })
        const server = yield* Protected.make(provider)
        const official = yield* OfficialClient.connect(OfficialClient.clients[name]!, server.url, { dpop: true })
        assert.strictEqual((yield* official.whoami).name, "ada")
        assert.strictEqual(official.tokenType(), "DPoP")
      }))
  }
})

describe("A client of Effect MCP", () => {
  for (const [name, start] of Object.entries(OfficialServer.servers)) {
    for (const version of ["2025-06-18", "2025-11-25", "2026-07-28"] as const) {
      if (version === "2026-07-28" && start === OfficialServer.servers["the server of SDK 1.32"]) continue
      it.scopedLive(`logs in to ${name}, refreshes and gets more scopes, at ${version}`, () =>
        Effect.gen(function*() {
          const provider = yield* Provider.make({ format: "opaque", clients: [Protected.introspector] })
          const server = yield* start(provider)
          const program = yield* Program.make()
          const client = yield* program.connect(server.url, version)
          assert.strictEqual(client.version, version)
          assert.deepInclude(yield* whoami(client), { scopes: ["notes:read"] })
          yield* provider.forget("AccessToken")
          assert.deepInclude(yield* whoami(client), { scopes: ["notes:read"] })
          assert.lengthOf(program.visitor.opened, 1)
          server.required.push("notes:write")
          assert.sameMembers([...(yield* whoami(client)).scopes], ["notes:read", "notes:write"])
          assert.lengthOf(program.visitor.opened, 2)
        }))
    }
  }
})
