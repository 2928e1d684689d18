/**
 * The values that the side under test chooses anew for each conversation, such as ids, tokens and cursors. Where a recorded message
 * contains such a value, this module accepts any value from the side under test, and stores it. When a later recorded message contains the
 * recorded value, this module puts the stored value there. `Difference` compares all other values, and `Replay` plays the conversation.
 */
import type * as Message from "@effect-mcp/core/Message"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import type { Entry } from "../Transcript.js"
import * as Difference from "./Difference.js"

export interface ChosenValues {
  /** Returns the recorded message with the values that the side under test has chosen in this conversation. */
  readonly current: (entry: Entry) => Message.Message
  /**
   * Returns the first difference between a message of the side under test and the recorded message. When the messages are equal, returns
   * `undefined` and stores the values that the message chooses. `raw` is the message as it was received, and `received` is the same message
   * without secrets. The stored values come from `raw`.
   */
  readonly match: (
    entry: Entry,
    received: Message.Message,
    raw: Message.Message
  ) => Difference.Difference | undefined
}

/**
 * How a message uses a value. The sender chooses the value, or repeats a value that the sender itself or the other side has chosen before.
 */
type Role = "chooses" | "names its own" | "names the other's"

interface Place {
  readonly path: ReadonlyArray<string>
  /** The kind of the value. Equal values of one kind are the same value. `undefined` for a value that no other message names. */
  readonly kind: "cursor" | "elicitation" | "id" | "progress" | "state" | undefined
  readonly role: Role
}

type Json = { [key: string]: Json } | undefined

export const make = (tested: Entry["from"]): ChosenValues => {
  const chosen = new Map<string, unknown>()
  /** The ids of the requests of the replayed side. */
  const replayed = new Set<unknown>()
  const keyOf = (kind: Place["kind"], value: unknown): string => `${kind} ${JSON.stringify(value)}`

  const current: ChosenValues["current"] = (entry) => {
    const message = structuredClone(entry.message)
    if (entry.from !== tested && "method" in message && "id" in message) replayed.add(message.id)
    for (const { kind, path, role } of places(message)) {
      const recorded = get(message, path)
      const value = chosen.get(keyOf(kind, recorded))
      const isOfTested = role === "names its own"
        // A server may cancel a subscription, whose id the client has chosen.
        ? entry.from === tested || (kind === "id" && !replayed.has(recorded))
        : role === "names the other's" && entry.from !== tested
      if (isOfTested && value !== undefined) set(message, path, value)
    }
    return message
  }

  return {
    current,
    match: (entry, received, raw) => {
      const expected = current(entry)
      const choices = places(entry.message).filter(({ path, role }) =>
        role === "chooses" && get(entry.message, path) !== undefined && get(received, path) !== undefined
      )
      for (const { path } of choices) set(expected, path, get(received, path))
      const difference = Difference.first(expected, received)
      if (difference !== undefined) return difference
      for (const { kind, path } of choices) chosen.set(keyOf(kind, get(entry.message, path)), get(raw, path))
      return undefined
    }
  }
}

const places = (message: Message.Message): ReadonlyArray<Place> => {
  const { error, method, result } = message as { method?: string; result?: Json; error?: Json }
  const place = (role: Role, kind: Place["kind"], ...path: ReadonlyArray<string>): Place => ({ role, kind, path })
  if (method === undefined) {
    return [
      place("names the other's", "id", "id"),
      place("names the other's", "id", "result", "_meta", Meta.keys.subscriptionId),
      place("chooses", "state", "result", "requestState"),
      place("chooses", "cursor", "result", "nextCursor"),
      place("chooses", undefined, "result", "serverInfo"),
      place("chooses", undefined, "result", "_meta", Meta.keys.serverInfo),
      ...Object.keys(result?.inputRequests ?? {}).map((key) =>
        place("chooses", "elicitation", "result", "inputRequests", key, "params", "elicitationId")
      ),
      ...Object.keys(error?.data?.elicitations ?? {}).map((i) =>
        place("chooses", "elicitation", "error", "data", "elicitations", i, "elicitationId")
      )
    ]
  }
  if ("id" in message) {
    return [
      place("chooses", "id", "id"),
      place("chooses", "progress", "params", "_meta", Meta.keys.progressToken),
      place("chooses", undefined, "params", "_meta", Meta.keys.clientInfo),
      place("names the other's", "state", "params", "requestState"),
      ...(method === "initialize" ? [place("chooses", undefined, "params", "clientInfo")] : []),
      ...(method === "elicitation/create" ? [place("chooses", "elicitation", "params", "elicitationId")] : []),
      ...(method.endsWith("/list") ? [place("names the other's", "cursor", "params", "cursor")] : [])
    ]
  }
  return [
    place("names the other's", "id", "params", "_meta", Meta.keys.subscriptionId),
    ...(method === "notifications/progress" ? [place("names the other's", "progress", "params", "progressToken")] : []),
    ...(method === "notifications/cancelled" ? [place("names its own", "id", "params", "requestId")] : []),
    ...(method === "notifications/elicitation/complete"
      ? [place("names its own", "elicitation", "params", "elicitationId")]
      : [])
  ]
}

const get = (message: Message.Message, path: ReadonlyArray<string>): unknown =>
  path.reduce<Json>((value, key) => value?.[key], message as unknown as Json)

const set = (message: Message.Message, path: ReadonlyArray<string>, value: unknown): void => {
  const parent = path.slice(0, -1).reduce<Json>((value, key) => value?.[key], message as unknown as Json)
  if (parent !== undefined) parent[path.at(-1)!] = value as Json
}
