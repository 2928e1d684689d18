/**
 * Streamable HTTP without sessions: each POST is served on its own, and nothing is remembered from one to the next. There is
 * no stream beside requests, and nobody can be asked.
 *
 * Who hangs up does not cancel, so a handler whose client has gone goes on, but not for ever.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import type { EndpointContext } from "../http/EndpointContext.js"
import type { HttpExchange } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import type { Expirable } from "../http/Sweeper.js"
import type { Principal } from "../Principal.js"
import * as Batch from "./Batch.js"
import { accepted, isInitialize } from "./Http.js"
import { Post } from "./Post.js"

/**
 * @since 0.1.0
 * @category models
 */
export class Stateless {
  private readonly running = new Set<Running>()

  constructor(private readonly site: EndpointContext) {}

  /** How many POSTs are being answered. */
  get size(): number {
    return this.running.size
  }

  /** Answers what is being answered, and stops it. */
  close(): void {
    for (const running of [...this.running]) running.stop()
  }

  post(exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined): void {
    const header = isInitialize(incoming) ? undefined : exchange.headers["mcp-protocol-version"]
    const { versions } = this.site.dispatcher
    const version = header ?? Version.negotiate(Version.withoutHeader, versions)
    if (!Version.isLegacy(version) || !versions.includes(version)) {
      return Refusal.send(exchange, Refusal.unsupportedVersion(version, versions))
    }
    if (!Message.isMalformed(incoming)) {
      // A cancel, or an answer, would be of some other client's request.
      return Message.isRequest(incoming)
        ? this.ask(exchange, [incoming], false, principal, version)
        : accepted(exchange)
    }
    const { batch } = incoming
    if (batch === undefined) return Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
    const refusal = Batch.refusal(batch, version)
    if (refusal !== undefined) return Refusal.send(exchange, refusal)
    const asked = batch.map(Message.fromUnknown).filter((one) =>
      Message.isMalformed(one) ? one.kind === "request" : Message.isRequest(one)
    )
    if (asked.length === 0) return accepted(exchange)
    this.ask(exchange, asked, true, principal, version)
  }

  private ask(
    exchange: HttpExchange,
    asked: ReadonlyArray<Message.Incoming>,
    batch: boolean,
    principal: Principal | undefined,
    version: LegacyVersion
  ): void {
    const waiting = new Map<Message.RequestId, () => void>()
    let dispatching = true
    const post = new Post(this.site, exchange, {
      principal,
      expected: asked.length,
      batch,
      version,
      session: undefined,
      onAnswer: ({ id }) => {
        // What is answered at once was not waited for, though another of this id may be.
        if (!dispatching && id !== undefined && id !== null) waiting.delete(id)
        return undefined
      },
      onDone: () => {
        this.running.delete(running)
        this.site.sweeper.letGo(running)
      }
    })
    const running = new Running(this.site, post, waiting)
    for (const one of asked) {
      const { outstanding } = post
      const stop = this.site.dispatcher.exchange(one, post, version)
      // What was not answered at once is in flight.
      if (post.outstanding === outstanding) waiting.set((one as Message.Request).id, stop)
    }
    dispatching = false
    if (post.isDone) return
    this.running.add(running)
    exchange.onGone(running.abandon)
    post.wait()
  }
}

/** A POST that is being answered, and how to stop it. */
class Running implements Expirable {
  private due = Infinity

  constructor(
    private readonly site: EndpointContext,
    private readonly post: Post,
    private readonly waiting: ReadonlyMap<Message.RequestId, () => void>
  ) {}

  stop(): void {
    const waiting = [...this.waiting]
    for (const [id] of waiting) this.post.unsafeSend(Outcome.toMessage(id, Outcome.closing))
    for (const [, stop] of waiting) stop()
  }

  readonly abandon = (): void => {
    const { options: { abandonAfter }, sweeper } = this.site
    if (!this.post.isDone && abandonAfter !== Infinity) sweeper.watch(this, this.due = sweeper.now() + abandonAfter)
  }

  sweep(now: number): number {
    if (now < this.due) return this.due
    this.site.sweeper.letGo(this)
    this.stop()
    return Infinity
  }
}
