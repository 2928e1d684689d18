/**
 * Converts the answer of an HTTP API to the result of a tool, for `OpenApi`. The result has JSON, text, an image or audio. For a status
 * that is not a success (2xx), the result is an error with a sentence about the status and the text of the answer. This module reads the
 * body of an answer only up to the limit of the option `maxBytes`.
 */
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as ForeignJson from "../document/ForeignJson.js"
import { isJson } from "../document/Operations.js"
import * as ErrorMessage from "./ErrorMessage.js"

/** The JSON value of an answer with its text, or the result of the tool for an answer that is not JSON. */
export type Answer = { readonly value: unknown; readonly text: string } | ToolResult.ToolResult

const MAX_DETAIL = 2_000

export const read = (
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
): Effect.Effect<Answer, HttpClientError> =>
  Effect.gen(function*() {
    const { status } = response
    const mediaType = response.headers["content-type"] ?? ""
    const body = yield* bytesOf(response, maxBytes)
    if (status < 200 || status > 299) {
      return failure(explain(status, response.headers, detailOf(mediaType, body.bytes, yield* ErrorMessage.current)))
    }
    if (body.bytes.length === 0) return ToolResult.text(`The API answered ${status}, without content.`)
    if (body.isCut) {
      return /^text\//i.test(mediaType)
        ? ToolResult.text(`${decode(body.bytes)}\n[the rest is left out: the answer is longer than ${maxBytes} bytes]`)
        : failure(`The answer of the API is too long: more than ${maxBytes} bytes. Request less.`)
    }
    if (isJson(mediaType)) {
      const text = decode(body.bytes)
      const value = Either.try((): unknown => JSON.parse(text))
      const shown = ForeignJson.shortened(text, MAX_DETAIL)
      if (Either.isLeft(value)) return failure(`The API answered with text that is not JSON: ${shown}`)
      return ForeignJson.isFinite(value.right)
        ? { value: value.right, text }
        : failure(`The API answered with a number that is too large: ${shown}`)
    }
    const type = mediaType.split(";")[0]!.trim().toLowerCase()
    return type === "" || /^(text\/|application\/(xml|yaml|.+\+xml|.+\+yaml))/.test(type)
      ? ToolResult.text(decode(body.bytes))
      : /^image\/[a-z0-9.+-]+$/.test(type)
      ? ToolResult.image(body.bytes, type)
      : /^audio\/[a-z0-9.+-]+$/.test(type)
      ? ToolResult.audio(body.bytes, type)
      : ToolResult.text(`[${type.slice(0, 100)}, ${body.bytes.length} bytes]`)
  })

export const failure = (text: string): ToolResult.ToolResult => ToolResult.asError(ToolResult.text(text))

/**
 * Returns the error result for an answer that does not conform to the document. The result contains the text of the answer for the model.
 */
export const unexpected = (problem: string, text: string): ToolResult.ToolResult =>
  failure(`The answer of the API does not have the form that its document describes: ${problem}\n\n${text}`)

const bytesOf = (response: HttpClientResponse.HttpClientResponse, maxBytes: number) =>
  Effect.suspend(() => {
    let bytes = new Uint8Array(0)
    let size = 0
    let isCut = false
    // Copies the bytes to one array. If each piece stayed a separate object, a piece of one byte would take about a hundred bytes.
    const add = (piece: Uint8Array): boolean => {
      const end = Math.min(size + piece.length, maxBytes)
      isCut = end < size + piece.length
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.min(Math.max(end, 2 * bytes.length), maxBytes))
        larger.set(bytes)
        bytes = larger
      }
      bytes.set(piece.subarray(0, end - size), size)
      size = end
      return !isCut
    }
    return Stream.runForEachWhile(response.stream, (piece) => Effect.sync(() => add(piece))).pipe(
      // A response without a body counts as a response with an empty body.
      Effect.catchTag("ResponseError", (error) => error.reason === "EmptyBody" ? Effect.void : Effect.fail(error)),
      Effect.map(() => ({ bytes: bytes.subarray(0, size), isCut }))
    )
  })

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const explain = (
  status: number,
  headers: Readonly<Record<string, string | undefined>>,
  detail: string
): string => {
  const retry = headers["retry-after"]
  const again = retry !== undefined && /^[\w ,:-]{1,40}$/.test(retry) ?
    ` Try again after ${/^\d+$/.test(retry) ? `${retry} seconds` : retry}.` :
    ""
  const what = reasons[status] ??
    (status < 400
      ? "The API redirects to another address, which this server does not follow"
      : status < 500
      ? "The API does not accept this request"
      : "The API has a fault")
  return `${what} (${status}).${again}${detail === "" ? "" : ` It says: ${detail}`}`
}

const reasons: Readonly<Record<number, string>> = {
  401: "The API does not accept the credentials of this server",
  403: "The API does not allow this",
  404: "The API has nothing there",
  408: "The API did not answer in time",
  409: "The request conflicts with what the API has",
  410: "The API does not have it any more",
  413: "The request is too large for the API",
  422: "The API does not accept these values",
  429: "The API received too many requests",
  503: "The API is not available at the moment",
  504: "The API did not answer in time"
}

/**
 * Returns the details for the model when the status is not a success. The details are the text of the body, except for an HTML page. When
 * an API in this process has failed with an error whose `message` is not in the body, the details begin with this message.
 */
const detailOf = (mediaType: string, bytes: Uint8Array, message: string | undefined): string => {
  const { detail, words } = textOf(mediaType, bytes)
  return message === undefined || words.includes(message)
    ? detail
    : [ForeignJson.shortened(message, MAX_DETAIL), detail].filter((text) => text !== "").join("\n")
}

const textOf = (
  mediaType: string,
  bytes: Uint8Array
): { readonly detail: string; readonly words: ReadonlyArray<unknown> } => {
  if (/html/i.test(mediaType) || !/json|text|xml/i.test(mediaType)) return { detail: "", words: [] }
  const text = decode(bytes).trim()
  const value = isJson(mediaType) ? Either.getOrUndefined(Either.try((): unknown => JSON.parse(text))) : undefined
  const words = ForeignJson.isObject(value)
    ? [value.title, value.detail, value.message, value.error, value.error_description]
      .filter((one) => typeof one === "string" && one !== "")
    : []
  const rest = ForeignJson.isObject(value) ? Object.keys(value).filter((key) => !ordinary.includes(key)) : []
  const detail = words.length > 0 && rest.length === 0 ? [...new Set(words)].join(": ") : text
  return { detail: ForeignJson.shortened(detail, MAX_DETAIL), words }
}

const ordinary = ["title", "detail", "message", "error", "error_description", "type", "status", "code", "statusCode"]
