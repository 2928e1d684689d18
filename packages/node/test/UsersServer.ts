/**
 * A server with users: everything that may require the user gives its name. `Authorization` names the user over HTTP, and the
 * variable MCP_USER on stdio.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

export class User extends Context.Tag("test/User")<User, { readonly name: string }>() {}

/** What the session layer has built for the user. */
class Home extends Context.Tag("test/Home")<Home, string>() {}

/** What the middleware has made for the user. */
class Badge extends Context.Tag("test/Badge")<Badge, string>() {}

const name = Effect.map(User, ({ name }) => name)

export const challenge = HttpRefusal.challenge("Bearer", { resource_metadata: "https://mcp.example.com/metadata" })

export const authenticator = Authenticator.make(User, {
  id: ({ name }) => name,
  http: ({ headers: { authorization } }) =>
    authorization === undefined
      ? Effect.fail(HttpRefusal.unauthorized(challenge))
      : Effect.succeed({ name: authorization.replace("Bearer ", "") }),
  stdio: ({ MCP_USER }) =>
    MCP_USER === undefined
      ? Effect.fail(new InvalidRequest({ message: "This server needs the variable MCP_USER" }))
      : Effect.succeed({ name: MCP_USER })
})

export const features = Layer.mergeAll(
  McpServer.tool(
    Tool.make("who"),
    () =>
      Effect.map(
        Effect.all([name, Home, Badge, Effect.map(RequestContext, ({ principal }) => principal?.id ?? "nobody")]),
        (all) => all.join(" ")
      )
  ),
  McpServer.tool(
    Tool.make("admin"),
    () =>
      Effect.flatMap(name, (name) =>
        name === "admin" ? Effect.succeed("done") : Effect.fail(HttpRefusal.forbidden(
          "Forbidden: the token lacks the scope admin",
          HttpRefusal.challenge("Bearer", { error: "insufficient_scope", scope: "admin" })
        )))
  ),
  McpServer.resource(Resource.make("me", { uri: "users://me" }), name),
  McpServer.resourceTemplate(
    ResourceTemplate.make("note")`notes://${ResourceTemplate.param("id", Schema.String)}`,
    ({ id }) => Effect.map(name, (name) => `${id} of ${name}`),
    { complete: { id: (value) => Effect.map(name, (name) => [`${value}-${name}`]) } }
  ),
  McpServer.prompt(Prompt.make("greet"), () => Effect.map(name, (name) => `Greet ${name}.`))
)

export const options = {
  authenticator,
  session: Layer.effect(Home, Effect.map(name, (name) => `home of ${name}`)),
  middleware: Middleware.provide(Badge, () => Effect.map(name, (name) => `badge of ${name}`))
}

export const Server = McpServer.layer({ name: "users", version: "1.0.0" }, features, options)
