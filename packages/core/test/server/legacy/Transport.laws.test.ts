/**
 * Checks the senders of HTTP sessions and of HTTP+SSE against the laws that hold for every transport. No conversation receives the
 * messages here: a queue does, which the laws read.
 */
import { describe, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import * as Sse from "@effect-mcp/core/Sse"
import { closed, type Delivery, type Sender, type Transport } from "@effect-mcp/core/Transport"
import * as TransportLaws from "@effect-mcp/testing/TransportLaws"
import { Effect, Exit, type Scope, Stream } from "effect"
import * as Outbox from "../../../src/kit/Outbox.js"
import type { Headers, Reader, Writer } from "../../../src/server/http/HttpExchange.js"
import * as Http from "../../../src/server/legacy/Http.js"
import { HttpContext } from "../../../src/server/legacy/HttpContext.js"
import * as SseEndpoint from "../../../src/server/legacy/Sse.js"
import type { SessionConversation } from "../../../src/server/runtime/SessionConversation.js"
import { initialize, proper, TestExchange } from "../http/TestExchange.js"
import { GreetLive, serve } from "../Serving.js"
import { makeContext } from "./Context.js"

/** A context whose last session is a transport. */
class ReadableContext extends HttpContext {
  transport!: Transport

  override converse(sender: Sender, onEnd: () => void): SessionConversation {
    const received = Outbox.make<Delivery>()
    this.transport = {
      incoming: Stream.ensuring(received.stream, Effect.sync(onEnd)),
      send: (message) => sender.send(message),
      unsafeSend: (message) => sender.unsafeSend(message)
    }
    return {
      receive: (incoming, channel) => {
        // The laws do not send the handshake.
        const isInitialize = "method" in incoming && incoming.method === "initialize"
        if (isInitialize) channel!.unsafeSend(Message.success(0, {}))
        else received.unsafeOffer(incoming)
      },
      close: Effect.sync(() => received.end(Exit.void)),
      version: () => undefined,
      inFlight: () => 0
    }
  }
}

const readableContext = Effect.map(
  makeContext({ legacy: { ssePath: "/sse" } }),
  (context) => new ReadableContext(context, context.versions, () => undefined as never, context.events)
)

/** A GET whose events the test reads as they arrive. */
class Listening extends TestExchange {
  readonly messages_ = Outbox.make<Message.Incoming>()
  endpoint: string | undefined
  private readonly decoder = new Sse.Decoder()

  constructor(url: string, headers: Headers) {
    super("GET", url, { host: "localhost", accept: "text/event-stream", ...headers })
  }

  override stream(status: number, headers: Headers, reader: Reader): Writer {
    const writer = super.stream(status, headers, reader)
    const stop = (how: () => void) => () => {
      this.messages_.end(Exit.void)
      how()
    }
    return {
      write: (text) => {
        for (const { data, event } of this.decoder.push(new TextEncoder().encode(text)) as Array<Sse.Event>) {
          if (event === "endpoint") this.endpoint = data
          else if (data !== undefined) this.messages_.unsafeOffer(Message.fromUnknown(JSON.parse(data)))
        }
        return writer.write(text)
      },
      end: stop(writer.end),
      cut: stop(writer.cut)
    }
  }
}

/** The client's end: it reads one stream, and posts each message. */
const clientOf = (listening: Listening, post: (message: Message.Message) => TestExchange): Transport => {
  const unsafeSend = (message: Message.Message): boolean => {
    const { status } = post(message)
    // A request is answered later, or on the stream.
    return status === undefined || status === 202
  }
  return {
    incoming: listening.messages_.stream,
    send: (message) => Effect.suspend(() => unsafeSend(message) ? Effect.void : Effect.fail(closed)),
    unsafeSend
  }
}

type Pair = Effect.Effect<readonly [Transport, Transport], never, Dispatcher | Scope.Scope>

const session: Pair = Effect.gen(function*() {
  const context = yield* readableContext
  const http = yield* Effect.acquireRelease(Effect.sync(() => new Http.Http(context)), ({ close }) => close)
  const post = (message: Message.Message, headers: Headers) => {
    const exchange = new TestExchange("POST", "/mcp", { ...proper, ...headers })
    http.post(exchange, message, undefined)
    return exchange
  }
  const headers = { "mcp-session-id": post(initialize(), {}).sent["mcp-session-id"] }
  const listening = new Listening("/mcp", headers)
  http.get(listening)
  return [clientOf(listening, (message) => post(message, headers)), context.transport] as const
})

const httpSse: Pair = Effect.gen(function*() {
  const context = yield* readableContext
  const sse = yield* Effect.acquireRelease(Effect.sync(() => SseEndpoint.make(context)), ({ close }) => close)
  const listening = new Listening("/sse", {})
  sse.get(listening)
  const client = clientOf(listening, (message) => {
    const exchange = new TestExchange("POST", listening.endpoint!, proper)
    sse.post(exchange, message, undefined)
    return exchange
  })
  return [client, context.transport] as const
})

const pairs = { "a session over HTTP": session, "HTTP+SSE": httpSse }

for (const [name, pair] of Object.entries(pairs)) {
  describe(`${name}, as every transport,`, () => {
    for (const law of TransportLaws.laws) {
      it.effect(law.name, () => Effect.provide(law.check(pair), serve(GreetLive)))
    }
  })
}
