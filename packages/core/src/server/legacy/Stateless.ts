/**
 * Streamable HTTP without sessions, for revisions up to 2025-11-25. `dispatch/HttpTransports` passes requests to this module in place of
 * `Http`. The server serves each POST independently of other POSTs, and stores nothing between two POSTs. A `Post` writes the answer. There
 * is no standalone stream, and handlers cannot send requests to the client. The server serves a request as if the client had completed a
 * handshake with the revision in the request's header.
 *
 * A client that disconnects does not cancel its request (2025-11-25 basic/transports). So the handler of the request goes on, for at most
 * 30 seconds.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Message from "../../jsonrpc/Message.js"
import * as Outcome from "../../jsonrpc/Outcome.js"
import type { ActiveRequest, Requests } from "../../jsonrpc/runtime/Requests.js"
import type { Expirable } from "../../kit/Deadlines.js"
import type { LegacyVersion } from "../../protocol/Version.js"
import { accepted, type Admitted } from "../http/HttpExchange.js"
import * as Refusal from "../http/Refusal.js"
import { ABANDON_AFTER } from "../http/ResolvedOptions.js"
import * as HttpBatch from "./HttpBatch.js"
import type { HttpContext } from "./HttpContext.js"
import * as Initialize from "./Initialize.js"
import { Post } from "./Post.js"
import type { LegacyServerSide } from "./ServerSide.js"

export interface Stateless {
  readonly post: (exchange: Admitted, incoming: Message.Incoming) => void
  /** Interrupts and answers the running requests. */
  readonly close: () => void
  /** The number of running POSTs. */
  readonly size: () => number
}

interface Self {
  readonly context: HttpContext
  readonly requests: Requests
  readonly serving: LegacyServerSide
  /** The functions that stop the running POSTs. */
  readonly running: Set<() => void>
}

export const make = (context: HttpContext, requests: Requests, serving: LegacyServerSide): Stateless => {
  const self: Self = { context, requests, serving, running: new Set() }
  return {
    post: (exchange, incoming) => post(self, exchange, incoming),
    close: () => {
      for (const stop of [...self.running]) stop()
    },
    size: () => self.running.size
  }
}

const post = (self: Self, exchange: Admitted, incoming: Message.Incoming): void => {
  const version = Initialize.versionOf(incoming, exchange.headers["mcp-protocol-version"], self.context.versions)
  if (typeof version !== "string") return Refusal.send(exchange, version)
  if (!Message.isMalformed(incoming)) {
    // Ignores notifications and responses: they would refer to a request of another POST, perhaps of another client.
    return Message.isRequest(incoming) ? serve(self, exchange, [incoming], false, version) : accepted(exchange)
  }
  const { batch } = incoming
  if (batch === undefined) return Refusal.failure(exchange, 400, Message.malformedResponse(incoming))
  const refusal = HttpBatch.refusal(batch, version)
  if (refusal !== undefined) return Refusal.send(exchange, refusal)
  const requests = HttpBatch.requests(batch)
  if (requests.length === 0) return accepted(exchange)
  serve(self, exchange, requests, true, version)
}

const serve = (
  { context, requests: all, running, serving }: Self,
  exchange: Admitted,
  requests: ReadonlyArray<Message.Incoming>,
  batch: boolean,
  version: LegacyVersion
): void => {
  const { sweeper } = context
  /** The unanswered requests. */
  const unanswered = new Map<Message.RequestId, ActiveRequest>()
  let deadline: Expirable | undefined
  const post = new Post(context, exchange, {
    expected: requests.length,
    batch,
    session: undefined,
    onResponse: ({ id }) => {
      // The server refuses a second request with the id of a running request. The first request stays in the map.
      if (unanswered.get(id!)?.answered === true) unanswered.delete(id!)
      return undefined
    },
    onDone: () => {
      running.delete(stop)
      if (deadline !== undefined) sweeper.unwatch(deadline)
    }
  })
  const stop = (): void => {
    const interrupted = [...unanswered]
    for (const [id] of interrupted) post.unsafeSend(Message.response(id, Outcome.closing))
    for (const [, request] of interrupted) request.cancel()
  }
  for (const request of requests) {
    if (Message.isMalformed(request)) {
      post.unsafeSend(Message.malformedResponse(request))
      continue
    }
    const active = all.start(
      post,
      request as Message.Request,
      serving.to(Initialize.withoutHandshake(request as Message.Request, version))
    )
    if (active?.answered === false) unanswered.set(active.id, active)
  }
  if (post.isDone) return
  running.add(stop)
  exchange.onGone(() => {
    if (!post.isDone) deadline = sweeper.schedule(ABANDON_AFTER, stop)
  })
  post.wait()
}
