/**
 * Streamable HTTP without sessions: each POST is served by itself, and nothing is kept from one to the next. There is no
 * standalone stream, and handlers cannot send requests to the client.
 *
 * A client that disconnects does not cancel its request (2025-11-25 basic/transports), so its handler runs on, for at
 * most `abandonAfter`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Outcome from "@effect-mcp/jsonrpc/Outcome"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import type { HttpExchange } from "../http/HttpExchange.js"
import { accepted } from "../http/HttpExchange.js"
import * as HttpRefusal from "../http/Refusal.js"
import type { Expirable } from "../http/Sweeper.js"
import type { Principal } from "../Principal.js"
import * as Batch from "./Batch.js"
import { isInitialize } from "./Http.js"
import type { HttpContext } from "./HttpContext.js"
import { Post } from "./Post.js"
import * as Refusal from "./Refusal.js"

export interface Stateless {
  readonly post: (exchange: HttpExchange, incoming: Message.Incoming, principal: Principal | undefined) => void
  /** Answers the requests that are running, and interrupts them. */
  readonly close: () => void
  /** How many POSTs are being answered. */
  readonly size: () => number
}

export const make = (context: HttpContext): Stateless => {
  const { dispatcher, options: { abandonAfter }, sweeper } = context
  /** What stops each POST that is being answered. */
  const running = new Set<() => void>()

  const serve = (
    exchange: HttpExchange,
    requests: ReadonlyArray<Message.Incoming>,
    batch: boolean,
    principal: Principal | undefined,
    version: LegacyVersion
  ): void => {
    /** What interrupts the requests that are not answered yet. */
    const unanswered = new Map<Message.RequestId, () => void>()
    let starting = true
    let deadline: Expirable | undefined
    const post = new Post(context, exchange, {
      principal,
      expected: requests.length,
      batch,
      session: undefined,
      onResponse: ({ id }) => {
        // A request that is refused at once was never added, though an earlier one of the same id may be.
        if (!starting && id !== undefined && id !== null) unanswered.delete(id)
        return undefined
      },
      onDone: () => {
        running.delete(stop)
        if (deadline !== undefined) sweeper.unwatch(deadline)
      }
    })
    const stop = (): void => {
      const interrupted = [...unanswered]
      for (const [id] of interrupted) post.unsafeSend(Outcome.toMessage(id, Outcome.closing))
      for (const [, interrupt] of interrupted) interrupt()
    }
    for (const request of requests) {
      const { outstanding } = post
      const interrupt = dispatcher.exchange(request, post, version)
      if (post.outstanding === outstanding) unanswered.set((request as Message.Request).id, interrupt)
    }
    starting = false
    if (post.isDone) return
    running.add(stop)
    exchange.onGone(() => {
      if (!post.isDone) deadline = sweeper.schedule(abandonAfter, stop)
    })
    post.wait()
  }

  return {
    post: (exchange, incoming, principal) => {
      const header = isInitialize(incoming) ? undefined : exchange.headers["mcp-protocol-version"]
      const versions = dispatcher.versions.filter(Version.isLegacy)
      const version = header ?? Version.negotiate(Version.withoutHeader, versions)
      if (!Version.isLegacy(version) || !versions.includes(version)) {
        return HttpRefusal.send(exchange, Refusal.unsupportedVersion(version, versions))
      }
      if (!Message.isMalformed(incoming)) {
        // A cancellation or a response would be about a request of another POST, perhaps of another client.
        return Message.isRequest(incoming)
          ? serve(exchange, [incoming], false, principal, version)
          : accepted(exchange)
      }
      const { batch } = incoming
      if (batch === undefined) return HttpRefusal.failure(exchange, 400, Message.malformedResponse(incoming))
      const refusal = Batch.refusal(batch, version)
      if (refusal !== undefined) return HttpRefusal.send(exchange, refusal)
      const requests = Batch.requests(batch)
      if (requests.length === 0) return accepted(exchange)
      serve(exchange, requests, true, principal, version)
    },
    close: () => {
      for (const stop of [...running]) stop()
    },
    size: () => running.size
  }
}
