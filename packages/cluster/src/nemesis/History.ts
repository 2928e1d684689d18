/**
 * The types of the history of one run. Clients, nodes and the nemesis (the program that makes the faults) write the entries of the history.
 * `Checker` decides only from the history whether the server has kept its promises.
 */

/**
 * Milliseconds of the machine's monotonic clock, with fractions. All processes share this clock, and changes of the time of day do not
 * affect it.
 */
export type Time = number

/** How a call ended at its client. */
export type Outcome =
  /** The result names the call and the client that the handler has served. */
  | { readonly type: "result"; readonly echo: string; readonly served: string; readonly node: string }
  /** A JSON-RPC error. */
  | { readonly type: "error"; readonly code: number; readonly message?: string | undefined }
  /** An HTTP status of 400 or higher, which says that the server has not run the call. */
  | { readonly type: "refused"; readonly status: number }
  /** The connection was lost before the client got an event from which it could resume the stream. */
  | { readonly type: "broken" }
  /** The server has refused to resume the stream of the call, because the server has lost an event. */
  | { readonly type: "gap" }

/** A client has sent a request. `call` is unique in a run, and the handler gets it. */
export interface Called {
  readonly _tag: "Called"
  readonly at: Time
  readonly client: string
  readonly call: string
  /** The session of the client; `undefined` for a client without a session. */
  readonly session: string | undefined
}

export interface Ended {
  readonly _tag: "Ended"
  readonly at: Time
  readonly client: string
  readonly call: string
  readonly session: string | undefined
  readonly outcome: Outcome
}

/** A client has received an event of a stream that it can resume. */
export interface Received {
  readonly _tag: "Received"
  readonly at: Time
  readonly client: string
  readonly session: string
  readonly stream: string
  readonly position: number
  readonly data: string
  /** The client for which the content of the event was made; `undefined` when the content does not say this. */
  readonly madeFor: string | undefined
  /** The request of the session that the event answers. */
  readonly answers: number | undefined
}

/** A client has received a message outside of the streams that it can resume. */
export interface Seen {
  readonly _tag: "Seen"
  readonly at: Time
  readonly client: string
  readonly data: string
  readonly madeFor: string | undefined
}

/** A client has read a stream to its end or to the end of the run. The client has reconnected each time the stream was cut. */
export interface Followed {
  readonly _tag: "Followed"
  readonly at: Time
  readonly client: string
  readonly session: string
  readonly stream: string
}

/** A server has refused to resume a stream. */
export interface Unresumable {
  readonly _tag: "Unresumable"
  readonly at: Time
  readonly client: string
  readonly session: string
  readonly stream: string
  readonly position: number
  readonly status: number
}

/** A client listens to changes of resources from now on, until an entry `Deaf` with the same `listener`. */
export interface Listening {
  readonly _tag: "Listening"
  readonly at: Time
  readonly listener: string
}

export interface Heard {
  readonly _tag: "Heard"
  readonly at: Time
  readonly listener: string
  readonly uri: string
}

export interface Deaf {
  readonly _tag: "Deaf"
  readonly at: Time
  readonly listener: string
}

/** A small request that a client has sent only to measure the server (a canary). */
export interface Canary {
  readonly _tag: "Canary"
  readonly at: Time
  readonly client: string
  readonly call: string
  /** How the request ended; `undefined` when it had no answer in time. */
  readonly outcome: Outcome | undefined
}

/** The client of a session does not read its standalone stream. */
export interface Unread {
  readonly _tag: "Unread"
  readonly at: Time
  readonly session: string
}

/** A request with a wrong token was answered. */
export interface Flooded {
  readonly _tag: "Flooded"
  readonly at: Time
  readonly status: number
}

/** A handler has begun to run at a node. */
export interface Started {
  readonly _tag: "Started"
  readonly at: Time
  readonly node: string
  readonly call: string
}

/** A node serves a session from now on. */
export interface Claimed {
  readonly _tag: "Claimed"
  readonly at: Time
  readonly node: string
  readonly session: string
  readonly epoch: number
}

/** A node has written to a store on behalf of a session: an event of a stream, the beginning of a stream, or the facts of the session. */
export interface Written {
  readonly _tag: "Written"
  readonly begin: Time
  readonly at: Time
  readonly node: string
  readonly session: string
  readonly epoch: number
  /** The event; `undefined` when the node has not written an event. */
  readonly event: { readonly stream: string; readonly position: number; readonly data: string } | undefined
  /** `unknown` means that the store did not answer. So the write may have happened, or may happen later. */
  readonly answer: "stored" | "refused" | "unknown"
}

/** The store did not answer when a node began a stream. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  readonly at: Time
  readonly node: string
  readonly session: string
  readonly stream: string
}

/** A node has published that a resource has changed. */
export interface Published {
  readonly _tag: "Published"
  readonly begin: Time
  readonly at: Time
  readonly node: string
  readonly uri: string
  readonly isAcknowledged: boolean
}

/** The process of a node has ended, either with an exit code or by a signal. The other of these two members is `null`. */
export interface Exited {
  readonly _tag: "Exited"
  readonly at: Time
  readonly node: string
  readonly code: number | null
  readonly signal: string | null
}

/** The nemesis has begun a fault. `node` is `undefined` for a fault of the store, of all nodes, or of what clients send. */
export interface Fault {
  readonly _tag: "Fault"
  readonly at: Time
  readonly kind: string
  readonly node: string | undefined
}

export type Entry =
  | Called
  | Ended
  | Received
  | Seen
  | Followed
  | Unresumable
  | Listening
  | Heard
  | Deaf
  | Canary
  | Flooded
  | Unread
  | Started
  | Claimed
  | Written
  | Unanswered
  | Published
  | Exited
  | Fault

export type History = ReadonlyArray<Entry>

/** Returns the entries of one kind, in the order of their time. */
export const only = <Tag extends Entry["_tag"]>(history: History, tag: Tag): Array<Extract<Entry, { _tag: Tag }>> =>
  history.filter((entry): entry is Extract<Entry, { _tag: Tag }> => entry._tag === tag).sort((a, b) => a.at - b.at)

export const groupBy = <A>(all: ReadonlyArray<A>, key: (one: A) => string): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const name = key(one)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [one])
    else group.push(one)
  }
  return groups
}

/**
 * Returns the present time of the clock that all processes share. Node's `performance` would add the time of day at the start of each
 * process.
 */
export const now = (): Time => Number(process.hrtime.bigint()) / 1e6
