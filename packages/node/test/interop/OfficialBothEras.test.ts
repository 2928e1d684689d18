import { assert, layer } from "@effect/vitest"
import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client"
import { Effect, Fiber } from "effect"
import { key, layer as settingLayer, Setting, text } from "../behaviour/Behaviour.js"
import * as Contract from "../behaviour/Contract.js"
import { transports } from "../behaviour/Transports.js"
import { until } from "../HttpFixture.js"
import { type Answers, clients, type Official } from "./OfficialClients.js"

const chosen = [
  "stdio",
  "Streamable HTTP",
  "Streamable HTTP that always streams",
  "Streamable HTTP on the platform's server",
  "a web handler on an HTTP server"
]

/** Clients of one server at the same time: two of each era. Each has a letter. */
const connectors = {
  a: clients.legacy["the official client 1.32"],
  b: clients.modern["the official client 2.4"],
  c: clients.legacy["the official client 2.4"],
  d: clients.auto["the official client 2.4"]
} as const

type Letter = keyof typeof connectors

const letters = Object.keys(connectors) as ReadonlyArray<Letter>

const isLegacy = (letter: Letter) => letter === "a" || letter === "c"

type Clients = Readonly<Record<Letter, Official>>

const inParallel = <A, E, R>(f: (letter: Letter) => Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.forEach(letters, (letter) => Effect.map(f(letter), (one) => [letter, one] as const), {
      concurrency: "unbounded"
    }),
    (entries) => Object.fromEntries(entries) as Record<Letter, A>
  )

/** The messages of a client as text. */
const transcriptOf = ({ transcript }: Official) => JSON.stringify(transcript.entries)

