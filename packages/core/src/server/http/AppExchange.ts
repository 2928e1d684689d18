/**
 * Adapts one request of `@effect/platform` to the interface `HttpExchange`. The endpoint answers a request by calling functions. The
 * platform wants an Effect that gives a response, and pulls the body of the response. This module translates between the two.
 * `HttpEndpoint` makes one exchange for each request.
 *
 * The fields of the classes are mutable, because plain functions change them. `next` resumes the Effect that the platform runs. There are
 * two steps: reading the body, and answering. Each step first sets a new `next`, and then begins.
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Guard from "./Guard.js"
import {
  type Headers,
  type HttpExchange,
  PIECE,
  present,
  type Reader,
  repeated,
  type SlowReaders,
  type Writer
} from "./HttpExchange.js"
import { type Owner, PulledWriter, type Source } from "./PulledWriter.js"
import * as RequestBody from "./RequestBody.js"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

export class AppExchange implements HttpExchange, Owner {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly rawHeaders: ReadonlyArray<string> | undefined
  isGone = false
  private next: ((answer: Answer) => void) | undefined
  private onLeave: (() => void) | undefined
  private writer: PulledWriter | undefined

  constructor(
    private readonly request: HttpServerRequest,
    /** Interrupts the fiber that answers the request. */
    private readonly abort: () => void,
    /** The exchanges whose body is being read. No handler runs for these requests yet. */
    private readonly reading = new Set<AppExchange>(),
    readonly services: Context.Context<never> | undefined = undefined,
    private readonly listensOnLoopback: () => boolean | undefined = () => undefined,
    readonly values: HttpExchange["values"] = undefined,
    readonly span: HttpExchange["span"] = undefined
  ) {
    this.method = request.method
    this.url = request.url
    const { rawHeaders } = request.source as { readonly rawHeaders?: ReadonlyArray<string> }
    this.rawHeaders = rawHeaders
    const joined = rawHeaders === undefined ? undefined : repeated(rawHeaders)
    const host = Guard.hostOf(request.originalUrl, request.headers.host)
    this.headers = joined === undefined && host === request.headers.host
      ? request.headers
      : { ...request.headers, host, ...joined }
  }

  get isLocal(): boolean | undefined {
    return this.listensOnLoopback()
  }

  get remoteAddress(): string | undefined {
    return Option.getOrUndefined(this.request.remoteAddress)
  }

  get encrypted(): boolean | undefined {
    const { socket } = this.request.source as { readonly socket?: { readonly encrypted?: boolean } }
    return socket === undefined ? undefined : socket.encrypted === true
  }

  get path(): string {
    return this.request.originalUrl.replace(/^[a-z]+:\/\/[^/?]*/i, "").replace(/\?.*$/s, "") || "/"
  }

  /** Calls `handle`, and waits for the answer. `handle` may answer before or after it returns. */
  answer(handle: () => void): Answer {
    return Effect.interruptible(Effect.onInterrupt(this.step(handle), () => Effect.sync(this.gone)))
  }

  body(into: RequestBody.OpenBody, then: (body: string | RequestBody.BodyFault) => void): void {
    this.reading.add(this)
    this.next!(Effect.flatMap(read(this.request, into), (body) => {
      this.reading.delete(this)
      return this.step(() => then(body))
    }))
  }

  reply(status: number, headers: Headers, body: string, slowReaders?: SlowReaders): void {
    if (body.length > PIECE && slowReaders !== undefined) return slowReaders.sendLong(this, status, headers, body)
    const all = clean(headers)
    if (body !== "") this.watch(body.length, slowReaders)
    this.next!(Effect.succeed(
      body === ""
        ? HttpServerResponse.empty({ status, headers: all })
        : HttpServerResponse.text(body, { status, headers: all, contentType: headers["content-type"] })
    ))
  }

  stream(status: number, headers: Headers, reader: Reader, slowReaders?: SlowReaders): Writer {
    const body = new PulledBody()
    const writer = this.writer = new PulledWriter(headers, reader, this, slowReaders, () => body, body.give)
    const pulled = Stream.ensuring(
      body.stream(writer),
      Effect.sync(() => writer.isOver ? undefined : this.gone())
    )
    this.next!(Effect.succeed(HttpServerResponse.stream(pulled, {
      status,
      headers: clean(headers),
      contentType: headers["content-type"]
    })))
    return writer
  }

  onGone(listener: () => void): void {
    this.onLeave = listener
  }

  private step(act: () => void): Answer {
    return Effect.async((resume) => {
      this.next = resume
      act()
    })
  }

  /**
   * Disconnects the client. This function does not wait for the platform to pull, because the platform may wait for a client that reads
   * nothing.
   */
  cut(): void {
    this.gone()
    this.disconnect()
  }

  /**
   * Watches the connection until the client has taken the last text. The platform may have pulled the text, although the client has not
   * read it.
   */
  finish(last: number, slowReaders: SlowReaders | undefined): void {
    this.watch(last, slowReaders, true)
  }

  /**
   * Ends the answer. On Node, this function also closes the connection, because the connection buffers the text that the client has not
   * read.
   */
  disconnect(): void {
    this.abort()
    const { socket } = this.request.source as { readonly socket?: { readonly destroy?: () => void } }
    socket?.destroy?.()
  }

  /**
   * On Node, watches an answer that cannot leave yet, because of earlier answers on the connection or because the client reads slowly.
   * `unwritten` is true when the platform has not yet written the whole answer.
   */
  private watch(held: number, slowReaders: SlowReaders | undefined, unwritten = false): void {
    const { response } = this.request as { readonly response?: NodeResponse | undefined }
    if (slowReaders === undefined || typeof response?.on !== "function") return
    if (!unwritten && response.socket !== null && response.socket.writableLength === 0) return
    const stop = slowReaders.watch(held, () => this.disconnect())
    response.on("finish", stop)
    response.on("close", stop)
  }

  private readonly gone = (): void => {
    if (this.isGone) return
    this.isGone = true
    this.reading.delete(this)
    this.writer?.abort(undefined)
    this.onLeave?.()
  }
}

