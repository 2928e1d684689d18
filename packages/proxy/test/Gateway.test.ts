/** A gateway with a server for each user, and the upstream of all, over HTTP: what one user has is out of reach of another. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpApp from "@effect/platform/HttpApp"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as Feature from "@effect-mcp/core/Feature"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import { Registry } from "@effect-mcp/core/Registry"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import { Context, Effect, Layer, TestClock } from "effect"
import { all, legacy, modern, received } from "./Setting.js"

class User extends Context.Tag("test/Gateway/User")<User, string>() {}

const uri = "note://mine"

/** Users by their tokens, as each HTTP request names them. */
const byToken = (tokens: ReadonlyMap<string | undefined, string>) =>
  Authenticator.make(User, {
    id: (name) => name,
    http: ({ headers }) =>
      Effect.mapError(
        Effect.fromNullable(tokens.get(headers["authorization"])),
        () => HttpRefusal.unauthorized("Bearer")
      )
  })

/** An `HttpClient` whose requests a handler answers. */
const httpOf = (handler: (request: Request) => Promise<Response>) => {
  const fetch: typeof globalThis.fetch = (url, init) => handler(new Request(url, init))
  return Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
}

const connector = (options: Remote.Options, http: Context.Context<HttpClient>) => {
  const remote = Remote.connector("http://localhost/mcp", options)
  return { ...remote, connect: Effect.provide(remote.connect, http) }
}

const text = (result: { readonly content: ReadonlyArray<object> }) => (result.content[0] as { text: string }).text

const setting = (versions: typeof legacy) =>
  Effect.gen(function*() {
    const owners = new Map<string | undefined, string>([["ada-upstream", "ada"], ["bob-upstream", "bob"]])
    const users = new Map<string | undefined, string>([["ada-gateway", "ada"], ["bob-gateway", "bob"]])
    const vault = new Map([["ada", "ada-upstream"], ["bob", "bob-upstream"]])

    const isAda = Effect.map(User, (name) => name === "ada")
    const features = Layer.mergeAll(
      McpServer.tool(Tool.make("whose"), () => User),
      McpServer.tool(Tool.make("of_ada"), () => Effect.succeed("a secret")).pipe(Feature.visible(isAda)),
      Layer.unwrapEffect(Effect.map(Registry, ({ updated }) => McpServer.tool(Tool.make("touch"), () => updated(uri)))),
      Feature.make(({ resources }, context) =>
        resources.register({
          context,
          advertised: { name: "mine", uri },
          read: Effect.succeed({ contents: [] }),
          subscribe: () => Effect.void
        })
      )
    )
    const upstream = yield* Effect.flatMap(
      Layer.build(
        McpServer.layer({ name: "upstream", version: "1.0.0" }, features, { versions, authenticator: byToken(owners) })
      ),
      (context) => Effect.provide(WebHandler.make(), context)
    )
    const toUpstream = yield* Layer.build(httpOf(upstream.handler))

    const Job = McpServer.tool(Tool.make("job", { task: "required" }), () =>
      Effect.map(User, (name) => `done for ${name}`))
    const serverOf = (name: string) => {
      const headers = Effect.suspend(() =>
        Effect.map(Effect.fromNullable(vault.get(name)), (authorization) => ({ authorization }))
      )
      return McpServer.layer(
        { name: "gateway", version: "1.0.0" },
        Layer.mergeAll(Proxy.layer(connector({ headers }, toUpstream), { name: "up" }), Job, TasksServer.layer),
        { authenticator: byToken(users) }
      )
    }
    const app = yield* HttpEndpoint.forEach({
      user: Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Effect.mapError(
          Effect.fromNullable(users.get(headers["authorization"])),
          () =>
            HttpServerResponse.empty({ status: 401 })
        )),
      server: serverOf,
      idle: "10 minutes"
    })
    const handler = HttpApp.toWebHandler(app)
    const toGateway = yield* Layer.build(httpOf(handler))
    const connect = (token: string, client = legacy) =>
      Client.make(connector({ headers: { authorization: token } }, toGateway), { versions: client })
    return { connect, handler, owners, upstream, users, vault }
  }).pipe(Effect.provide(TaskStore.layerMemory))

