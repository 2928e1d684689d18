import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Schema } from "effect"
import { call, withEndpoint } from "../http/TestExchange.js"
import { identified, serve, until } from "../Serving.js"

const Note = Tool.make("note", { parameters: { name: Schema.String, text: Schema.String } })

const TEXT = "x".repeat(1024 * 1024)

describe("Long calls of one user", () => {
  for (const version of ["2025-11-25", "2026-07-28"]) {
    it.live(`leave a turn of the event loop between them, and take turns with those of other users, at ${version}`, () => {
      const log: Array<readonly [name: string, turn: number]> = []
      let turns = 0
      const Live = McpServer.tool(Note, ({ name }) => Effect.sync(() => void log.push([name, turns])))
      const server = serve(Live, identified(({ headers }) => Effect.succeed(headers.authorization!)))
      return withEndpoint(server, (http) =>
        Effect.gen(function*() {
          const clientOf = (user: string) => {
            const headers = { authorization: user }
            return version === "2025-11-25" ? http.open(version, {}, headers) : Effect.succeed(undefined)
          }
          const clients = { ada: yield* clientOf("ada"), bob: yield* clientOf("bob") }
          const post = (user: "ada" | "bob", name: string, text = TEXT) => {
            const { params, ...request } = call(name, "note", { name, text })
            const client = clients[user]
            if (client !== undefined) return client.post({ params, ...request }, { authorization: user })
            const _meta = {
              "io.modelcontextprotocol/protocolVersion": version,
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {}
            }
            return http.post({ ...request, params: { ...params, _meta } }, {
              authorization: user,
              "mcp-protocol-version": version,
              "mcp-method": "tools/call",
              "mcp-name": "note"
            })
          }
          const tick = () => {
            turns++
            if (log.length < 7) setImmediate(tick)
          }
          setImmediate(tick)
          const sent = ["a1", "a2", "a3", "a4"].map((name) => post("ada", name))
          sent.push(post("bob", "b1"), post("bob", "b2"), post("bob", "short", "short"))
          const left = post("ada", "left")
          left.hangUp()
          yield* until(() => sent.every(({ ended }) => ended))
          assert.deepStrictEqual(sent.map(({ status }) => status), Array(7).fill(200))
          assert.sameMembers(log.slice(0, 2).map(([name]) => name), ["a1", "short"])
          assert.deepStrictEqual(log.slice(2).map(([name]) => name), ["a2", "b1", "a3", "b2", "a4"])
          assert.strictEqual(new Set(log.slice(1).map(([, turn]) => turn)).size, 6)
        }))
    })
  }

  it.live("are refused beyond what may wait, while those of another user are not", () => {
    const server = serve(
      McpServer.tool(Note, () => Effect.void),
      identified(({ headers }) => Effect.succeed(headers.authorization!))
    )
    const limits = { maxIncompleteBytes: 8 * TEXT.length }
    return withEndpoint(server, (http) =>
      Effect.gen(function*() {
        const ada = yield* http.open(undefined, {}, { authorization: "ada" })
        const bob = yield* http.open(undefined, {}, { authorization: "bob" })
        const calls = Array.from({ length: 30 }, (_, id) => ada.post(call(id, "note", { name: "a", text: TEXT })))
        const refused = calls.filter(({ status }) => status === 503)
        assert.isAbove(refused.length, 20)
        assert.include(refused[0]!.text, "has not run; try again")
        assert.strictEqual(refused[0]!.sent["retry-after"], "1")
        assert.strictEqual((yield* bob.ask(call(1, "note", { name: "b", text: TEXT }))).status, 200)
        yield* until(() => calls.every(({ ended }) => ended))
      }), { limits })
  })
})
