/**
 * A server that a test scripts, one HTTP exchange at a time: the test takes the requests in order, and answers each as it
 * wants, whole, in pieces or not at all. There is no socket, and only the test clock.
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import { assert } from "@effect/vitest"
import * as Conversation from "@effect-mcp/core/Conversation"
import type { Diagnostic } from "@effect-mcp/core/Diagnostic"
import type { TransportError } from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import type { CallError, RequestOptions } from "@effect-mcp/core/Outbound"
import * as Outcome from "@effect-mcp/core/Outcome"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import type { Delivery, Transport } from "@effect-mcp/core/Transport"
import { Chunk, Deferred, Effect, Fiber, FiberId, Mailbox, Option, Queue, type Scope, Stream } from "effect"
import * as PlatformErrors from "../../../../testing/test/support/PlatformErrors.js"

export const URL = "http://server.test/mcp"

const encoder = new TextEncoder()

class ScriptedResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  /** Whether the client has read it to its end, or cancelled it. */
  isOver = false
  readonly over = Deferred.unsafeMake<void>(FiberId.none)
  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    readonly status: number,
    readonly headers: Headers.Headers,
    readonly body: Mailbox.Mailbox<Uint8Array, PlatformErrors.PlatformError>
  ) {}
  get stream() {
    return Stream.ensuring(
      Mailbox.toStream(this.body),
      Effect.suspend(() => {
        this.isOver = true
        return Deferred.succeed(this.over, undefined)
      })
    )
  }
  get arrayBuffer() {
    return Effect.map(Stream.runCollect(this.stream), (chunks) => {
      const bytes = Chunk.toReadonlyArray(chunks).flatMap((chunk) => [...chunk])
      return new Uint8Array(bytes).buffer
    })
  }
}

/** A response that the test writes. */
export interface Open {
  readonly push: (text: string | Uint8Array) => Effect.Effect<void>
  /** A message as an event. */
  readonly send: (message: object, event?: { readonly id?: string; readonly retry?: number }) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
  readonly cut: Effect.Effect<void>
  /** Whether the client reads it no more. */
  readonly isOver: () => boolean
  /** Waits until then. */
  readonly over: Effect.Effect<void>
  /** How many pieces the client has not read. */
  readonly unread: () => number
}

export class Exchange {
  private response: ScriptedResponse | undefined
  private isAborted = false
  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    private readonly url: globalThis.URL,
    private readonly resume: (
      response: Effect.Effect<HttpClientResponse.HttpClientResponse, PlatformErrors.PlatformError>
    ) => void,
    /** The exchanges that were open when this one began. */
    readonly beside: ReadonlyArray<Exchange>
  ) {}
  get what(): string {
    return `${this.request.method} ${this.url.href}`
  }
  get headers(): Headers.Headers {
    return this.request.headers
  }
  /** The body of a POST. */
  get message(): any {
    const { body } = this.request
    return body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : undefined
  }
  /** Whether the client waits for it and reads it no more. */
  get isOver(): boolean {
    return this.isAborted || this.response?.isOver === true
  }
  abort(): void {
    this.isAborted = true
  }

  open(status: number, headers: Record<string, string> = {}): Effect.Effect<Open> {
    return Effect.gen(this, function*() {
      const body = yield* Mailbox.make<Uint8Array, PlatformErrors.PlatformError>()
      const response = this.response = new ScriptedResponse(this.request, status, Headers.fromInput(headers), body)
      const full = response as unknown as HttpClientResponse.HttpClientResponse
      this.resume(Effect.succeed(full))
      const push: Open["push"] = (text) =>
        Effect.asVoid(body.offer(typeof text === "string" ? encoder.encode(text) : text))
      const fault = PlatformErrors.cutOff(
        this.request,
        full,
        Object.assign(new Error("terminated"), { code: "UND_ERR_SOCKET" })
      )
      return {
        push,
        send: (message, event) =>
          push(
            (event?.id === undefined ? "" : `id: ${event.id}\n`) +
              (event?.retry === undefined ? "" : `retry: ${event.retry}\n`) +
              `data: ${JSON.stringify(message)}\n\n`
          ),
        end: Effect.asVoid(body.end),
        cut: Effect.asVoid(body.fail(fault)),
        isOver: () => this.isOver,
        over: Deferred.await(response.over),
        unread: () => Option.getOrElse(body.unsafeSize(), () => 0)
      }
    })
  }

  reply(status: number, headers: Record<string, string> = {}, body: string | Uint8Array = ""): Effect.Effect<void> {
    const bytes = typeof body === "string" ? encoder.encode(body) : body
    return Effect.flatMap(
      this.open(status, { "content-length": String(bytes.length), ...headers }),
      ({ end, push }) => bytes.length === 0 ? end : Effect.zipRight(push(bytes), end)
    )
  }

  json(value: unknown, headers: Record<string, string> = {}, status = 200): Effect.Effect<void> {
    return this.reply(status, { "content-type": "application/json", ...headers }, JSON.stringify(value))
  }

  /** Answers the request that was posted. */
  result(result: object = {}, headers: Record<string, string> = {}): Effect.Effect<void> {
    return this.json({ jsonrpc: "2.0", id: this.message.id, result }, headers)
  }

  get accept(): Effect.Effect<void> {
    return this.reply(202)
  }

  events(headers: Record<string, string> = {}): Effect.Effect<Open> {
    return this.open(200, { "content-type": "text/event-stream", ...headers })
  }

  get die(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.abort()
      this.resume(Effect.die("broken"))
    })
  }

  /** The network fails before there is a response. */
  fail(code: string): Effect.Effect<void> {
    const cause = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error(`it was ${code}`), { code })
    })
    const error = PlatformErrors.lost(this.request, cause)
    return Effect.sync(() => {
      this.abort()
      this.resume(Effect.fail(error))
    })
  }
}

