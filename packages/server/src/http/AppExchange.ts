/**
 * One request of `@effect/platform` as the endpoint takes it. The endpoint calls back; the platform wants an effect, and a
 * stream that is pulled: this turns the one into the other.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Sse from "@effect-mcp/jsonrpc/Sse"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { BodyFault, Headers, HttpExchange, Reader, Writer } from "./HttpExchange.js"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

/**
 * @since 0.1.0
 * @category models
 */
export class AppExchange implements HttpExchange {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  added: Headers | undefined
  isGone = false
  private resume: ((answer: Answer) => void) | undefined
  private leave: (() => void) | undefined

  constructor(
    private readonly request: HttpServerRequest,
    /** Interrupts who answers. */
    private readonly abort: () => void
  ) {
    this.method = request.method
    this.url = request.url
    this.headers = hostOf(request)
  }

  get path(): string {
    return this.request.originalUrl.replace(/^[a-z]+:\/\/[^/?]*/i, "").replace(/\?.*$/s, "") || "/"
  }

  /** The answer to the request, once `handle` has got one. */
  answered(handle: () => void): Answer {
    return Effect.interruptible(Effect.onInterrupt(this.next(handle), () => Effect.sync(this.gone)))
  }

  body(maxBytes: number, then: (body: string | BodyFault) => void): void {
    this.resume!(Effect.flatMap(read(this.request, maxBytes), (body) => this.next(() => then(body))))
  }

  reply(status: number, headers: Headers, body: string): void {
    const all = clean(headers, this.added)
    this.resume!(Effect.succeed(
      body === ""
        ? HttpServerResponse.empty({ status, headers: all })
        : HttpServerResponse.text(body, { status, headers: all, contentType: headers["content-type"] })
    ))
  }

  stream(headers: Headers, reader: Reader): Writer {
    const writer = new PulledWriter(reader, this.gone, this.abort)
    this.resume!(Effect.succeed(HttpServerResponse.stream(writer.pulled, {
      status: 200,
      headers: clean(headers, this.added),
      contentType: headers["content-type"]
    })))
    return writer
  }

  onGone(listener: () => void): void {
    this.leave = listener
  }

  private next(act: () => void): Answer {
    return Effect.async((resume) => {
      this.resume = resume
      act()
    })
  }

  private readonly gone = (): void => {
    if (this.isGone) return
    this.isGone = true
    this.leave?.()
  }
}

/** How many characters may wait to be pulled. */
const HIGH_WATER = 16 * 1024

const bytes = new TextEncoder()

/** Keeps what is written until it is pulled. */
class PulledWriter implements Writer {
  // Not all servers send the headers of a stream before they have something of its body.
  private text = Sse.comment()
  private full = false
  private state: "open" | "ended" | "cut" | "over" = "open"
  private wake: (() => void) | undefined

  constructor(
    private readonly reader: Reader,
    /** Hears that the client has not read to the end, whoever is to blame. */
    private readonly left: () => void,
    private readonly abort: () => void
  ) {}

  readonly pulled: Stream.Stream<Uint8Array> = Stream.ensuring(
    Stream.repeatEffectChunkOption(Effect.suspend(() => this.take())),
    Effect.sync(() => {
      const { state } = this
      this.state = "over"
      if (state !== "ended") this.left()
      if (state === "open") this.reader.gone()
    })
  )

  write(text: string): boolean {
    if (this.state !== "open") return true
    this.text += text
    this.wake?.()
    return !(this.full = this.text.length >= HIGH_WATER)
  }

  readonly end = (): void => {
    if (this.state === "open") this.state = "ended"
    this.wake?.()
  }

  readonly cut = (): void => {
    if (this.state === "over") return
    this.state = "cut"
    this.text = ""
    this.left()
    this.wake?.()
    // It may be waiting for a reader who takes nothing, and not for us.
    this.abort()
  }

  private take(): Effect.Effect<Chunk.Chunk<Uint8Array>, Option.Option<never>> {
    if (this.text !== "") {
      const { text } = this
      this.text = ""
      if (this.full) {
        this.full = false
        this.reader.drained()
      }
      return Effect.succeed(Chunk.of(bytes.encode(text)))
    }
    if (this.state !== "open") return Effect.fail(Option.none())
    return Effect.zipRight(
      Effect.async<void>((resume) => {
        this.wake = () => resume(Effect.void)
      }),
      Effect.suspend(() => this.take())
    )
  }
}

const read = (request: HttpServerRequest, maxBytes: number): Effect.Effect<string | BodyFault> =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, Option.some(FileSystem.Size(maxBytes))),
    Effect.match({
      onSuccess: (body): string | BodyFault =>
        body.byteLength > maxBytes
          ? { fault: "size" }
          : Either.getOrElse(decode(body), () => ({ fault: "encoding" }) as const),
      // The one thing by which it can be told from a connection that broke.
      onFailure: ({ cause }): BodyFault => ({
        fault: cause instanceof Error && cause.message === "maxBytes exceeded" ? "size" : "unreadable"
      })
    })
  )

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (body: ArrayBuffer | Uint8Array): Either.Either<string, unknown> => Either.try(() => strict.decode(body))

// What came without the header came with the name of the host in its address.
const hostOf = ({ headers, originalUrl }: HttpServerRequest): Headers => {
  if (headers.host !== undefined) return headers
  const [, host] = /^https?:\/\/([^/?]+)/i.exec(originalUrl) ?? []
  return host === undefined ? headers : { ...headers, host }
}

const clean = (headers: Headers, added: Headers | undefined): Record<string, string> => {
  const all: Record<string, string> = {}
  for (const set of [headers, added]) {
    for (const name in set) {
      if (set[name] !== undefined && name !== "content-type") all[name] = set[name]
    }
  }
  return all
}
