/**
 * A weather server on stdio whose forecast has a view. Hosts that show views get it beside the result; all others get the
 * result as text.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Layer } from "effect"
import { Chart, Forecast, Later } from "./contract.js"
import { page } from "./page.js"

const celsius = (city: string, from: number) => [0, 1, 2].map((day) => (city.length * 7 + (from + day) * 5) % 23)

const ForecastLive = AppsServer.tool(
  Forecast,
  { view: Chart, html: page },
  ({ city }) => Effect.succeed({ city, celsius: celsius(city, 0) })
)

const LaterLive = AppsServer.tool(
  Later,
  { view: Chart, visibility: ["app"] },
  ({ city, from }) => Effect.succeed({ city, celsius: celsius(city, from) })
)

const Server = McpServer.layer({ name: "weather", version: "1.0.0" }, Layer.merge(ForecastLive, LaterLive), {
  extensions: [AppsServer.extension]
})

StdioServer.layer.pipe(Layer.provide(Server), Layer.launch, StdioServer.runMain)
