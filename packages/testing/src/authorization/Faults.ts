/**
 * Spoils the responses of the test authorization server as a test wants it. It knows no endpoint: it changes the issuer that a
 * document or a redirect names, and the body of a document.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Fault } from "../AuthorizationServerOptions.js"

/** The connection breaks before there is a response. */
export class Dropped extends Data.TaggedError("Dropped") {
  override readonly message = "The fault `isDropped` has broken the connection"
}

export const apply = (
  fault: Fault | undefined,
  answer: Effect.Effect<Response>
): Effect.Effect<Response, Dropped> =>
  Effect.gen(function*() {
    if (fault === undefined) return yield* answer
    if (fault.delay !== undefined) yield* Effect.sleep(fault.delay)
    if (fault.isDropped === true) return yield* new Dropped()
    const response = fault.response ??
      (fault.status === undefined ? yield* answer : new Response("{}", { status: fault.status }))
    const named = fault.issuer === undefined ? response : yield* renamed(response, fault.issuer)
    return fault.body === undefined ? named : yield* spoiled(named, fault.body)
  })

const textOf = (response: Response) => Effect.promise(() => response.text())

const withBody = ({ headers, status }: Response, body: ReadableStream | string) =>
  new Response(body, { status, headers })

const renamed = (response: Response, issuer: string): Effect.Effect<Response> => {
  const location = response.headers.get("location")
  if (location !== null) {
    const url = new URL(location)
    url.searchParams.set("iss", issuer)
    const headers = new Headers(response.headers)
    headers.set("location", url.href)
    return Effect.succeed(new Response(null, { status: response.status, headers }))
  }
  return Effect.map(
    textOf(response),
    (text) => withBody(response, text.replace(/"issuer":"[^"]*"/, `"issuer":${JSON.stringify(issuer)}`))
  )
}

const spoiled = (response: Response, how: NonNullable<Fault["body"]>): Effect.Effect<Response> =>
  Effect.map(textOf(response), (text) => withBody(response, how === "malformed" ? text.slice(0, -1) : endless(text)))

/** A document whose last member goes on as long as the client reads. */
const endless = (text: string): ReadableStream => {
  const encoder = new TextEncoder()
  const more = encoder.encode("x".repeat(16 * 1024))
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${text.slice(0, -1)},"more":"`)),
    pull: (controller) => controller.enqueue(more)
  })
}
