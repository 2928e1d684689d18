/**
 * HTTP requests to an endpoint without a socket. A test decides what is sent and when the client reads; a `Visit` records
 * the answer.
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import type { Dispatcher } from "@effect-mcp/server/Dispatcher"
import type { HttpOptions } from "@effect-mcp/server/HttpOptions"
import type { Cause, Layer } from "effect"
import { Effect } from "effect"
import * as Endpoint from "../../src/dispatch/Endpoint.js"
import type { BodyFault, Headers, HttpExchange, Reader, Writer } from "../../src/http/HttpExchange.js"
import { until } from "../Serving.js"

export class Visit implements HttpExchange {
  added: Headers | undefined
  isGone = false
  status: number | undefined
  sent: Headers = {}
  text = ""
  /** How often it was answered: never more than once. */
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

  get path(): string {
    return this.url.split("?")[0]!
  }

  body(maxBytes: number, then: (body: string | BodyFault) => void): void {
    this.read = true
    then(typeof this.content === "string" && this.content.length > maxBytes ? { fault: "size" } : this.content)
  }

  reply(status: number, headers: Headers, body: string): void {
    this.answer(status, headers)
    this.text = body
    this.ended = true
  }

  stream(headers: Headers, reader: Reader): Writer {
    this.answer(200, headers)
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
    this.sent = { ...headers, ...this.added }
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
    clientInfo: { name: "visitor", version: "0.0.0" }
  })

export const call = (id: Message.RequestId, name: string, args?: object, token?: Message.RequestId): Message.Request =>
  Message.request(id, "tools/call", {
    name,
    ...(args === undefined ? undefined : { arguments: args }),
    ...(token === undefined ? undefined : { _meta: { progressToken: token } })
  })

/** A client that sends requests to one endpoint. */
export class Visitor {
  constructor(readonly endpoint: Endpoint.Endpoint, readonly session: Headers = {}) {}

  visit(method: string, headers: Headers, body: unknown = "", url = "/mcp"): Visit {
    const fault = typeof body === "object" && body !== null && "fault" in body
    const visit = new Visit(
      method,
      url,
      headers,
      fault ? body as BodyFault : typeof body === "string" ? body : JSON.stringify(body)
    )
    this.endpoint.handle(visit)
    return visit
  }

  /** A POST, which may not be answered yet. */
  post(body: unknown, headers: Headers = {}): Visit {
    return this.visit("POST", { ...proper, ...this.session, ...headers }, body)
  }

  get(headers: Headers = {}): Visit {
    return this.visit("GET", { ...always, accept: "text/event-stream", ...this.session, ...headers })
  }

  delete(headers: Headers = {}): Visit {
    return this.visit("DELETE", { ...always, ...this.session, ...headers })
  }

  /** A POST and its answer. */
  ask(body: unknown, headers: Headers = {}): Effect.Effect<Visit> {
    return Effect.suspend(() => answered(this.post(body, headers)))
  }

  /** The same client with a session of its own. */
  open(version?: string, capabilities?: object, headers: Headers = {}): Effect.Effect<Visitor> {
    return Effect.gen(this, function*() {
      const visit = yield* this.ask(initialize(version, capabilities), headers)
      const visitor = new Visitor(this.endpoint, { "mcp-session-id": visit.sent["mcp-session-id"], ...headers })
      visitor.post(Message.notification("notifications/initialized"))
      return visitor
    })
  }
}

/** Waits until it is answered completely. */
export const answered = (visit: Visit): Effect.Effect<Visit> => Effect.as(until(() => visit.ended), visit)

export const visitor = (options?: HttpOptions) =>
  Effect.map(Endpoint.make(options), (endpoint) => new Visitor(endpoint))

/** Runs a test with a client of a server. */
export const visiting = <E, E2>(
  server: Layer.Layer<Dispatcher, E2>,
  test: (visitor: Visitor) => Effect.Effect<void, E, import("effect").Scope.Scope>,
  options?: HttpOptions
): Effect.Effect<void, E | E2 | Cause.NoSuchElementException> =>
  Effect.flatMap(visitor(options), test).pipe(Effect.scoped, Effect.provide(server))
