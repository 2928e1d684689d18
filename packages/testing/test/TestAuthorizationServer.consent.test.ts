import { assert, describe, it } from "@effect/vitest"
import type { AuthorizationRequest } from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Exit } from "effect"
import { authorization, basic, codeOf, exchange, post, SECRET, send, withServer } from "./Logins.js"

const { redirectUri } = TestAuthorizationServer

const DOCUMENT = "https://app.test/client.json"

const document = (clientId: string) => ({ client_id: clientId, client_name: "App", redirect_uris: [redirectUri] })

describe("The user", () => {
  it.effect("MUST be shown where the response goes: a user who knows no such program refuses", () =>
    Effect.gen(function*() {
      const shown: Array<string> = []
      const consent = ({ clientId, redirectUri }: AuthorizationRequest) => {
        const { host } = new URL(redirectUri)
        shown.push(`${clientId} at ${host}`)
        return host === "127.0.0.1:6666" ? { error: "access_denied" } : {}
      }
      yield* withServer(
        { consent, clientDocument: (url) => Effect.succeed(document(url)) },
        (server) =>
          Effect.gen(function*() {
            assert.isString(yield* codeOf(server, { client_id: DOCUMENT }))
            // Another program of the machine takes the document of the first one.
            const redirect_uri = redirectUri.replace("7777", "6666")
            const response = yield* server.login(yield* authorization({ client_id: DOCUMENT, redirect_uri }))
            assert.strictEqual(response.get("error"), "access_denied")
            assert.isFalse(response.has("code"))
          })
      )
      assert.deepStrictEqual(shown, [`${DOCUMENT} at 127.0.0.1:7777`, `${DOCUMENT} at 127.0.0.1:6666`])
    }))

  it.effect("MUST consent to each client: what was granted to one is nothing to another", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const consent = ({ clientId }: AuthorizationRequest) => {
        asked.push(clientId)
        return clientId === "person" ? {} : { error: "consent_required" }
      }
      yield* withServer({ consent }, (server) =>
        Effect.gen(function*() {
          const code = yield* codeOf(server)
          const other = yield* server.login(yield* authorization({ client_id: "program" }))
          assert.strictEqual(other.get("error"), "consent_required")
          yield* codeOf(server)
          assert.deepStrictEqual(asked, ["person", "program", "person"])
          // The code is the client's own, and is used up by another's attempt.
          const stolen = yield* post(server, "/token", exchange(code, { client_id: "program", client_secret: SECRET }))
          assert.strictEqual(stolen.json["error"], "invalid_grant")
          assert.strictEqual((yield* post(server, "/token", exchange(code))).json["error"], "invalid_grant")
        }))
    }))

  it.effect("MUST NOT be asked in a frame, nor be known by a cookie, and a refused request has no state", () =>
    Effect.gen(function*() {
      let asked = 0
      const consent = () => {
        asked++
        return {}
      }
      yield* withServer({ consent }, (server) =>
        Effect.gen(function*() {
          const { search } = yield* authorization()
          const { search: elsewhere } = yield* authorization({ redirect_uri: "https://evil.test/" })
          const page = yield* send(server, `/authorize${elsewhere}`)
          assert.include(page.headers.get("content-security-policy"), "frame-ancestors 'none'")
          assert.strictEqual(page.headers.get("cache-control"), "no-store")
          assert.isNull(page.headers.get("location"))
          assert.strictEqual(asked, 0)
          const cookie = { cookie: "__Host-consent=person" }
          const answers = [page]
          for (const headers of [{}, cookie]) answers.push(yield* send(server, `/authorize${search}`, { headers }))
          answers.push(yield* post(server, "/token", {}, { ...basic, ...cookie }))
          for (const { headers } of answers) assert.isNull(headers.get("set-cookie"))
          assert.strictEqual(asked, 2)
        }))
    }))
})

describe("The document of a client", () => {
  it.effect("SHOULD be fetched only from an https address with a path, that names no other host", () =>
    Effect.gen(function*() {
      const fetched: Array<string> = []
      const clientDocument = (url: string) => {
        fetched.push(url)
        return Effect.succeed(document(url))
      }
      yield* withServer({ clientDocument }, (server) =>
        Effect.gen(function*() {
          const wrong = [
            "http://app.test/client.json",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://app.test",
            "https://app.test/",
            `${DOCUMENT}#part`,
            "https://app.test@evil.test/client.json",
            "https://app.test:pass@evil.test/client.json",
            "https://app.test/../client.json",
            "https://app.test\\client.json",
            "https:app.test/client.json"
          ]
          for (const client_id of wrong) {
            assert.isTrue(Exit.isFailure(yield* Effect.exit(codeOf(server, { client_id }))), client_id)
          }
          assert.deepStrictEqual(fetched, [])
          assert.isString(yield* codeOf(server, { client_id: DOCUMENT }))
          assert.deepStrictEqual(fetched, [DOCUMENT])
        }))
    }))
})
