/**
 * The shape of the table of deviations: a peer that does what the specification does not allow, or what implementations
 * read in two ways, and what this side does. The rows are data; `ServerUnderTest` and `ClientUnderTest` run them, and
 * `scripts/pages/deviations.mjs` makes a page of them.
 */
import type { Version } from "@effect-mcp/core/protocol/Version"

export type Over = "memory" | "stdio" | "http"

interface Row {
  /** Unique in the table. */
  readonly id: string
  readonly method: string
  /** What the peer does, in plain words. */
  readonly deviation: string
  /** What this side does. */
  readonly does: string
  /** The revision of the conversation. Default: 2025-11-25. */
  readonly version?: Version
  /** The revisions for which the row holds. Default: all up to 2025-11-25, or 2026-07-28 for a row of that revision. */
  readonly revisions?: string
  /** The transports that the row is tested over. Default: all three. */
  readonly over?: ReadonlyArray<Over>
  /** The page of the specification, below that of 2025-11-25, or of 2026-07-28 for a row of that revision. */
  readonly rule?: string
}

/** An HTTP request, where more than its body deviates. */
export interface HttpRequest {
  /** Default: POST. */
  readonly method?: string
  /** Default: the path of the endpoint. */
  readonly path?: string
  /** Replace the proper ones; `null` leaves one out. `$session` stands for the id of the session. */
  readonly headers?: Readonly<Record<string, string | null>>
}

/** A deviating client, and what a server does. */
export interface ClientRow extends Row {
  /**
   * What the client sends: a message, or a text that is written as it is. `$id` stands for a new id. At 2026-07-28 a message
   * whose parameters have no `_meta` gets the envelope, and its request the headers.
   */
  readonly message: unknown
  readonly http?: HttpRequest
  /** Whether it is the first message of the client, before `initialize`. Default: false. */
  readonly isFirst?: boolean
  /** The answer to a request of the server that the message causes. `$id` stands for its id. */
  readonly reply?: unknown
  readonly expected: {
    /** What each message of the server has, in their order. */
    readonly answers: ReadonlyArray<object>
    /** Over HTTP. Default: 200 with answers, 202 without. */
    readonly status?: number
    /** What the headers of the response have. */
    readonly headers?: Readonly<Record<string, string>>
  }
}

/** An HTTP response, where more than its body deviates. `$id` in the body stands for the id of the request. */
export interface HttpResponse {
  /** Default: 200. */
  readonly status?: number
  /** Default: JSON. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the body is compressed. Default: false. */
  readonly isGzip?: boolean
}

/** A deviating server, and what a client does. */
export interface ServerRow extends Row {
  /**
   * What the server sends when the client has called `method`: messages, or texts that are written as they are. `$id`
   * stands for the id of the call, and `$token` for its progress token.
   */
  readonly sends?: ReadonlyArray<unknown>
  /** The result of the call, in place of `sends`. */
  readonly result?: unknown
  /** Members of the result of `initialize`, or of `server/discover`; `undefined` leaves one out. */
  readonly initialize?: Readonly<Record<string, unknown>>
  /** The HTTP response to the call, in place of `sends`. */
  readonly http?: HttpResponse
  /** The HTTP response to each notification. Default: 202 without a body. */
  readonly accepts?: HttpResponse
  /** The id of the HTTP session. Default: a short one. */
  readonly session?: string
  /** Whether `sends` comes after the call has timed out. Default: false. */
  readonly isLate?: boolean
  /** What the client calls, where a notification or a request of the server deviates. Default: `method`. */
  readonly during?: string
  readonly expected: {
    /** What the value of the call has. */
    readonly value?: unknown
    /** What the error of the call has. */
    readonly fails?: {
      readonly _tag: string
      readonly reason?: string
      readonly code?: number
      readonly message?: string
    }
    /** The diagnostics that the operator gets, by tag. Default: none. */
    readonly reports?: ReadonlyArray<string>
    /** What each answer of the client to the server has. Default: none. */
    readonly replies?: ReadonlyArray<object>
    /** What the feature for logs, the stream of updates and the handler of progress have received. */
    readonly logs?: ReadonlyArray<object>
    readonly updates?: ReadonlyArray<string>
    readonly changes?: ReadonlyArray<string>
    readonly progress?: ReadonlyArray<object>
    /** Whether the session has ended afterwards. Default: false. */
    readonly ends?: boolean
  }
}