export interface ScriptedServer {
  readonly client: HttpClient.HttpClient
  readonly next: Effect.Effect<Exchange>
  /** The next request, which must be this one: "GET", or the method of a message. */
  readonly expect: (what: string) => Effect.Effect<Exchange>
  /** No request waits to be taken, when all fibers have run. */
  readonly quiet: Effect.Effect<void>
  /** No request and no response is open, when all fibers have run. */
  readonly idle: Effect.Effect<void>
  /** The requests that end a session. They are answered at once and never taken. */
  readonly deleted: ReadonlyArray<Exchange>
}

const nameOf = (exchange: Exchange): string =>
  exchange.message === undefined ? exchange.request.method : exchange.message.method ?? "an answer"

export const make = (deletes: boolean | undefined = true): Effect.Effect<ScriptedServer> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Exchange>()
    const all: Array<Exchange> = []
    const deleted: Array<Exchange> = []
    const client = HttpClient.make((request, url, signal) =>
      Effect.async((resume) => {
        const exchange = new Exchange(request, url, resume, all.filter(({ isOver }) => !isOver))
        signal.addEventListener("abort", () => exchange.abort())
        all.push(exchange)
        if (request.method === "DELETE") {
          deleted.push(exchange)
          if (deletes) Effect.runSync(exchange.reply(200))
          return Effect.sync(() => exchange.abort())
        }
        Queue.unsafeOffer(queue, exchange)
        return Effect.sync(() => exchange.abort())
      })
    )
    const next = Queue.take(queue)
    // Bodies are streams of the platform: each of their steps may take a turn of the event loop.
    const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
    const settle = Effect.repeatN(Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 20), turn), 4)
    return {
      client,
      deleted,
      next,
      expect: (what) =>
        Effect.tap(next, (exchange) => Effect.sync(() => assert.strictEqual(nameOf(exchange), what, exchange.what))),
      quiet: Effect.zipRight(
        settle,
        Effect.sync(() => assert.deepStrictEqual([...Effect.runSync(Queue.takeAll(queue))].map(nameOf), []))
      ),
      idle: Effect.zipRight(
        settle,
        Effect.sync(() => assert.deepStrictEqual(all.filter(({ isOver }) => !isOver).map(({ what }) => what), []))
      )
    }
  })

/** A transport that the test reads itself; `received` is what came in, in order. */
export interface Raw extends ScriptedServer {
  readonly transport: Transport
  readonly received: Array<Delivery>
}

