/**
 * A server as a function of a cloud, as on AWS Lambda: one event in, one response out, and nothing is kept in between. An event has one
 * message, as a queue or an invocation carries it, and the user whom the platform has found.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Dispatcher from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import * as Tool from "@effect-mcp/core/Tool"
import { Chunk, Console, Context, Effect, ManagedRuntime, Schema, Stream } from "effect"

class User extends Context.Tag("lambda/User")<User, { readonly name: string }>() {}

const Forecast = Tool.make("forecast", { parameters: { city: Schema.String }, success: Schema.String })

const ForecastLive = McpServer.tool(Forecast, ({ city }) =>
  Effect.gen(function*() {
    const { progress } = yield* RequestContext.RequestContext
    const { name } = yield* User
    yield* progress(1, { total: 2, message: `looking for ${city}` })
    if (city === "Atlantis") {
      yield* Effect.onInterrupt(Effect.never, () => Console.log("  the function stops looking for Atlantis"))
    }
    yield* progress(2, { total: 2, message: "it is there" })
    return `rain in ${city}, ${name}`
  }))

// The platform has authenticated the users: `id` is all that the server needs.
const Server = McpServer.layer({ name: "forecasts", version: "1.0.0" }, ForecastLive, {
  authenticator: Authenticator.make(User, { id: ({ name }) => name })
})

/** Built for the first event, and used for the next ones while the platform keeps the process. */
const runtime = ManagedRuntime.make(Server)

export interface Event {
  readonly user: string
  readonly message: string
}

export interface Response {
  /** What is sent to the client, the answer last; empty for a notification. */
  readonly messages: ReadonlyArray<string>
}

/** Serves one event. A platform that knows that the client has gone aborts the signal, which interrupts the request. */
export const handler = ({ message, user }: Event, signal?: AbortSignal): Promise<Response> =>
  Dispatcher.Dispatcher.pipe(
    Effect.flatMap(({ serve }) =>
      Stream.runCollect(
        serve(MessageText.parse(message), Authenticator.given(Context.make(User, { name: user })))
      )
    ),
    Effect.map((messages) => ({
      messages: Chunk.toReadonlyArray(messages).flatMap((one) => MessageText.stringify(one) ?? [])
    })),
    (response) => runtime.runPromise(response, signal && { signal })
  )
