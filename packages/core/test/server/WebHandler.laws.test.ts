/** An endpoint without sessions serves one message at a time, too: the laws of `Dispatcher.serve` hold for it. */
import { it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Sse from "@effect-mcp/core/Sse"
import * as WebHandler from "@effect-mcp/core/WebHandler"
import * as ServeLaws from "@effect-mcp/testing/ServeLaws"
import { Effect, Layer, Option, Stream } from "effect"
import { headers } from "./modern/Posting.js"
import { json, send } from "./WebRequests.js"

/** The headers of a client that sends this text. */
const headersOf = (text: string): Record<string, string> => {
  const incoming = MessageText.parse(text)
  if (Message.isMalformed(incoming) || Message.isResponse(incoming)) return {}
  const isModern = JSON.stringify(incoming.params ?? {}).includes("2026-07-28")
  return isModern ? headers(incoming as Message.Request) : {}
}

const messagesOf = (response: Response): Stream.Stream<Message.Message, unknown> => {
  if (response.status === 202) return Stream.empty
  if (response.headers.get("content-type") === "application/json") return Stream.fromEffect(json(response))
  const decoder = new Sse.Decoder()
  return Stream.fromReadableStream(() => response.body!, (error) => error).pipe(
    Stream.mapConcat((bytes) => decoder.push(bytes) as ReadonlyArray<Sse.Event>),
    Stream.filterMap(({ data = "" }) => data === "" ? Option.none() : Option.some(JSON.parse(data)))
  )
}

const web: ServeLaws.Entrance = (server) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(server)
    const { handler } = yield* Effect.provide(WebHandler.make({ legacy: { sessions: false } }), context)
    return (text) =>
      Stream.unwrapScoped(Effect.gen(function*() {
        const aborting = yield* Effect.acquireRelease(
          Effect.sync(() => new AbortController()),
          (aborting) => Effect.sync(() => aborting.abort())
        )
        return messagesOf(yield* send(handler, text, { signal: aborting.signal, headers: headersOf(text) }))
      }))
  })

for (const { check, name } of ServeLaws.laws) it.effect(`A web handler ${name}`, () => check(Effect.succeed(web)))
