/**
 * Reads the kind and the id of a message from its text, without parsing the text. `MessageText` uses this outline to refuse a text that is
 * too large to parse. `Oversized` uses this outline for a text that is too long to store.
 *
 * The module reads only the first 1,024 and the last 512 characters, so the time does not depend on the length of the message. It does not
 * find a kind or an id between these two parts.
 */
import * as Message from "../Message.js"
import * as JsonText from "./JsonText.js"

export interface MessageOutline {
  readonly kind: "request" | "response" | undefined
  /** The id of the message. Always `undefined` for a batch. */
  readonly id: Message.RequestId | undefined
}

const HEAD = 1024
const TAIL = 512

/** Reads the outline of a message, or of the first message of a batch, from its whole text. */
export const read = (text: string): MessageOutline => {
  const { id, kind } = fromStart(text)
  return { kind, id: fromEnd(text) ?? id }
}

/** Reads the outline from the beginning of the text of a message. */
export const fromStart = (text: string): MessageOutline => readHead(copyOf(text.slice(0, HEAD)))

/** Reads the id from the end of the text of a message. */
export const fromEnd = (text: string): MessageOutline["id"] => idAtEnd(copyOf(text.slice(-TAIL)))

// A slice refers to the whole text, and a regular expression keeps the input of its last match. Together they would keep a long message in
// memory until the next match. Therefore the slice is copied.
const copyOf = (slice: string): string => JsonText.parse(JsonText.stringify(slice)!) as string

// A string, a punctuation character, a number or a word, or the quote of a string that is cut off.
const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|"/g

const readHead = (head: string): MessageOutline => {
  let kind: MessageOutline["kind"]
  let id: MessageOutline["id"]
  let depth = 0
  // In a batch, the members of a message are one level deeper.
  let level = 1
  let last = ""
  let name: string | undefined
  for (const [part] of head.matchAll(token)) {
    if (part === "\"") break
    if (part === "{" || part === "[") {
      if (depth === 0 && part === "[") level = 2
      depth++
    } else if (part === "}" || part === "]") {
      if (--depth < level) break
    } else if (depth !== level) {
      continue
    } else if (part === ":") {
      name = last
      if (name === "\"method\"" || name === "\"params\"") kind = "request"
      else if (name === "\"result\"" || name === "\"error\"") kind ??= "response"
    } else if (part === ",") {
      name = undefined
    } else {
      if (name === "\"id\"" && level === 1) id = idOf(part)
      last = part
    }
  }
  return { kind, id }
}

// A member `id` belongs to the outermost object if only members without nesting follow it up to the end of the text. No string in this part
// may contain a backslash, so that every quote begins or ends a string.
const lastId = /[{,]\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*(?:,\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[^\s"{}[\],:\\]+)\s*)*\}\s*$/

const idAtEnd = (tail: string): MessageOutline["id"] => {
  const found = lastId.exec(tail)
  return found === null ? undefined : idOf(found[1]!)
}

const idOf = (token: string): MessageOutline["id"] => {
  const value = JsonText.parse(token)
  return Message.isRequestId(value) ? value : undefined
}
