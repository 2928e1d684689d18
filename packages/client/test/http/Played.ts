/**
 * A server that the test plays, one HTTP request at a time: what was asked is taken in order, and answered with whatever the
 * test says, whole, in pieces or not at all. No socket, no time but the test's.
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import { assert } from "@effect/vitest"
import * as Remote from "@effect-mcp/client/Remote"
import type { Options } from "@effect-mcp/client/RemoteOptions"
import * as Conversation from "@effect-mcp/jsonrpc/Conversation"
import type { Diagnostic } from "@effect-mcp/jsonrpc/Diagnostic"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type * as Message from "@effect-mcp/jsonrpc/Message"
import type { CallError, RequestOptions } from "@effect-mcp/jsonrpc/Outbound"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { Delivery, Transport } from "@effect-mcp/jsonrpc/Transport"
import type { Scope } from "effect"
import { Chunk, Deferred, Effect, Fiber, FiberId, Mailbox, Option, Queue, Stream } from "effect"

export const URL = "http://server.test/mcp"

const encoder = new TextEncoder()

class PlayedResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  /** Whether the client has read it to its end, or cancelled it. */
  isOver = false
  readonly over = Deferred.unsafeMake<void>(FiberId.none)
  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    readonly status: number,
    readonly headers: Headers.Headers,
    readonly body: Mailbox.Mailbox<Uint8Array, HttpClientError.ResponseError>
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

/** A response that the test goes on with. */
export interface Open {
  readonly push: (text: string | Uint8Array) => Effect.Effect<void>
  /** A message as an event. */
  readonly say: (message: object, event?: { readonly id?: string; readonly retry?: number }) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
  readonly cut: Effect.Effect<void>
  /** Whether the client reads it no more. */
  readonly isOver: () => boolean
  /** Waits until then. */
  readonly over: Effect.Effect<void>
  /** How many pieces the client has not read. */
  readonly unread: () => number
}

export class Asked {
  private response: PlayedResponse | undefined
  private isAborted = false
  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    private readonly url: globalThis.URL,
    private readonly resume: (
      response: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
    ) => void
  ) {}
  get what(): string {
    return `${this.request.method} ${this.url.href}`
  }
  get headers(): Headers.Headers {
    return this.request.headers
  }
  /** What was posted. */
  get message(): any {
    const { body } = this.request
    return body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : undefined
  }
  /** Whether nobody waits for it any more. */
  get isOver(): boolean {
    return this.isAborted || this.response?.isOver === true
  }
  abort(): void {
    this.isAborted = true
  }

  open(status: number, headers: Record<string, string> = {}): Effect.Effect<Open> {
    return Effect.gen(this, function*() {
      const body = yield* Mailbox.make<Uint8Array, HttpClientError.ResponseError>()
      const response = this.response = new PlayedResponse(this.request, status, Headers.fromInput(headers), body)
      const full = response as unknown as HttpClientResponse.HttpClientResponse
      this.resume(Effect.succeed(full))
      const push: Open["push"] = (text) =>
        Effect.asVoid(body.offer(typeof text === "string" ? encoder.encode(text) : text))
      const fault = new HttpClientError.ResponseError({
        request: this.request,
        response: full,
        reason: "Decode",
        cause: Object.assign(new Error("terminated"), { code: "UND_ERR_SOCKET" })
      })
      return {
        push,
        say: (message, event) =>
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

  /** No response: a fault of the network. */
  fail(code: string): Effect.Effect<void> {
    const cause = Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error(`it was ${code}`), { code })
    })
    const error = new HttpClientError.RequestError({ request: this.request, reason: "Transport", cause })
    return Effect.sync(() => {
      this.abort()
      this.resume(Effect.fail(error))
    })
  }
}

export interface Played {
  readonly client: HttpClient.HttpClient
  readonly next: Effect.Effect<Asked>
  /** The next request, which must be this one: "GET", or the method of a message. */
  readonly expect: (what: string) => Effect.Effect<Asked>
  /** Nothing is asked, as far as nothing happens. */
  readonly quiet: Effect.Effect<void>
  /** Nothing is open any more, as far as nothing happens. */
  readonly idle: Effect.Effect<void>
  /** What ended a session. It is answered by itself, and not among what is asked. */
  readonly deleted: ReadonlyArray<Asked>
}

const nameOf = (asked: Asked): string =>
  asked.message === undefined ? asked.request.method : asked.message.method ?? "an answer"

