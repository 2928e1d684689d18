import * as HttpClient from "@effect/platform/HttpClient"
import { describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import * as Remote from "@effect-mcp/core/Remote"
import * as Transport from "@effect-mcp/core/Transport"
import * as TransportLaws from "@effect-mcp/testing/TransportLaws"
import { Effect, Exit, type Scope, Stream } from "effect"
import * as Outbox from "../../src/kit/Outbox.js"
import * as ScriptedServer from "./http/ScriptedServer.js"

/**
 * The end of the server: it receives what the client POSTs and sends events on one stream. It ends with that stream; when
 * its own reader stops, it ends the stream.
 */
const serverEnd = (
  http: ScriptedServer.ScriptedServer,
  stream: ScriptedServer.Open
): Effect.Effect<Transport.Transport, never, Scope.Scope> =>
  Effect.gen(function*() {
    const incoming = Outbox.make<Transport.Delivery>()
    const hangUp = Effect.suspend(() => {
      incoming.end(Exit.void)
      return stream.end
    })
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(http.next, (exchange) => {
      incoming.unsafeOffer(exchange.message)
      return Message.isRequest(exchange.message) ? Effect.void : exchange.accept
    })))
    yield* Effect.forkScoped(Effect.zipRight(stream.over, hangUp))
    yield* Effect.addFinalizer(() => hangUp)
    const unsafeSend = (message: Message.Message) => {
      if (!incoming.isEnded) Effect.runSync(stream.send(message))
      return !incoming.isEnded
    }
    return {
      incoming: Stream.ensuring(incoming.stream, hangUp),
      unsafeSend,
      send: (message) => Effect.suspend(() => unsafeSend(message) ? Effect.void : Effect.fail(Transport.closed))
    }
  })

type Ends = { readonly client: Transport.Transport; readonly server: Transport.Transport }

/** The client and the server over Streamable HTTP; the server sends on the standalone stream. */
const streamable: Effect.Effect<Ends, never, Scope.Scope> = Effect.gen(function*() {
  const http = yield* ScriptedServer.make()
  const { connect } = Remote.connector(ScriptedServer.URL, { transport: "streamable" })
  const client = yield* Effect.orDie(Effect.provideService(connect, HttpClient.HttpClient, http.client))
  client.unsafeSend(Message.notification("notifications/initialized"))
  yield* Effect.flatMap(http.expect("notifications/initialized"), ({ accept }) => accept)
  const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
  return { client, server: yield* serverEnd(http, stream) }
})

/** The same over HTTP+SSE. */
const sse: Effect.Effect<Ends, never, Scope.Scope> = Effect.gen(function*() {
  const http = yield* ScriptedServer.make()
  const answering = Effect.gen(function*() {
    const stream = yield* Effect.flatMap(http.expect("GET"), (exchange) => exchange.events())
    yield* stream.push("event: endpoint\ndata: /messages\n\n")
    return stream
  })
  const { connect } = Remote.connector(ScriptedServer.URL, { transport: "sse" })
  const [client, stream] = yield* Effect.all(
    [Effect.orDie(Effect.provideService(connect, HttpClient.HttpClient, http.client)), answering],
    { concurrency: 2 }
  )
  return { client, server: yield* serverEnd(http, stream) }
})

/** The same transport, which can be read by `incoming` only. */
const asStream = ({ run: _, ...transport }: Transport.Transport): Transport.Transport => transport

for (const [name, ends] of Object.entries({ "Streamable HTTP": streamable, "HTTP+SSE": sse })) {
  for (const [way, read] of Object.entries({ run: (one: Transport.Transport) => one, incoming: asStream })) {
    const pairs: Readonly<Record<string, Effect.Effect<TransportLaws.Pair, never, Scope.Scope>>> = {
      "from the server to the client": Effect.map(ends, ({ client, server }) => [server, read(client)] as const),
      "from the client to the server": Effect.map(ends, ({ client, server }) => [read(client), server] as const)
    }
    for (const [direction, pair] of Object.entries(pairs)) {
      describe(`The client's transport over ${name}, read by ${way}, ${direction},`, () => {
        for (const law of TransportLaws.laws) {
          // A client of Streamable HTTP goes on when the server ends a stream: it opens another.
          const endsStream = law.name.includes("when one side stops")
          if (endsStream && ends === streamable && direction.endsWith("to the server")) continue
          it.effect(law.name, () => law.check(pair))
        }
      })
    }
  }
}
