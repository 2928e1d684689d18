import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Schema } from "effect"

export class UnknownCity extends Schema.TaggedError<UnknownCity>()("UnknownCity", { city: Schema.String }) {
  // A model reads this sentence.
  override get message(): string {
    return `There is no forecast for ${this.city}. Oslo and Rome have one.`
  }
}

export const Forecast = Tool.make("forecast", {
  description: "Tomorrow's temperature in a city, in degrees Celsius.",
  parameters: { city: Schema.String },
  success: Schema.Struct({ celsius: Schema.Number }),
  failure: UnknownCity
})

const temperatures: Readonly<Record<string, number>> = { Oslo: -4, Rome: 17 }

const ForecastLive = McpServer.tool(Forecast, ({ city }) => {
  const celsius = temperatures[city]
  return celsius === undefined ? Effect.fail(new UnknownCity({ city })) : Effect.succeed({ celsius })
})

export const Server = McpServer.layer({ name: "__NAME__", version: "0.1.0" }, ForecastLive)
