/**
 * The official clients, of each era, at an endpoint that an application mounts in each host.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema } from "effect"
import { hosts } from "../hosts/Hosts.js"
import { info } from "../HttpFixture.js"
import { clients } from "./OfficialClients.js"

const Greet = Tool.make("greet", { parameters: { name: Schema.String } })

const Server = McpServer.layer(
  info,
  McpServer.tool(Greet, ({ name }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession
      yield* session.progress(1)
      return `Hello, ${name}!`
    }))
)

for (const [era, official] of Object.entries({ legacy: clients.legacy, modern: clients.modern })) {
  for (const [client, connect] of Object.entries(official)) {
    describe(`${client} lists and calls tools with progress in the ${era} era`, () => {
      for (const [name, host] of Object.entries(hosts)) {
        it.scopedLive(`at an endpoint in ${name}`, () =>
          Effect.gen(function*() {
            const origin = yield* Effect.provide(host({}), yield* Layer.build(Server))
            const { call, list } = yield* connect({ url: `${origin}/mcp`, transport: "http" })
            assert.deepStrictEqual((yield* list).map(({ name }) => name), ["greet"])
            const seen: Array<number> = []
            const { content } = yield* call("greet", { name: "Ada" }, {
              onprogress: ({ progress }) => seen.push(progress)
            })
            assert.deepStrictEqual(content, [{ type: "text", text: "Hello, Ada!" }])
            assert.deepStrictEqual(seen, [1])
          }))
      }
    })
  }
}
