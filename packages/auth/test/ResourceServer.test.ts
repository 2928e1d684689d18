import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Effect } from "effect"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

describe("The metadata document", () => {
  it.scoped("MUST name the authorization servers, and SHOULD NOT list offline_access", () =>
    Effect.gen(function*() {
      const { server } = yield* Protected.world({ metadata: { resource_name: "Notes" } })
      for (const path of ["/mcp", ""]) {
        const found = yield* server.fetch(`/.well-known/oauth-protected-resource${path}`)
        assert.strictEqual(found.status, 200)
        assert.deepStrictEqual(found.json, {
          resource: Protected.RESOURCE,
          resource_name: "Notes",
          authorization_servers: [Protected.ISSUER],
          scopes_supported: ["notes:read", "notes:write"],
          bearer_methods_supported: ["header"]
        })
      }
    }))

  it.scoped("is for the pages of every origin", () =>
    Effect.gen(function*() {
      const { server } = yield* Protected.world()
      const path = "/.well-known/oauth-protected-resource/mcp"
      const got = yield* server.fetch(path, { headers: { origin: "https://app.test" } })
      assert.deepStrictEqual([got.status, got.headers.get("access-control-allow-origin")], [200, "*"])
      const preflight = yield* server.fetch(path, {
        method: "OPTIONS",
        headers: { origin: "https://app.test", "access-control-request-headers": "mcp-protocol-version" }
      })
      assert.strictEqual(preflight.status, 204)
      assert.match(preflight.headers.get("access-control-allow-headers")!, /MCP-Protocol-Version/)
      const post = yield* server.fetch("/mcp", { method: "POST", headers: { origin: "https://app.test" } })
      assert.strictEqual(post.status, 403)
    }))
})

describe("A protected server", () => {
  it.scoped("MUST answer 401 without a token, and says where to get which", () =>
    Effect.gen(function*() {
      const { server } = yield* Protected.world()
      const challenge = `Bearer scope="notes:read notes:write", resource_metadata="${Protected.METADATA}"`
      for (const authorization of [undefined, "Basic YTpi", "Bearerx y"]) {
        const refused = yield* server.call("whoami", authorization)
        assert.deepStrictEqual([refused.status, refused.challenge], [401, challenge])
      }
      assert.strictEqual((yield* server.fetch("/mcp")).status, 401)
      assert.strictEqual((yield* server.fetch("/mcp", { method: "DELETE" })).status, 401)
      assert.strictEqual((yield* server.legacy(Protected.initialize)).status, 401)
    }))

  it.scoped("gives handlers the user of a valid token", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const token = yield* login.sign()
      const served = yield* server.call("whoami", token)
      assert.strictEqual(served.status, 200, served.text)
      assert.deepStrictEqual(served.json.result.content, [{ type: "text", text: "https://login.test#ada true" }])
    }))

  it.scoped("SHOULD name all scopes of an operation in one challenge", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ requires: ["notes:read"] })
      const token = yield* login.sign()
      const refused = yield* server.call("purge", token)
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(
        refused.challenge,
        "Bearer error=\"insufficient_scope\", " +
          "error_description=\"This requires the scopes notes:read notes:admin notes:write\", " +
          `scope="notes:read notes:admin notes:write", resource_metadata="${Protected.METADATA}"`
      )
      assert.strictEqual(refused.json.id, 1)
    }))

  it.scoped("SHOULD bind tasks to their user: the id of a task of another user opens nothing", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const client = (sub: string) =>
        Effect.gen(function*() {
          const token = yield* login.sign({ claims: { sub } })
          const opened = yield* server.legacy(Protected.initialize, token)
          const session = {
            "mcp-session-id": opened.headers.get("mcp-session-id")!,
            "mcp-protocol-version": "2025-11-25"
          }
          yield* server.legacy(Message.notification("notifications/initialized"), token, session)
          return (method: string, params: object) =>
            server.legacy(Message.request(2, method, params as Message.Params), token, session)
        })
      const ada = yield* client("ada")
      const eve = yield* client("eve")
      const begun = yield* ada("tools/call", { name: "report", arguments: {}, task: {} })
      const { taskId } = begun.json.result.task
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.isDefined((yield* eve(method, { taskId })).json.error)
      }
      assert.deepStrictEqual((yield* eve("tasks/list", {})).json.result.tasks, [])
      assert.strictEqual((yield* ada("tasks/get", { taskId })).json.result.status, "working")
    }))

  it.scoped("MUST NOT pass a token on: the user that handlers get does not hold it", () =>
    Effect.gen(function*() {
      const login = yield* Protected.issuer()
      let seen: unknown
      const server = yield* Protected.make(Net.make({ [Protected.ISSUER]: login.handler }), {
        user: (token) =>
          Effect.sync(() => {
            seen = token
            return token
          })
      })
      const token = yield* login.sign()
      assert.strictEqual((yield* server.call("whoami", token)).status, 200)
      assert.notInclude(JSON.stringify(seen), token.split(".")[2])
    }))

  it.scoped("a session id of another user opens nothing", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world()
      const ada = yield* login.sign()
      const eve = yield* login.sign({ claims: { sub: "eve" } })
      const opened = yield* server.legacy(Protected.initialize, ada)
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-11-25" }
      const ping = Message.request(2, "ping")
      assert.strictEqual((yield* server.legacy(ping, ada, session)).status, 200)
      assert.strictEqual((yield* server.legacy(ping, eve, session)).status, 404)
      assert.strictEqual((yield* server.legacy(ping, undefined, session)).status, 401)
    }))
})