export const make = (deletes: boolean | undefined = true): Effect.Effect<Played> =>
  Effect.gen(function*() {
    const queue = yield* Queue.unbounded<Asked>()
    const all: Array<Asked> = []
    const deleted: Array<Asked> = []
    const client = HttpClient.make((request, url, signal) =>
      Effect.async((resume) => {
        const asked = new Asked(request, url, resume)
        signal.addEventListener("abort", () => asked.abort())
        all.push(asked)
        if (request.method === "DELETE") {
          deleted.push(asked)
          if (deletes) Effect.runSync(asked.reply(200))
          return Effect.sync(() => asked.abort())
        }
        queue.unsafeOffer(asked)
        return Effect.sync(() => asked.abort())
      })
    )
    const next = Queue.take(queue)
    const settle = Effect.repeatN(Effect.yieldNow(), 50)
    return {
      client,
      deleted,
      next,
      expect: (what) =>
        Effect.tap(next, (asked) => Effect.sync(() => assert.strictEqual(nameOf(asked), what, asked.what))),
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

/** A transport that the test reads itself: what comes in, in order. */
export interface Raw extends Played {
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

export interface Talk extends Played {
  readonly transport: Transport
  readonly conversation: Conversation.Conversation
  /** What the server asked and told, and what was odd. */
  readonly heard: Array<string>
  readonly diagnostics: Array<Diagnostic>
  /** Asks, beside the test; gives how it ends. */
  readonly call: (
    method: string,
    options?: RequestOptions
  ) => Effect.Effect<Fiber.RuntimeFiber<Message.Params | CallError>, never, Scope.Scope>
}

/** A conversation over a connection that has said nothing yet. */
export const connect = (
  options?: Options & { readonly deletes?: boolean | undefined; readonly http?: Played | undefined }
): Effect.Effect<Talk, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const http = options?.http ?? (yield* make(options?.deletes))
    let accepting: Fiber.RuntimeFiber<never> | undefined
    yield* Effect.addFinalizer(() => accepting === undefined ? Effect.void : Fiber.interruptFork(accepting))
    const { connect } = Remote.connector(URL, options)
    const transport = yield* Effect.provideService(connect, HttpClient.HttpClient, http.client)
    const heard: Array<string> = []
    const diagnostics: Array<Diagnostic> = []
    const conversation = yield* Conversation.make(transport, {
      onRequest: ({ method }) => {
        heard.push(method)
        return { effect: Effect.succeed({}), reply: Outcome.fromExit }
      },
      onNotification: ({ method, params }) => {
        heard.push(params === undefined ? method : `${method} ${JSON.stringify(params)}`)
        return undefined
      }
    }, { report: (diagnostic) => Effect.sync(() => diagnostics.push(diagnostic)) })
    // What is said last is accepted, or closing would wait for a clock that nobody turns.
    yield* Effect.addFinalizer(() =>
      Effect.map(
        Effect.forkDaemon(Effect.interruptible(Effect.forever(
          Effect.flatMap(http.next, (asked) => {
            const { id, method } = asked.message ?? {}
            return id === undefined || method === undefined ? asked.accept : Effect.void
          })
        ))),
        (fiber) => {
          accepting = fiber
        }
      )
    )
    const call: Talk["call"] = (method, options) =>
      Effect.forkScoped(Effect.catchAll(conversation.request(method, undefined, options), Effect.succeed))
    return { ...http, transport, conversation, heard, diagnostics, call }
  })

/** The result of `initialize`, with a revision. */
export const initialized = (version = "2025-11-25") => ({
  protocolVersion: version,
  capabilities: {},
  serverInfo: { name: "played", version: "0" }
})

/** Shakes hands; the stream beside requests, if one is asked for, is not there. */
export const shake = (
  talk: Talk,
  { id, standalone = false, version }: {
    readonly id?: string | undefined
    readonly version?: string | undefined
    readonly standalone?: boolean | undefined
  } = {}
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const opening = yield* talk.call("initialize")
    const first = yield* talk.expect("initialize")
    yield* first.result(initialized(version), id === undefined ? {} : { "mcp-session-id": id })
    yield* Fiber.join(opening)
    const telling = yield* Effect.forkScoped(talk.conversation.notify("notifications/initialized"))
    yield* Effect.flatMap(talk.expect("notifications/initialized"), ({ accept }) => accept)
    yield* Fiber.join(telling)
    if (!standalone) return
    yield* Effect.flatMap(talk.expect("GET"), (asked) => asked.reply(405))
  })

/** A conversation that has shaken hands. */
export const talk = (
  options: Options & Parameters<typeof shake>[1] & { readonly deletes?: boolean | undefined } = {}
): Effect.Effect<Talk, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { id, version, ...rest } = options
    const talk = yield* Effect.orDie(connect({ standalone: false, ...rest }))
    yield* shake(talk, { id, ...(version === undefined ? {} : { version }) })
    return talk
  })
