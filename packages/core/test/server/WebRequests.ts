/**
 * Requests to a web handler, in process, and what it answers.
 */
import * as Sse from "@effect-mcp/core/Sse"
import type * as WebHandler from "@effect-mcp/core/WebHandler"
import { type Context, Effect } from "effect"
import { initialize, proper } from "./http/TestExchange.js"
import { headers as modernHeaders, request as modern } from "./modern/Posting.js"

export const url = "http://localhost:3000/mcp"

export const send = (
  handler: WebHandler.Handler,
  body: unknown,
  init: RequestInit = {},
  context?: Context.Context<never>
) =>
  Effect.promise(() =>
    handler(
      new Request(url, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: { ...proper, ...init.headers } as Record<string, string>
      }),
      context
    )
  )

/** A call of a tool at 2026-07-28. */
export const callModern = (handler: WebHandler.Handler, name: string, init: RequestInit = {}, id = 1) => {
  const body = modern("tools/call", { name }, { progressToken: "t" }, id)
  return send(handler, body, { ...init, headers: { ...modernHeaders(body), ...init.headers } })
}

export const open = (handler: WebHandler.Handler) =>
  Effect.map(send(handler, initialize()), ({ headers }) => ({ "mcp-session-id": headers.get("mcp-session-id")! }))

export const json = (response: Response) => Effect.promise(() => response.json() as Promise<any>)

/** The events of a stream that is read to its end; fails when the stream ends with an error. */
export const events = (response: Response): Effect.Effect<ReadonlyArray<any>, Error> =>
  Effect.map(
    Effect.tryPromise({ try: () => response.bytes(), catch: (error) => error as Error }),
    (bytes) =>
      new Sse.Decoder().push(bytes).flatMap(({ data }: any) =>
        data === undefined || data === "" ? [] : [JSON.parse(data)]
      )
  )
