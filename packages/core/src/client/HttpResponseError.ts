/**
 * An HTTP response that refuses a request: its status, its headers, and the beginning of its body. Applications find this error as the
 * `cause` of a `LocalError.TransportError`, and can match on its members. `http/RefusedResponse` makes the error from a response.
 * `http/EraEvidence` reads from the error what it shows about the era of the server.
 *
 * The message of the error contains no secret of the client, even when the server repeats a secret in its response.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as JsonText from "../jsonrpc/runtime/JsonText.js"
import * as MediaType from "./http/MediaType.js"

/** How many characters of the body a message quotes. */
const QUOTE = 200

/** @category errors */
export class HttpResponseError extends Data.TaggedError("HttpResponseError")<{
  /** The HTTP method, such as `POST`; not the method of JSON-RPC. */
  readonly method: string
  /** The URL of the request, without its query. */
  readonly url: string
  readonly status: number
  /** The headers of the response, by names in lower case, such as `www-authenticate`. Cookies and session ids are left out. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 64 KiB of the body, as text. Empty when there is no body, or when the body could not be read. */
  readonly body: string
  /** Whether the request had an `Authorization` header. Default: `false`. */
  readonly hadCredentials?: boolean | undefined
}> {
  override get message(): string {
    const { method, status, url } = this
    // The body is not quoted, because a server may send the client its own token back to show what is wrong with it.
    const quoted = status === 401 || status === 403 ? description(this) : quote(this)
    const reason = status === 403 && this.body !== "" ? ": `HttpResponseError.body` has the answer" : ""
    const advice = status !== 401
      ? reason
      : this.hadCredentials === true
      ? ": the server does not accept the `Authorization` header of the request"
      : ": give the connector `headers` or `authorize`"
    return `${method} ${url} was answered with ${status}${quoted === "" ? advice : `: ${quoted}`}`
  }
}

const quote = ({ body, headers }: Pick<HttpResponseError, "body" | "headers">): string => {
  const type = MediaType.of(headers["content-type"])
  if (type !== "text/plain" && type !== MediaType.JSON) return ""
  const value = type === MediaType.JSON
    ? JsonText.parse(body) as { readonly error?: { readonly message?: unknown } }
    : null
  return shortened(typeof value?.error?.message === "string" ? value.error.message : body)
}

/**
 * Returns why the server did not accept a token, according to the `www-authenticate` header (RFC 6750). `RefusedResponse` has already
 * removed the token from the header.
 */
const description = ({ headers }: Pick<HttpResponseError, "headers">): string => {
  const challenge = (headers["www-authenticate"] ?? "").slice(0, MAX_CHALLENGE)
  const [, quoted = ""] = /[\s,]error_description\s*=\s*"((?:[^"\\]|\\[^])*)"/i.exec(challenge) ?? []
  return shortened(quoted.replace(/\\([^])/g, "$1"))
}

/** How many characters of a `www-authenticate` header are read. */
const MAX_CHALLENGE = 16 * 1024

const shortened = (text: string): string => {
  const line = text.slice(0, 4 * QUOTE).replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > QUOTE ? `${line.slice(0, QUOTE)}…` : line
}
