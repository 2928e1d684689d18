/**
 * What it costs that the bytes of a peer arrive one by one: work that grows as their number does, wherever bytes are joined.
 * Copied bytes are counted, because processor time depends on the other work of the machine.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type * as ClientSession from "@effect-mcp/core/ClientSession"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as LineFraming from "@effect-mcp/core/LineFraming"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import * as Sse from "@effect-mcp/core/Sse"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Effect, Layer, type Scope } from "effect"
import type { AddressInfo } from "node:net"
import * as net from "node:net"
import { act, dial, info, listening, request, until } from "./HttpFixture.js"
import { shells } from "./Shells.js"

/** How many pieces; four times as many may have eight times as many bytes copied. */
const FEW = 200

/** How many bytes are copied while an effect runs: by what joins arrays of bytes. */
const copied = <E, R>(effect: Effect.Effect<unknown, E, R>): Effect.Effect<number, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { concat } = Buffer
      const { set } = Uint8Array.prototype
      let count = 0
      Buffer.concat = (pieces, length) => {
        const whole = concat.call(Buffer, pieces, length) as Buffer<ArrayBuffer>
        count += whole.length
        return whole
      }
      Uint8Array.prototype.set = function(bytes, at) {
        count += bytes.length
        set.call(this, bytes, at)
      }
      const restore = () => {
        Buffer.concat = concat
        Uint8Array.prototype.set = set
      }
      return { count: () => count, restore }
    }),
    ({ count }) => Effect.map(effect, count),
    ({ restore }) => Effect.sync(restore)
  )

const isLinear = <E, R>(work: (pieces: number) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    // What is done once only.
    yield* work(1)
    const few = yield* copied(work(FEW))
    const many = yield* copied(work(4 * FEW))
    assert.isAtMost(many, 8 * few)
  })

/** A body in chunks of one byte, as HTTP writes it. */
const chunked = (body: string): string => [...body].map((one) => `1\r\n${one}\r\n`).join("") + "0\r\n\r\n"

const long = (length: number): string => JSON.stringify(Message.request(1, "ping", { text: "x".repeat(length) }))

const mounted: Effect.Effect<number, never, Dispatcher | Scope.Scope> = Effect.gen(function*() {
  const { handler } = yield* NodeHandler.make()
  return (yield* listening((incoming, response) => void handler(incoming, response))).port
})

describe("A body that arrives byte by byte has each byte copied a few times:", () => {
  const all = { ...Object.fromEntries(Object.entries(shells).map(([name, shell]) => [name, shell({})])), mounted }
  for (const [shell, serve] of Object.entries(all)) {
    it.scopedLive(shell, () =>
      Effect.gen(function*() {
        const port = yield* Effect.provide(serve, yield* Layer.build(McpServer.layer(info, act(Effect.void))))
        yield* isLinear((length) =>
          Effect.scoped(Effect.gen(function*() {
            const { socket, text } = yield* dial(port)
            // The request is complete, and refused for want of a session.
            socket.write(request("", { "transfer-encoding": "chunked" }) + chunked(long(length)))
            yield* until(() => text().includes("HTTP/1.1 400"))
          }))
        )
      }))
  }
})

/** A server that answers each request with a long result: in chunks of one byte, or in segments where its length is declared. */
const trickling = (type: string, isDeclared: boolean, length: () => number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<net.Server>((resume) => {
        const server = net.createServer((socket) => {
          let text = ""
          socket.setNoDelay(true).on("error", () => {}).on("data", (chunk) => {
            text += chunk.toString()
            const [, id] = /"id":("[^"]*"|\d+)/.exec(text) ?? []
            if (id === undefined) return
            text = ""
            const body = `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","text":"${
              "x".repeat(length())
            }"}}`
            const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`
            if (!isDeclared) {
              const all = chunked(type === "application/json" ? body : `data: ${body}\n\n`)
              return void socket.write(`${head}transfer-encoding: chunked\r\n\r\n${all}`)
            }
            socket.write(`${head}content-length: ${body.length}\r\n\r\n`)
            const send = (from: number): void => {
              socket.write(body.slice(from, from + SEGMENT))
              if (from + SEGMENT < body.length) setImmediate(send, from + SEGMENT)
            }
            setImmediate(send, 0)
          })
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  )

const SEGMENT = 128

const prior: NonNullable<ClientSession.Options["prior"]> = {
  version: "2026-07-28",
  serverInfo: info,
  serverCapabilities: {},
  instructions: undefined
}

describe("An answer that arrives in small pieces has each byte copied a few times:", () => {
  const answers = [["application/json", false], ["application/json", true], ["text/event-stream", false]] as const
  for (const [name, http] of Object.entries({ node: NodeHttpClient.layer, fetch: FetchHttpClient.layer })) {
    for (const [type, isDeclared] of answers) {
      it.scopedLive(`${type}${isDeclared ? " of a declared length" : ""}, with the client of ${name}`, () =>
        Effect.gen(function*() {
          let length = 0
          const url = yield* trickling(type, isDeclared, () => length)
          const client = yield* Client.make(Remote.connector(url), { prior })
          yield* isLinear((pieces) => {
            length = pieces * (isDeclared ? SEGMENT : 1)
            return Effect.map(client.request("x/y"), ({ text }) => assert.lengthOf(text as string, length))
          })
        }).pipe(Effect.provide(http)))
    }
  }
})

describe("Bytes that arrive one by one are copied a few times:", () => {
  for (
    const [name, decode] of Object.entries({
      "a line": () => new LineFraming.Decoder(),
      "a line that is too long": () => new LineFraming.Decoder({ maxLineBytes: 10 }),
      "an event": () => new Sse.Decoder(),
      "an event that is too large": () => new Sse.Decoder({ maxEventBytes: 10 })
    })
  ) {
    it.effect(name, () =>
      isLinear((length) =>
        Effect.sync(() => {
          const decoder = decode()
          let decoded = 0
          for (const byte of Buffer.from(`data: ${long(length)}\n\n`)) {
            decoded += decoder.push(Uint8Array.of(byte)).length
          }
          assert.strictEqual(decoded, 1)
        })
      ))
  }
})