/** A transport to the server, which the test begins to read at once. */
export const raw = (options?: Options): Effect.Effect<Raw, never, Scope.Scope> =>
  Effect.gen(function*() {
    const http = yield* make()
    const { connect } = Remote.connector(URL, { standalone: false, ...options })
    const transport = yield* Effect.orDie(Effect.provideService(connect, HttpClient.HttpClient, http.client))
    const received: Array<Delivery> = []
    yield* Effect.forkScoped(Effect.ignore(transport.run!((delivery) => received.push(delivery))))
    yield* Effect.yieldNow()
    return { ...http, transport, received }
  })

export interface Pair extends ScriptedServer {
  readonly transport: Transport
  readonly conversation: Conversation.Conversation
  /** The methods of the requests and notifications of the server, with the parameters of notifications. */
  readonly received: Array<string>
  readonly diagnostics: Array<Diagnostic>
  /** Sends a request in the background; the fiber gives its result or its error. */
  readonly call: (
    method: string,
    options?: RequestOptions
  ) => Effect.Effect<Fiber.RuntimeFiber<Message.Params | CallError>, never, Scope.Scope>
}

/** A conversation over a connection on which nothing was sent yet. */
export const connect = (
  options?: Options & { readonly deletes?: boolean | undefined; readonly http?: ScriptedServer | undefined }
): Effect.Effect<Pair, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const http = options?.http ?? (yield* make(options?.deletes))
    let accepting: Fiber.RuntimeFiber<never> | undefined
    yield* Effect.addFinalizer(() => accepting === undefined ? Effect.void : Fiber.interruptFork(accepting))
    const { connect } = Remote.connector(URL, options)
    const transport = yield* Effect.provideService(connect, HttpClient.HttpClient, http.client)
    const received: Array<string> = []
    const diagnostics: Array<Diagnostic> = []
    const conversation = yield* Conversation.make(transport, {
      onRequest: ({ method }) => {
        received.push(method)
        return { effect: Effect.succeed({}), reply: Outcome.fromExit }
      },
      onNotification: ({ method, params }) => {
        received.push(params === undefined ? method : `${method} ${JSON.stringify(params)}`)
        return undefined
      }
    }, { report: (diagnostic) => Effect.sync(() => diagnostics.push(diagnostic)) })
    // The last messages are accepted, or closing would wait for a test clock that stands still.
    yield* Effect.addFinalizer(() =>
      Effect.map(
        Effect.forkDaemon(Effect.interruptible(Effect.forever(
          Effect.flatMap(http.next, (exchange) => {
            const { id, method } = exchange.message ?? {}
            return id === undefined || method === undefined ? exchange.accept : Effect.void
          })
        ))),
        (fiber) => {
          accepting = fiber
        }
      )
    )
    const call: Pair["call"] = (method, options) =>
      Effect.forkScoped(Effect.catchAll(conversation.request(method, undefined, options), Effect.succeed))
    return { ...http, transport, conversation, received, diagnostics, call }
  })

/** The result of `initialize`, with a revision. */
export const initializeResult = (version = "2025-11-25") => ({
  protocolVersion: version,
  capabilities: { tools: {} },
  serverInfo: { name: "scripted", version: "0" }
})

/** Initializes the conversation. With `standalone`, the server refuses the standalone stream. */
export const initialize = (
  pair: Pair,
  { id, standalone = false, version }: {
    readonly id?: string | undefined
    readonly version?: string | undefined
    readonly standalone?: boolean | undefined
  } = {}
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const opening = yield* pair.call("initialize")
    const first = yield* pair.expect("initialize")
    yield* first.result(initializeResult(version), id === undefined ? {} : { "mcp-session-id": id })
    yield* Fiber.join(opening)
    const notifying = yield* Effect.forkScoped(pair.conversation.notify("notifications/initialized"))
    yield* Effect.flatMap(pair.expect("notifications/initialized"), ({ accept }) => accept)
    yield* Fiber.join(notifying)
    if (!standalone) return
    yield* Effect.flatMap(pair.expect("GET"), (exchange) => exchange.reply(405))
  })

/** A conversation that is initialized. */
export const pair = (
  options: Options & Parameters<typeof initialize>[1] & { readonly deletes?: boolean | undefined } = {}
): Effect.Effect<Pair, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { id, version, ...rest } = options
    const pair = yield* Effect.orDie(connect({ standalone: false, ...rest }))
    yield* initialize(pair, { id, ...(version === undefined ? {} : { version }) })
    return pair
  })
