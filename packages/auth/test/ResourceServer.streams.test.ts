import { assert, describe, it } from "@effect/vitest"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as TokenVerifier from "@effect-mcp/auth/TokenVerifier"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Message from "@effect-mcp/core/Message"
import { Effect, Fiber, Redacted, TestClock } from "effect"
import { settled } from "../../testing/test/support/Settled.js"
import * as Net from "./Net.js"
import * as Protected from "./Protected.js"

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

interface Open {
  /** What came until now is known when the stream has ended. */
  readonly hasEnded: Effect.Effect<boolean>
  readonly text: Effect.Effect<string>
}

const opened = (sending: Effect.Effect<Protected.Sent>): Effect.Effect<Open> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(sending)
    yield* settled
    return {
      hasEnded: Effect.zipRight(settled, Effect.map(Fiber.poll(fiber), ({ _tag }) => _tag === "Some")),
      text: Effect.map(Fiber.join(fiber), ({ text }) => text)
    }
  })

/** A client of HTTP+SSE that has initialized. */
const connected = (server: Protected.Protected, token: string) =>
  Effect.gen(function*() {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const get = new Request("https://mcp.test/sse", { headers: { ...headers, accept: "text/event-stream" } })
    const { body } = yield* Effect.promise(() => server.handler(get))
    const reader = body!.getReader()
    const { value } = yield* Effect.promise(() => reader.read())
    const path = /^data: (.+)$/m.exec(new TextDecoder().decode(value))![1]!
    const post = (message: unknown, token: string) =>
      server.fetch(path, {
        method: "POST",
        headers: { ...headers, authorization: `Bearer ${token}` },
        body: JSON.stringify(message)
      })
    yield* post(Protected.initialize, token)
    const reading = Effect.promise(async () => {
      for (let read = await reader.read(); !read.done; read = await reader.read());
      return { text: "" } as Protected.Sent
    })
    return { post, stream: yield* opened(reading) }
  })

/** The streams of each kind that a client of a protected server can leave open. */
const streams: Readonly<
  Record<string, (server: Protected.Protected, token: string, headers?: Record<string, string>) => Effect.Effect<Open>>
> = {
  "the standalone stream of a session": (server, token) =>
    Effect.gen(function*() {
      const { headers } = yield* server.legacy(Protected.initialize, token)
      return yield* opened(server.fetch("/mcp", {
        headers: {
          accept: "text/event-stream",
          authorization: `Bearer ${token}`,
          "mcp-session-id": headers.get("mcp-session-id")!
        }
      }))
    }),
  "the stream of HTTP+SSE": (server, token) => Effect.map(connected(server, token), ({ stream }) => stream),
  "a subscription of 2026-07-28": (server, token) =>
    opened(server.fetch("/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen"
      },
      body: JSON.stringify(
        Message.request(7, "subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: META })
      )
    }))
}

const http = { legacy: { ssePath: "/sse" } } as const

/** A verifier by introspection, of tokens that are active while they are in this set. */
const introspected = (active: Set<string>, isAway: () => boolean = () => false) => {
  const net = Net.make({
    [Protected.ISSUER]: (request) => {
      if (isAway()) return new Response("", { status: 502 })
      if (request.url.pathname !== "/introspect") {
        return Net.documents({
          "/.well-known/oauth-authorization-server": {
            issuer: Protected.ISSUER,
            token_endpoint: `${Protected.ISSUER}/token`,
            introspection_endpoint: `${Protected.ISSUER}/introspect`
          }
        })(request)
      }
      const token = request.form.get("token")!
      return Net.json(
        active.has(token) ? { active: true, sub: "ada", aud: Protected.RESOURCE, exp: 300 } : { active: false }
      )
    }
  })
  const verifier = IntrospectionVerifier.make({ client: { clientId: "notes", clientSecret: Redacted.make("secret") } })
  return Protected.make(net, { verifier, http })
}

describe.each(Object.entries(streams))("The stream of a client, %s,", (name, open) => {
  it.scoped("ends when its token expires, and another with that token when the token is refused", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ http })
      const token = yield* login.sign({ claims: { exp: 60 } })
      const stream = yield* open(server, token)
      yield* TestClock.adjust("59 seconds")
      assert.isFalse(yield* stream.hasEnded)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(yield* stream.hasEnded)
      if (name.startsWith("a subscription")) assert.match(yield* stream.text, /"id":7,"result"/)
      // Clocks may differ: the token is accepted for 30 seconds more.
      const late = yield* open(server, token)
      yield* TestClock.adjust("20 seconds")
      assert.isFalse(yield* late.hasEnded)
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(yield* late.hasEnded)
    }))

  it.scoped("ends when its token was revoked, and stays while the authorization server is away, until it expires", () =>
    Effect.gen(function*() {
      let isAway = false
      const active = new Set(["one", "two"])
      const server = yield* introspected(active, () => isAway)
      const one = yield* open(server, "one")
      const two = yield* open(server, "two")
      yield* TestClock.adjust("2 minutes")
      assert.isFalse(yield* one.hasEnded)
      active.delete("one")
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(yield* one.hasEnded)
      assert.isFalse(yield* two.hasEnded)
      isAway = true
      yield* TestClock.adjust("2 minutes")
      assert.isFalse(yield* two.hasEnded)
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(yield* two.hasEnded)
    }))

  it.scoped("ends when the application does not know its user any more, and lasts without a time of expiry", () =>
    Effect.gen(function*() {
      let isMember = true
      const claims = { aud: Protected.RESOURCE, sub: "ada" }
      const server = yield* Protected.make(Net.make(), {
        http,
        verifier: TokenVerifier.make(() => Effect.succeed({ issuer: Protected.ISSUER, claims })),
        user: (token) => isMember ? Effect.succeed(token) : Effect.fail(HttpRefusal.forbidden("Forbidden"))
      })
      const stream = yield* open(server, "token")
      yield* TestClock.adjust("20 minutes")
      assert.isFalse(yield* stream.hasEnded)
      isMember = false
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(yield* stream.hasEnded)
    }))
})

describe("The stream of HTTP+SSE", () => {
  it.scoped("lasts while its client sends requests with newer tokens", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ http })
      const { post, stream } = yield* connected(server, yield* login.sign({ claims: { exp: 60 } }))
      yield* TestClock.adjust("50 seconds")
      const newer = yield* login.sign({ claims: { exp: 120 } })
      assert.strictEqual((yield* post(Message.notification("notifications/initialized"), newer)).status, 202)
      yield* TestClock.adjust("60 seconds")
      assert.isFalse(yield* stream.hasEnded)
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(yield* stream.hasEnded)
    }))
})

describe("A call", () => {
  it.scoped("that has begun is answered, also after its token has expired", () =>
    Effect.gen(function*() {
      const { login, server } = yield* Protected.world({ http })
      const token = yield* login.sign({ claims: { exp: 60 } })
      const call = yield* opened(server.call("slow", token))
      yield* TestClock.adjust("3 minutes")
      assert.match(yield* call.text, /slept/)
    }))
})
