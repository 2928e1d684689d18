/**
 * HTTP requests to an endpoint without a socket. A test decides what the client sends and when it reads; a `TestExchange`
 * records the answer.
 */
import { assert } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Message from "@effect-mcp/core/Message"
import * as Sse from "@effect-mcp/core/Sse"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { type Cause, Effect, type Layer, type Scope } from "effect"
import * as Endpoint from "../../../src/server/dispatch/Endpoint.js"
import {
  type Admitted,
  type Headers,
  type HttpExchange,
  PIECE,
  type Reader,
  type SlowReaders,
  type Writer
} from "../../../src/server/http/HttpExchange.js"
import type { BodyFault, OpenBody } from "../../../src/server/http/RequestBody.js"
import { until } from "../Serving.js"

/** A request as a shell gives it, and as a transport gets it when nobody is known to have sent it. */
export class TestExchange implements HttpExchange, Admitted {
  readonly rawHeaders = undefined
  readonly services = undefined
  readonly values = undefined
  readonly principal = undefined
  readonly user = undefined
  readonly watchUser = undefined
  readonly moved = undefined
  isGone = false
  status: number | undefined
  sent: Headers = {}
  text = ""
  /** How often the endpoint has answered: more than once is a mistake. */
  answers = 0
  /** Whether the endpoint has read the body. */
  read = false
  ended = false
  cut = false
  reader: Reader | undefined
  /** Whether the client reads nothing. */
  stalled = false
  private leave: (() => void) | undefined

  constructor(
    readonly method: string,
    readonly url: string,
    readonly headers: Headers,
    private readonly content: string | BodyFault = ""
  ) {}

  get arrived(): HttpExchange {
    return this
  }

  get path(): string {
    return this.url.split("?")[0]!
  }

  body({ maxBytes }: OpenBody, then: (body: string | BodyFault) => void): void {
    this.read = true
    then(typeof this.content === "string" && this.content.length > maxBytes ? { fault: "size" } : this.content)
  }

  reply(status: number, headers: Headers, body: string, slowReaders?: SlowReaders): void {
    if (body.length > PIECE && slowReaders !== undefined) return slowReaders.sendLong(this, status, headers, body)
    this.answer(status, headers)
    this.text = body
    this.ended = true
  }

  stream(status: number, headers: Headers, reader: Reader): Writer {
    this.answer(status, headers)
    this.reader = reader
    return {
      write: (text) => {
        this.text += text
        return !this.stalled
      },
      end: () => {
        this.ended = true
      },
      cut: () => {
        this.ended = this.cut = true
      }
    }
  }

  onGone(listener: () => void): void {
    this.leave = listener
  }

  /** The client disconnects. */
  hangUp(): void {
    this.isGone = true
    if (!this.ended) {
      this.reader?.gone()
      this.leave?.()
    }
  }

  /** The client reads what there is, and goes on reading. */
  drain(): void {
    this.stalled = false
    this.reader!.drained()
  }

  get json(): any {
    return JSON.parse(this.text)
  }

  get isStream(): boolean {
    return this.sent["content-type"] === "text/event-stream"
  }

  get events(): Array<Sse.Event> {
    return new Sse.Decoder().push(new TextEncoder().encode(this.text)) as Array<Sse.Event>
  }

  /** The messages of the events that have one. */
  get messages(): Array<any> {
    return this.events.flatMap(({ data }) => data === undefined || data === "" ? [] : [JSON.parse(data)])
  }

  get lastId(): string {
    return this.events.map(({ id }) => id).filter((id) => id !== undefined).at(-1)!
  }

  private answer(status: number, headers: Headers): void {
    this.answers++
    this.status = status
    this.sent = headers
  }
}

export const ACCEPT = "application/json, text/event-stream"

const always = { host: "127.0.0.1:3000" }

/** The headers of a valid POST. */
export const proper: Headers = { ...always, accept: ACCEPT, "content-type": "application/json" }

export const initialize = (version = "2025-11-25", capabilities: object = {}): Message.Request =>
  Message.request(0, "initialize", {
    protocolVersion: version,
    capabilities,
    clientInfo: { name: "test", version: "0.0.0" }
  })

export const call = (id: Message.RequestId, name: string, args?: object, token?: Message.RequestId): Message.Request =>
  Message.request(id, "tools/call", {
    name,
    ...(args === undefined ? undefined : { arguments: args }),
    ...(token === undefined ? undefined : { _meta: { progressToken: token } })
  })

/** A client that sends requests to one endpoint, in one session or in none. */
export class EndpointClient {
  constructor(readonly endpoint: Endpoint.Endpoint, readonly session: Headers = {}) {}

  send(method: string, headers: Headers, body: unknown = "", url = "/mcp"): TestExchange {
    const fault = typeof body === "object" && body !== null && "fault" in body
    const exchange = new TestExchange(
      method,
      url,
      headers,
      fault ? body as BodyFault : typeof body === "string" ? body : JSON.stringify(body)
    )
    this.endpoint.handle(exchange)
    return exchange
  }

  /** A POST, which may not be answered yet. */
  post(body: unknown, headers: Headers = {}): TestExchange {
    return this.send("POST", { ...proper, ...this.session, ...headers }, body)
  }

  get(headers: Headers = {}): TestExchange {
    return this.send("GET", { ...always, accept: "text/event-stream", ...this.session, ...headers })
  }

  delete(headers: Headers = {}): TestExchange {
    return this.send("DELETE", { ...always, ...this.session, ...headers })
  }

  /** A POST and its answer. */
  ask(body: unknown, headers: Headers = {}): Effect.Effect<TestExchange> {
    return Effect.suspend(() => answered(this.post(body, headers)))
  }

  /** The same client with a session of its own. */
  open(version?: string, capabilities?: object, headers: Headers = {}): Effect.Effect<EndpointClient> {
    return Effect.gen(this, function*() {
      const exchange = yield* this.ask(initialize(version, capabilities), headers)
      const client = new EndpointClient(this.endpoint, {
        "mcp-session-id": exchange.sent["mcp-session-id"],
        ...headers
      })
      client.post(Message.notification("notifications/initialized"))
      return client
    })
  }
}

/** Waits until it is answered completely. */
export const answered = (exchange: TestExchange): Effect.Effect<TestExchange> =>
  Effect.as(until(() => exchange.ended), exchange)

export const makeClient = (options?: HttpOptions) =>
  Effect.map(Endpoint.make(options), (endpoint) => new EndpointClient(endpoint))

/** Runs a test with a client that has no session. */
export const withEndpoint = <E, E2>(
  server: Layer.Layer<Dispatcher, E2>,
  test: (http: EndpointClient) => Effect.Effect<void, E, Scope.Scope | Dispatcher>,
  options?: HttpOptions
): Effect.Effect<void, E | E2 | Cause.NoSuchElementException> =>
  Effect.flatMap(makeClient(options), test).pipe(Effect.scoped, Effect.provide(server))

/** Checks what all refusals have in common. */
export const assertRefused = (exchange: TestExchange, status: number, code: number, message: RegExp) => {
  assert.strictEqual(exchange.status, status, exchange.text)
  assert.strictEqual(exchange.sent["content-type"], "application/json")
  assert.strictEqual(exchange.answers, 1)
  const { error, ...rest } = exchange.json
  assert.deepStrictEqual(rest, { jsonrpc: "2.0" })
  assert.strictEqual(error.code, code)
  assert.match(error.message, message)
}
