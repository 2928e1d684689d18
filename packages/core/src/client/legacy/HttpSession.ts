/**
 * A session over HTTP as a value: its id, its revision, and the requests POST, GET and DELETE, which name the id and the revision. The two
 * transports of the legacy era, `Http` and `Sse`, keep the current session in a `Ref`; `Post` and `EventStream` send its requests. A new
 * session is a new value. This module also says which message begins a session, and which response shows that the server has lost the
 * session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Message from "../../jsonrpc/Message.js"
import * as ErrorCodes from "../../protocol/ErrorCodes.js"
import * as Methods from "../../protocol/legacy/Methods.js"
import * as HttpConnection from "../http/HttpConnection.js"
import * as MediaType from "../http/MediaType.js"
import type { Settings } from "../http/Settings.js"
import type { HttpResponseError } from "../HttpResponseError.js"

/** How many characters a session id may have. Some servers put signed data of the session into its id. */
const MAX_ID = 8192

// A session id MUST contain only visible ASCII characters (2025-11-25 basic/transports#session-management); some servers send spaces.
const printable = /^[\x20-\x7e]+$/

const visible = /^[\x21-\x7e]+$/

export interface HttpSession {
  readonly connection: HttpConnection.HttpConnection
  readonly url: URL
  readonly id: string | undefined
  readonly version: string | undefined
  /** A POST without its body. It is made once for a session, and not for each message. */
  readonly template: HttpClientRequest.HttpClientRequest
}

/** Makes the session before `initialize`, which has no id and no revision. Default for `url`: the URL of the connection. */
export const initial = (connection: HttpConnection.HttpConnection, url: URL = connection.url): HttpSession =>
  make(connection, url, undefined, undefined)

/** Makes the session that an earlier connection has begun. */
export const resumed = (
  connection: HttpConnection.HttpConnection,
  { id, version }: NonNullable<Settings["session"]>
): HttpSession => make(connection, connection.url, id, version)

const make = (
  connection: HttpConnection.HttpConnection,
  url: URL,
  id: string | undefined,
  version: string | undefined
): HttpSession => ({
  connection,
  url,
  id,
  version,
  template: HttpConnection.request(connection, "POST", url, headersOf(id, version, both))
})

const headersOf = (id: string | undefined, version: string | undefined, more: Record<string, string>) => ({
  ...more,
  // The id MUST be included in all requests of the session (2025-11-25 basic/transports#session-management).
  ...(id === undefined ? undefined : { "mcp-session-id": id }),
  // The revision MUST be included in all requests after initialize (2025-11-25 basic/transports#protocol-version-header).
  ...(version === undefined ? undefined : { "mcp-protocol-version": version })
})

// The client MUST list both types as supported (2025-11-25 basic/transports#sending-messages-to-the-server).
const both = { accept: `${MediaType.JSON}, ${MediaType.EVENTS}` }

export const withId = (session: HttpSession, id: string | undefined): HttpSession =>
  make(session.connection, session.url, id, session.version)

/** Makes the request that carries a message. */
export const post = ({ template }: HttpSession, text: string): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.setBody(template, HttpBody.text(text, MediaType.JSON))

/** Makes the request for a stream of events: from its beginning, or after the event `lastEventId`. */
export const get = (
  { connection, id, url, version }: HttpSession,
  lastEventId: string | undefined
): HttpClientRequest.HttpClientRequest => {
  const last = lastEventId === undefined ? undefined : { "last-event-id": lastEventId }
  return HttpConnection.request(connection, "GET", url, headersOf(id, version, { accept: MediaType.EVENTS, ...last }))
}

/** Makes the request that ends the session. */
export const terminate = ({ connection, id, url, version }: HttpSession): HttpClientRequest.HttpClientRequest =>
  HttpConnection.request(connection, "DELETE", url, headersOf(id, version, {}))

/**
 * Returns the session id in the response to `initialize`. `undefined` when the response has no id, or an empty id. `false` when the id is
 * not valid.
 */
export const idOf = (headers: Headers.Headers): string | undefined | false => {
  const id = headers["mcp-session-id"]
  if (id === undefined || id.trim() === "") return undefined
  return id.length > MAX_ID || !printable.test(id) ? false : id
}

/** Returns the session with the revision of the server's answer to `initialize`. */
export const agree = (session: HttpSession, response: Message.Response): HttpSession => {
  const version = versionOf(response)
  return version === undefined ? session : make(session.connection, session.url, session.id, version)
}

/** Returns the revision that an answer to `initialize` names; `undefined` when it names no revision that a header can contain. */
export const versionOf = (response: Message.Response): string | undefined => {
  const version = Message.isSuccess(response) ? response.result.protocolVersion : undefined
  return typeof version === "string" && version.length <= 64 && visible.test(version) ? version : undefined
}

export const isInitialize = (message: Message.Message): boolean =>
  Message.isRequest(message) && message.method === Methods.initialize.name

/**
 * Whether a refusal says that the server does not have the session of the request. `answer` is the answer to the request in the body, if
 * there is one; some servers report the lost session in this answer. Many servers answer with status 400 after a restart, and mention the
 * session only in the text of the body.
 */
export const isLost = ({ body, status }: HttpResponseError, answer?: Message.Response): boolean => {
  if (status === 404 && (answer === undefined || codeOf(answer) === UNNAMED)) return true
  if (status !== 404 && status !== 400) return false
  return noSession.test(body) ||
    (answer !== undefined && codeOf(answer) === ErrorCodes.SESSION_NOT_FOUND)
}

/** The code that servers use for the error of a lost session when they have no special code for it. */
const UNNAMED = -32000

const codeOf = (answer: Message.Response): number | undefined =>
  Message.isSuccess(answer) ? undefined : answer.error.code

const noSession =
  /\b(no|missing|invalid|unknown|expired) (valid |or \w+ )?session\b|\bsession( id)?\b[^.]{0,40}\b(not found|missing|required|invalid|expired|terminated|unknown)\b|\bserver not initialized\b/i
