/**
 * Converts images and audio from a server to a form that the APIs of models accept. A server may send base64 with line breaks, base64 in
 * the alphabet for URLs, a data URI, or the URL of a file. The media type may have parameters or an old name. The APIs of models refuse a
 * whole request if one image is not valid base64.
 *
 * `ToolOutput` and `SamplingPrompt` use this module. `ToolOutput` also limits the size, and decides which media types the model reads.
 * `ModelText` makes texts for models.
 */
import * as Either from "effect/Either"

/** The media type and the base64 of a file. When there is no base64, `Left` is the reason. */
export interface Media {
  readonly mimeType: string
  readonly data: Either.Either<string, string>
}

/** The names that servers use for a media type, each with the name that the APIs of models accept. */
const names: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-jpeg": "image/jpeg",
  "image/x-png": "image/png",
  "image/apng": "image/png",
  "image/x-webp": "image/webp",
  "image/x-gif": "image/gif",
  "audio/mp3": "audio/mpeg",
  "audio/x-mp3": "audio/mpeg",
  "audio/x-mpeg": "audio/mpeg",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/x-flac": "audio/flac",
  "audio/x-m4a": "audio/mp4",
  "audio/m4a": "audio/mp4"
}

const MAX_TYPE = 200

/** Returns a media type in lower case and without parameters, with the name that the APIs of models accept. */
export const typeOf = (mimeType: string): string => {
  const [type] = mimeType.slice(0, MAX_TYPE).split(/[;,]/, 1)
  const plain = type!.trim().toLowerCase()
  return Object.hasOwn(names, plain) ? names[plain]! : plain
}

/** Reads the data of an image or of audio that a server has sent. The time is linear in the size of the data. */
export const make = (given: string, mimeType: string): Media => {
  const data = given.trimStart()
  if (/^data:/i.test(data)) return ofDataUri(data, mimeType)
  return /^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, MAX_TYPE))
    ? { mimeType: typeOf(mimeType), data: Either.left(`it is at ${data.slice(0, MAX_URL)}`) }
    : { mimeType: typeOf(mimeType), data: base64(data) }
}

const MAX_URL = 2_000

/** Reads a data URI. The media type in the URI takes precedence over `mimeType`, which is often a default of the server's library. */
const ofDataUri = (uri: string, mimeType: string): Media => {
  const head = uri.slice("data:".length, MAX_TYPE)
  const end = head.indexOf(",")
  const [type = "", ...parameters] = head.slice(0, Math.max(0, end)).split(";")
  const named = typeOf(type.includes("/") ? type : mimeType)
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")
  return {
    mimeType: named,
    data: end === -1 || !isBase64
      ? Either.left("it is a data URI without base64")
      : base64(unescaped(uri.slice("data:".length + end + 1)))
  }
}

/** Replaces `%2B`, `%2F` and `%3D`, which a URI may have, by the characters of base64. */
const unescaped = (text: string): string =>
  text.includes("%") ? text.replace(/%(2B|2F|3D)/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16))) : text

/** Converts base64 to its standard form, with padding. `Left` is the reason why a text is not base64. */
const base64 = (given: string): Either.Either<string, string> => {
  const trimmed = given.trim()
  const text = /[\t\r\n_-]/.test(trimmed)
    ? trimmed.replace(/[\t\r\n]+/g, "").replaceAll("-", "+").replaceAll("_", "/")
    : trimmed
  const digits = withoutPadding(text)
  return !/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1
    ? Either.left("it is not base64")
    : Either.right(digits.padEnd(Math.ceil(digits.length / 4) * 4, "="))
}

const withoutPadding = (text: string): string =>
  text.endsWith("==") ? text.slice(0, -2) : text.endsWith("=") ? text.slice(0, -1) : text
