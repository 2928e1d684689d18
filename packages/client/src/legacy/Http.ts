/**
 * Streamable HTTP, as a client speaks it: every message is a POST, every request is answered on its own response, and beside
 * them one stream brings what the server says of its own accord.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 * @since 0.1.0
 */
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Transport from "@effect-mcp/jsonrpc/Transport"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Effect from "effect/Effect"
import * as Body from "../http/Body.js"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { Slot } from "../http/Slots.js"
import * as Refused from "../HttpRefused.js"
import { HttpSession, isInitialize } from "./HttpSession.js"
import type { Road } from "./Outgoing.js"
import type { Home } from "./Post.js"
import { Post } from "./Post.js"
import { Renewal } from "./Renewal.js"
import * as Standalone from "./Standalone.js"

/**
 * @since 0.1.0
 * @category models
 */
export class Http implements Road {
  readonly session: HttpSession
  private readonly posts = new Set<Post>()
  private readonly renewal: Renewal
  private silence: (() => void) | undefined

  constructor(private readonly site: HttpConnection, private readonly fallback: Home["fallback"]) {
    const session = this.session = new HttpSession(site)
    this.renewal = new Renewal({
      site,
      session,
      tell: this.tell,
      expire: () => {
        for (const post of [...this.posts]) post.expire()
      }
    })
  }

  readonly ask = (request: Message.Request, text: string, slot: Slot<never>): Effect.Effect<void> => {
    const { fallback, renewal, session, site } = this
    if (isInitialize(request)) session.opening = request
    const post: Post = new Post(
      {
        site,
        session,
        fallback,
        renew: (gone) => renewal.renew(gone),
        answered: (response) => {
          this.posts.delete(post)
          site.inbox.deliver(response)
        },
        lost: (error) => {
          this.posts.delete(post)
          site.inbox.deliver(new Transport.Undelivered(request.id, error))
        }
      },
      request,
      text
    )
    this.posts.add(post)
    return Effect.onInterrupt(post.run(slot), () => Effect.sync(() => this.posts.delete(post)))
  }

  readonly tell = (message: Message.Message, text: string): Effect.Effect<void, TransportError> =>
    Effect.suspend(() => {
      const { id } = this.session
      return this.site.courier.send(this.session.post(text), (response) => {
        const { status } = response
        if (status >= 200 && status < 300) {
          return Effect.zipRight(Body.discard(response), Effect.sync(() => this.told(message)))
        }
        return Effect.flatMap(Refused.fromResponse(response), (refused) => {
          // What was said belonged to the session that is gone; the next one begins without it.
          if (status === 404 && id !== undefined) this.site.fork(Effect.ignore(this.renewal.renew(id)))
          return Effect.fail(Refused.toError(refused))
        })
      })
    })

  /** SHOULD end the session that is not needed any more (2025-11-25 basic/transports#session-management) */
  readonly farewell: Effect.Effect<void, TransportError> = Effect.suspend(() =>
    this.session.id === undefined
      ? Effect.void
      : this.site.courier.send(this.session.delete(), Body.discard)
  )

  private told(message: Message.Message): void {
    const { session, site } = this
    if (!Message.isNotification(message) || message.method !== Methods.initialized.name) return
    if (!site.options.standalone || site.inbox.isEnded) return
    this.silence?.()
    this.silence = site.fork(Standalone.run(site, session))
  }
}
