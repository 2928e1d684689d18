/**
 * Credentials in a directory, for several runs of a program and for several programs; and many servers at once.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import { Context, Effect, Fiber, Layer } from "effect"
import * as fs from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../HttpFixture.js"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"

const { whoami } = Protected

const directory = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => fs.mkdtemp(join(tmpdir(), "oauth-"))),
    (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
  ),
  CredentialDirectory.layer
)

const opaque = { format: "opaque", clients: [Protected.introspector] } as const

describe("Credentials in a directory", () => {
  it.scopedLive("serve the next run of a program: it neither registers, nor logs in, but refreshes", () =>
    Effect.gen(function*() {
      const store = yield* directory
      const provider = yield* Provider.make(opaque)
      const server = yield* Protected.make(provider, { introspect: true })
      const run = <A, E>(use: (program: Program.Program) => Effect.Effect<A, E>) =>
        Effect.scoped(Effect.flatMap(Program.make({ store }), (program) =>
          program.provide(Effect.zipRight(
            use(program),
            Effect.map(
              Effect.flatMap(program.connect(server.url), whoami),
              ({ clientId }) => ({ clientId, logins: program.visitor.opened.length })
            )
          ))))
      const { clientId, logins } = yield* run(() => Effect.void)
      assert.strictEqual(logins, 1)
      assert.deepStrictEqual(yield* run(() => Effect.void), { clientId, logins: 0 })
      assert.strictEqual(provider.count("POST /token"), 1)
      assert.deepStrictEqual(yield* run(({ advance }) => advance(3600)), { clientId, logins: 0 })
      assert.strictEqual(provider.count("POST /token"), 2)
      // A new login needs no new registration: the program listens where it has registered.
      yield* provider.forget("AccessToken", "RefreshToken", "Grant")
      assert.deepStrictEqual(yield* run(() => Effect.void), { clientId, logins: 1 })
      assert.strictEqual(provider.count("POST /reg"), 1)
    }))

  it.scopedLive("serve the next run also where refresh tokens need the consent of the user, as OpenID Connect requires", () =>
    Effect.gen(function*() {
      const store = yield* directory
      const provider = yield* Provider.make({ ...opaque, hasStockRefresh: true })
      const server = yield* Protected.make(provider, { introspect: true })
      const first = yield* Program.make({ store })
      const client = yield* first.connect(server.url)
      const user = yield* whoami(client)
      // The token expires.
      yield* first.advance(3600)
      assert.deepStrictEqual(yield* first.provide(whoami(client)), user)
      assert.strictEqual(provider.count("POST /token"), 2)
      assert.lengthOf(first.visitor.opened, 1)
      const next = yield* Program.make({ store })
      yield* next.advance(7200)
      assert.deepStrictEqual(yield* Effect.flatMap(next.connect(server.url), whoami), user)
      assert.strictEqual(provider.count("POST /token"), 3)
      assert.lengthOf(next.visitor.opened, 0)
    }))

  it.scopedLive("serve programs that run at once: each token is refreshed by one of them", () =>
    Effect.gen(function*() {
      const store = yield* directory
      const provider = yield* Provider.make(opaque)
      const server = yield* Protected.make(provider, { introspect: true })
      const first = yield* Program.make({ store })
      const one = yield* first.connect(server.url)
      const second = yield* Program.make({ store })
      const other = yield* second.connect(server.url)
      const calls = [...Array.from({ length: 5 }, () => one), ...Array.from({ length: 5 }, () => other)]
      for (let round = 1; round <= 3; round++) {
        // A refresh token that is sent twice ends the grant at this server.
        yield* provider.forget("AccessToken")
        const users = yield* Effect.all(calls.map(whoami), { concurrency: "unbounded" })
        assert.isTrue(users.every(({ name }) => name === "ada"))
        assert.strictEqual(provider.count("POST /token"), 1 + round)
      }
      assert.lengthOf(first.visitor.opened, 1)
      assert.lengthOf(second.visitor.opened, 0)
      yield* first.authorization.logout(server.url)
      assert.strictEqual(provider.count("POST /token/revocation"), 2)
    }))

  it.scopedLive("keep the client that tokens were issued to when another program has to register anew", () =>
    Effect.gen(function*() {
      const store = yield* directory
      const provider = yield* Provider.make(opaque)
      const servers = yield* Effect.all([1, 2].map(() => Protected.make(provider, { introspect: true })))
      const first = yield* Program.make({ store })
      const one = yield* first.connect(servers[0]!.url)
      // Another program listens where this one has registered.
      const registered = new URL(first.visitor.opened[0]!.searchParams.get("redirect_uri")!)
      yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const server = createServer().listen(
            Number(registered.port),
            "127.0.0.1",
            () => resume(Effect.succeed(server))
          )
        }),
        (server) => Effect.sync(() => server.close())
      )
      const second = yield* Program.make({ store })
      const other = yield* second.connect(servers[1]!.url)
      assert.strictEqual(provider.count("POST /reg"), 2)
      const users = yield* Effect.all([whoami(one), whoami(other)])
      assert.notStrictEqual(users[0].clientId, users[1].clientId)
      yield* provider.forget("AccessToken")
      assert.deepStrictEqual(yield* Effect.all([whoami(one), whoami(other)]), users)
      // Nor does the logout of one end what the other has.
      yield* first.authorization.logout(servers[0]!.url)
      yield* provider.forget("AccessToken")
      assert.deepStrictEqual(yield* whoami(other), users[1])
      assert.lengthOf([...first.visitor.opened, ...second.visitor.opened], 2)
    }))
})

describe("Many servers", () => {
  it.scopedLive("of a configuration are one group: a login for each, one after another, and one registration", () =>
    Effect.gen(function*() {
      const provider = yield* Provider.make()
      const servers = yield* Effect.all([Protected.make(provider), Protected.make(provider)])
      const open = yield* Protected.make(provider)
      const program = yield* Program.make()
      const mcpServers = {
        notes: { type: "http", url: servers[0].url },
        files: { type: "http", url: servers[1].url },
        // The configuration has its own authorization, which this server does not accept.
        fixed: { type: "http", url: open.url, headers: { Authorization: "Bearer of-the-configuration" } }
      }
      const group = yield* Layer.build(
        ConfiguredServers.layer({ mcpServers }, { authorize: Authorization.authorize }).pipe(
          Layer.provide(NodeHttpClient.layerUndici),
          Layer.provide(Layer.succeed(Authorization.Authorization, program.authorization))
        )
      ).pipe(Effect.map((context) => Context.get(context, ClientSessionGroup.ClientSessionGroup)))
      const sessions = yield* group.sessions
      assert.sameMembers([...sessions.keys()], ["notes", "files"])
      for (const session of sessions.values()) assert.strictEqual((yield* whoami(session)).name, "ada")
      assert.lengthOf(program.visitor.opened, 2)
      assert.strictEqual(provider.count("POST /reg"), 1)
      assert.isTrue(open.authorizations.every((one) => one === "Bearer of-the-configuration"))
    }))

  it.scopedLive("wait only for their own authorization server, and waiting can be interrupted", () =>
    Effect.gen(function*() {
      const slow = yield* Provider.make(opaque)
      const quick = yield* Provider.make()
      const first = yield* Protected.make(slow, { introspect: true })
      const second = yield* Protected.make(quick)
      const program = yield* Program.make()
      const waits = yield* program.connect(first.url)
      const goes = yield* program.connect(second.url)
      yield* slow.forget("AccessToken")
      yield* slow.stall("/token")
      const before = slow.count("POST /token")
      const waiting = yield* Effect.fork(Effect.all([whoami(waits), whoami(waits)], { concurrency: "unbounded" }))
      yield* until(() => slow.count("POST /token") > before)
      const users = yield* Effect.all(Array.from({ length: 20 }, () => whoami(goes)), { concurrency: "unbounded" })
      assert.lengthOf(users, 20)
      // A new login there does not wait either.
      const third = yield* Protected.make(quick)
      assert.strictEqual((yield* Effect.flatMap(program.connect(third.url), whoami)).name, "ada")
      assert.isNull(waiting.unsafePoll())
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(slow.count("POST /token"), before + 1)
    }))
})