/** The members of Node's response that this module uses. `socket` is null until the earlier answers on the connection have been sent. */
interface NodeResponse {
  readonly socket: { readonly writableLength: number } | null
  readonly on: (event: "finish" | "close", listener: () => void) => void
}

type Pulled = Effect.Effect<Uint8Array, Option.Option<never>>

const ended: Pulled = Effect.fail(Option.none())

/**
 * The body of an answer, from which the platform pulls. Each pull waits until the writer has text, and takes all the text that the writer
 * then has. `resume` ends the wait. `taken` is the text that the writer has given.
 */
class PulledBody implements Source {
  private resume: (next: Pulled) => void = () => {}
  private taken = ended

  stream(writer: PulledWriter): Stream.Stream<Uint8Array> {
    return Stream.repeatEffectOption(Effect.async((resume) => {
      this.resume = resume
      writer.pull()
    }))
  }

  readonly give = (flush: () => void): void =>
    this.resume(Effect.suspend(() => {
      this.taken = ended
      flush()
      return this.taken
    }))

  enqueue(text: Uint8Array): void {
    this.taken = Effect.succeed(text)
  }

  close(): void {
    this.resume(ended)
  }

  error(): void {
    this.close()
  }
}

const read = (
  request: HttpServerRequest,
  into: RequestBody.OpenBody
): Effect.Effect<string | RequestBody.BodyFault> => {
  const source = request.source as Request | RequestBody.NodeBody
  // When middleware has already read the body, the platform still has the body in memory.
  return source instanceof Request && source.bodyUsed
    ? Effect.match(request.arrayBuffer, {
      onFailure: (): RequestBody.BodyFault => ({ fault: "taken" }),
      onSuccess: (body) => body.byteLength > into.maxBytes ? { fault: "size" } : RequestBody.text(body)
    })
    : Effect.async((resume) => {
      const then = (body: string | RequestBody.BodyFault): void => resume(Effect.succeed(body))
      if (source instanceof Request) return Effect.sync(RequestBody.read(source, into, then))
      if (source.readableDidRead) return then({ fault: "taken" })
      RequestBody.readNode(source, into, (body) => then(RequestBody.text(body)))
    })
}

/** Gives all headers except `content-type`, which is a separate option of the platform. */
const clean = (headers: Headers): Record<string, string> => {
  const all = present(headers)
  delete all["content-type"]
  return all
}