for (const versions of [legacy, modern]) {
  describe(`A gateway per user, with an upstream of ${versions[0]}`, () => {
    it.scoped("lists and calls for each user what the upstream has for this user", () =>
      Effect.gen(function*() {
        const { connect } = yield* setting(versions)
        for (const client of [legacy, modern]) {
          const [ada, bob] = [yield* connect("ada-gateway", client), yield* connect("bob-gateway", client)]
          const names = (one: typeof ada) => Effect.map(all(one.tools), (tools) => tools.map(({ name }) => name))
          assert.deepStrictEqual(yield* names(ada), ["job", "of_ada", "touch", "whose"])
          assert.deepStrictEqual(yield* names(bob), ["job", "touch", "whose"])
          assert.strictEqual(text(yield* ada.callTool("whose")), "ada")
          assert.strictEqual(text(yield* bob.callTool("whose")), "bob")
          assert.include((yield* Effect.flip(bob.callTool("of_ada"))).message, "of_ada")
        }
      }))

    it.scoped("gives no user the tasks and the subscriptions of another, also where users share a store", () =>
      Effect.gen(function*() {
        const { connect } = yield* setting(versions)
        const [ada, bob] = [yield* connect("ada-gateway"), yield* connect("bob-gateway")]
        const { task } = yield* ada.request("tools/call", { name: "job", task: {} })
        const { taskId } = task as { readonly taskId: string }
        const hers = yield* ada.request("tasks/result", { taskId })
        assert.strictEqual(text(hers as never), "done for ada")
        for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
          assert.strictEqual((yield* Effect.flip(bob.request(method, { taskId })))._tag, "InvalidParams")
        }
        assert.deepStrictEqual((yield* bob.request("tasks/list", {})).tasks, [])

        const [hears, hearsNothing] = [yield* received(ada.resourceUpdates), yield* received(bob.resourceUpdates)]
        yield* ada.subscribeResource(uri)
        yield* bob.callTool("touch")
        assert.strictEqual(yield* hears.take, uri)
        yield* bob.ping()
        assert.strictEqual(yield* hearsNothing.size, 0)
      }))

    it.scoped("does not serve the session of one user to another", () =>
      Effect.gen(function*() {
        const { connect, handler } = yield* setting(versions)
        yield* connect("ada-gateway")
        const post = (authorization: string, body: object, more = {}) =>
          Effect.promise(() =>
            handler(
              new Request("http://localhost/mcp", {
                method: "POST",
                headers: {
                  authorization,
                  accept: "application/json, text/event-stream",
                  "content-type": "application/json",
                  ...more
                },
                body: JSON.stringify({ jsonrpc: "2.0", ...body })
              })
            )
          )
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
        const { headers } = yield* post("ada-gateway", { id: 1, method: "initialize", params })
        const session = { "mcp-session-id": headers.get("mcp-session-id")! }
        const call = { id: 2, method: "tools/call", params: { name: "whose" } }
        assert.strictEqual((yield* post("bob-gateway", call, session)).status, 404)
        assert.strictEqual((yield* post("nobody", call, session)).status, 401)
        assert.strictEqual((yield* post("ada-gateway", call, session)).status, 200)
      }))

    it.scoped("uses the newest token of a user, and says nothing of an expired token to clients", () =>
      Effect.gen(function*() {
        const { connect, owners, vault } = yield* setting(versions)
        const [ada, bob] = [yield* connect("ada-gateway"), yield* connect("bob-gateway")]
        assert.strictEqual(text(yield* ada.callTool("whose")), "ada")
        owners.delete("ada-upstream")
        const { message } = yield* Effect.flip(ada.callTool("whose"))
        assert.strictEqual(
          message,
          "The upstream \"up\" was not reached, or refused the request: it has not served \"tools/call\""
        )
        assert.strictEqual(text(yield* bob.callTool("whose")), "bob")
        owners.set("ada-upstream-2", "ada")
        vault.set("ada", "ada-upstream-2")
        assert.strictEqual(text(yield* ada.callTool("whose")), "ada")
      }))

    it.scoped("closes what it has for a user when the user has sent nothing for the time of idle", () =>
      Effect.gen(function*() {
        const { connect, upstream, users } = yield* setting(versions)
        const before = upstream.sessions()
        yield* Effect.scoped(Effect.flatMap(connect("ada-gateway", modern), (ada) => ada.callTool("whose")))
        const isLegacy = versions === legacy
        assert.strictEqual(upstream.sessions() > before, isLegacy)
        users.delete("ada-gateway")
        yield* TestClock.adjust("10 minutes")
        yield* Effect.repeat(Effect.promise(() => new Promise(setImmediate)), {
          until: () => upstream.sessions() === before
        })
        const stranger = yield* Effect.flip(connect("ada-gateway"))
        assert.include(stranger.message, "401")
        assert.strictEqual(upstream.sessions(), before)
      }))
  })
}
