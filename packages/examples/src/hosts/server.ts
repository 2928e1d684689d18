/**
 * The server that every host of this folder mounts: the restaurant of the example `worker`, and a tool that welcomes the user.
 * Each host finds the user in its own way and hands it over with the request; the compiler demands it.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Features } from "../worker/features.js"

export class User extends Context.Tag("examples/hosts/User")<User, { readonly name: string }>() {}

/** The user whom a header names: a host that is not an example would check it. */
export const userOf = (header: string | ReadonlyArray<string> | undefined) =>
  Context.make(User, { name: String(header ?? "a guest") })

const Welcome = Tool.make("welcome", { description: "Welcomes the user." })

const WelcomeLive = McpServer.tool(Welcome, () => Effect.map(User, ({ name }) => `Welcome, ${name}!`))

export const Server = McpServer.layer(
  { name: "restaurant", version: "1.0.0" },
  Layer.merge(Features, WelcomeLive),
  { authenticator: Authenticator.make(User, { id: ({ name }) => name }) }
)
