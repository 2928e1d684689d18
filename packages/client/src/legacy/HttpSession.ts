/**
 * What the server and we have agreed on: the session's id, the revision, and how it was begun, so that it can be begun once
 * more. From it come the headers of all messages.
 *
 * It knows no response but the one that begins a session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Message from "@effect-mcp/jsonrpc/Message"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Version from "@effect-mcp/protocol/Version"
import type { HttpConnection } from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"

/**
 * How long a session id may be.
 *
 * @since 0.1.0
 * @category limits
 */
export const MAX_ID = 1024

// MUST only contain visible ASCII characters (2025-11-25 basic/transports#session-management)
const visible = /^[\x21-\x7e]+$/

/**
 * @since 0.1.0
 * @category models
 */
export class HttpSession {
  id: string | undefined
  version: string | undefined
  /** The request that began it. */
  opening: Message.Request | undefined
  private template: HttpClientRequest.HttpClientRequest

  constructor(private readonly site: HttpConnection, private readonly url: URL = site.url) {
    this.template = this.request("POST", BOTH)
  }

  /** Whether the server may send JSON-RPC batches. */
  get takesBatches(): boolean {
    return Version.hasBatches(this.version)
  }

  /** A message on its way. `initialize` names no session: it begins one. */
  post(text: string, opens = false): HttpClientRequest.HttpClientRequest {
    const template = opens ? this.site.request("POST", BOTH, this.url) : this.template
    return HttpClientRequest.setBody(template, HttpBody.text(text, MediaType.JSON))
  }

  /** Listening to a stream, from its beginning or from where it was cut off. */
  get(lastEventId: string | undefined): HttpClientRequest.HttpClientRequest {
    return this.request("GET", lastEventId === undefined ? EVENTS : { ...EVENTS, "last-event-id": lastEventId })
  }

  /** The end of the session. */
  delete(): HttpClientRequest.HttpClientRequest {
    return this.request("DELETE", {})
  }

  /** Takes the id that comes with the answer to `initialize`, if there is one; says what is wrong with it. */
  accept(headers: Headers.Headers): string | undefined {
    const id = headers["mcp-session-id"]
    if (id !== undefined && (id.length > MAX_ID || !visible.test(id))) return "The server's session id is not valid"
    this.use(id)
    return undefined
  }

  /** Takes the revision that the server answers `initialize` with. */
  agree(response: Message.Response): void {
    const version = versionOf(response)
    if (version === undefined) return
    this.version = version
    this.template = this.request("POST", BOTH)
  }

  /** Takes another id. */
  use(id: string | undefined): void {
    this.id = id
    this.template = this.request("POST", BOTH)
  }

  private request(
    method: "GET" | "POST" | "DELETE",
    headers: Record<string, string>
  ): HttpClientRequest.HttpClientRequest {
    const all = { ...headers }
    // MUST be included in all requests of the session (2025-11-25 basic/transports#session-management)
    if (this.id !== undefined) all["mcp-session-id"] = this.id
    // MUST be included in all requests after initialize (2025-11-25 basic/transports#protocol-version-header)
    if (this.version !== undefined) all["mcp-protocol-version"] = this.version
    return this.site.request(method, all, this.url)
  }
}

// MUST list both as supported (2025-11-25 basic/transports#sending-messages-to-the-server)
const BOTH = { accept: `${MediaType.JSON}, ${MediaType.EVENTS}` }

const EVENTS = { accept: MediaType.EVENTS }

/**
 * The revision that an answer to `initialize` names, if it can be named in a header.
 *
 * @since 0.1.0
 * @category parsing
 */
export const versionOf = (response: Message.Response): string | undefined => {
  const version = Message.isSuccess(response) ? response.result.protocolVersion : undefined
  return typeof version === "string" && version.length <= 64 && visible.test(version) ? version : undefined
}

/**
 * @since 0.1.0
 * @category guards
 */
export const isInitialize = (message: Message.Message): boolean =>
  Message.isRequest(message) && message.method === Methods.initialize.name

/**
 * Whether an answer says that there is no such session: official servers give it this code, and some others give it to the
 * request itself.
 *
 * @since 0.1.0
 * @category guards
 */
export const isUnknownSession = (answer: Message.Response): boolean =>
  !Message.isSuccess(answer) && answer.error.code === -32001