for (const transport of transports.filter(({ name }) => chosen.includes(name))) {
  /** The clients of one server; on stdio each has a process of its own. */
  const meet = (answers: (letter: Letter) => Answers = () => ({})) =>
    Effect.gen(function*() {
      const { ownServer } = yield* Setting
      const one = yield* ownServer
      const servers = {
        a: one,
        b: transport.kind === "stdio" ? yield* ownServer : one,
        c: transport.kind === "stdio" ? yield* ownServer : one,
        d: transport.kind === "stdio" ? yield* ownServer : one
      }
      const clients: Clients = yield* inParallel((letter) =>
        connectors[letter](servers[letter].address!, answers(letter))
      )
      return { clients, servers }
    })

  layer(settingLayer(transport), { excludeTestServices: true })(
    `A server of Effect MCP, at the same time, and the official clients 1.32 and 2.4 of both eras over ${transport.name}`,
    (it) => {
      it.scoped("agree on a revision with each", () =>
        Effect.gen(function*() {
          const { clients } = yield* meet()
          const versions = yield* inParallel((letter) =>
            Effect.map(clients[letter].call("who"), ({ structuredContent }) => structuredContent.version)
          )
          assert.deepStrictEqual(versions, { a: "2025-11-25", b: "2026-07-28", c: "2025-11-25", d: "2026-07-28" })
        }))

      it.scoped("call the same tools with the same ids, each with its own results", () =>
        Effect.gen(function*() {
          const { clients } = yield* meet()
          const base = { a: 100, b: 200, c: 300, d: 400 }
          const sums = yield* inParallel((letter) =>
            Effect.forEach(Array.from({ length: 40 }, (_, n) => n), (b) =>
              Effect.map(clients[letter].call("add", { a: base[letter], b }), ({ structuredContent }) =>
                structuredContent.sum), { concurrency: "unbounded" })
          )
          for (const letter of letters) {
            assert.deepStrictEqual(
              sums[letter],
              Array.from({ length: 40 }, (_, n) =>
                base[letter] + n),
              letter
            )
          }
        }))

      it.scoped("elicit a form from each while the others are asked, with the same handler", () =>
        Effect.gen(function*() {
          let asked = 0
          let open = () => {}
          const gate = new Promise<void>((resolve) => {
            open = resolve
          })
          const { clients } = yield* meet((letter) => ({
            elicitation: async () => {
              asked++
              await gate
              return { action: "accept", content: { name: `user of ${letter}` } }
            }
          }))
          const calling = yield* Effect.fork(inParallel((letter) => clients[letter].call("form")))
          // No client answers before all are asked.
          yield* until(() => asked === letters.length)
          open()
          const forms = yield* Fiber.join(calling)
          for (const letter of letters) {
            assert.deepStrictEqual(JSON.parse(forms[letter].content[0].text), {
              action: "accept",
              content: { name: `user of ${letter}`, size: "small", count: 3 }
            })
            for (const other of letters) {
              if (other !== letter) assert.notInclude(transcriptOf(clients[letter]), `user of ${other}`)
            }
          }
        }))

      it.scoped("ask each in several rounds", () =>
        Effect.gen(function*() {
          const { clients } = yield* meet((letter) => ({
            roots: () => [{ uri: `file:///${letter}` }],
            sampling: ({ messages: [{ content }] }) => ({ role: "assistant", model: "parrot", content }),
            elicitation: ({ mode }) => ({
              action: "accept",
              ...(mode === "url" ? {} : { content: { name: letter } })
            })
          }))
          const interviews = yield* inParallel((letter) => Effect.replicateEffect(clients[letter].call("interview"), 4))
          for (const letter of letters) {
            for (const { content } of interviews[letter]) {
              assert.deepStrictEqual(JSON.parse(content[0].text), {
                message: `Is it Name file:///${letter}?`,
                profile: { action: "accept", content: { name: letter, size: "small", count: 3 } },
                page: "accept"
              })
            }
            for (const other of letters) {
              if (other !== letter) assert.notInclude(transcriptOf(clients[letter]), `file:///${other}`)
            }
          }
        }))

      it.scoped("send progress to each, and cancel the calls of one", () =>
        Effect.gen(function*() {
          const { clients, servers } = yield* meet()
          const name = key()
          const keys = { a: `${name}-a`, b: `${name}-b`, c: `${name}-c`, d: `${name}-d` }
          const aborts = { a: new AbortController(), b: new AbortController() }
          const seen: Record<Letter, Array<unknown>> = { a: [], b: [], c: [], d: [] }
          const held = yield* inParallel((letter) =>
            Effect.gen(function*() {
              const calling = yield* Effect.fork(Effect.exit(
                clients[letter].call("hold", { key: keys[letter] }, {
                  onprogress: (progress) => seen[letter].push(progress),
                  ...(letter === "a" || letter === "b" ? { signal: aborts[letter].signal } : {})
                })
              ))
              yield* servers[letter].reports.until(`${keys[letter]} began`)
              yield* until(() => seen[letter].length > 0)
              return calling
            })
          )
          for (const letter of ["a", "b"] as const) {
            aborts[letter].abort()
            assert.strictEqual((yield* Fiber.join(held[letter]))._tag, "Failure")
            yield* servers[letter].reports.until(`${keys[letter]} stopped`)
          }
          for (const letter of ["c", "d"] as const) {
            assert.isNull(held[letter].unsafePoll())
            yield* clients[letter].call("release", { key: keys[letter] })
            assert.deepInclude(yield* Fiber.join(held[letter]), { _tag: "Success" })
            assert.notInclude(servers[letter].reports.lines(), `${keys[letter]} stopped`)
          }
          for (const letter of letters) {
            assert.deepStrictEqual(seen[letter], [{ progress: 1, total: 2, message: "step 1" }])
            for (const other of letters) {
              if (other !== letter) assert.notInclude(transcriptOf(clients[letter]), keys[other])
            }
          }
        }))

      it.scoped("send each the logs of the level that it has chosen, in the way of its era", () =>
        Effect.gen(function*() {
          const { clients } = yield* meet()
          const chosen = { a: "error", b: "warning", c: "warning", d: undefined }
          for (const letter of letters.filter(isLegacy)) {
            yield* clients[letter].ask((sdk) => sdk.setLoggingLevel(chosen[letter] as "warning"))
          }
          yield* inParallel((letter) =>
            clients[letter].ask((sdk) =>
              sdk.callTool({
                name: "log",
                arguments: { levels: ["debug", "error", "info", "warning"] },
                ...(isLegacy(letter) || chosen[letter] === undefined
                  ? {}
                  : { _meta: { [LOG_LEVEL_META_KEY]: chosen[letter] } })
              })
            )
          )
          yield* until(() => clients.a.logs.length >= 1 && clients.b.logs.length >= 2 && clients.c.logs.length >= 2)
          yield* inParallel((letter) => clients[letter].call("who"))
          const levels = (letter: Letter) => clients[letter].logs.map((log) => (log as { level: string }).level)
          assert.deepStrictEqual(
            { a: levels("a"), b: levels("b"), c: levels("c"), d: levels("d") },
            { a: ["error"], b: ["error", "warning"], c: ["error", "warning"], d: [] }
          )
        }))

      if (transport.kind !== "stdio") {
        it.scoped("notify all of a changed list, and of a resource those who subscribed", () =>
          Effect.gen(function*() {
            const { clients: { a, b, c, d } } = yield* meet()
            const { uri } = Contract.Watched
            yield* a.ask((sdk) => sdk.subscribeResource({ uri }))
            yield* b.listen({ toolsListChanged: true, resourceSubscriptions: [uri] })
            for (const [n, client] of [a, b].entries()) {
              yield* client.call("offer", { kind: "tool", name: `more-${n}` })
              yield* client.call("touch")
              for (const notified of [a, b, c]) yield* until(() => notified.changes.length > n)
              for (const notified of [a, b]) yield* until(() => notified.updates.length > n)
            }
            yield* d.call("who")
            assert.deepStrictEqual([a.updates, b.updates, c.updates, d.updates], [[uri, uri], [uri, uri], [], []])
            // The last one has opened no subscription.
            assert.deepStrictEqual([a.changes, b.changes, c.changes, d.changes], [
              ["tools", "tools"],
              ["tools", "tools"],
              ["tools", "tools"],
              []
            ])
            assert.include((yield* d.list).map(({ name }) => name), "more-1")
          }))
      }

      it.scoped("go on with the others when one closes during a call", () =>
        Effect.gen(function*() {
          const { clients, servers } = yield* meet()
          const [legacy, modern] = [key(), key()]
          yield* Effect.fork(Effect.exit(clients.c.call("hold", { key: legacy })))
          yield* Effect.fork(Effect.exit(clients.d.call("hold", { key: modern })))
          yield* servers.c.reports.until(`${legacy} began`)
          yield* servers.d.reports.until(`${modern} began`)
          yield* clients.c.terminate
          yield* clients.c.close
          yield* clients.d.close
          yield* servers.c.reports.until(`${legacy} stopped`)
          yield* servers.d.reports.until(`${modern} stopped`)
          for (const letter of ["a", "b"] as const) {
            const { structuredContent } = yield* clients[letter].call("add", { a: 1 })
            assert.deepStrictEqual(structuredContent, { sum: 2 })
            assert.deepStrictEqual((yield* clients[letter].call("large", { length: 1 })).content, text("x"))
          }
        }))
    }
  )
}
