/**
 * A tool for the model, the view that shows its results, and a tool that only the view calls. The server says which tool has
 * the view; `page` is its document.
 */
import * as Tool from "@effect-mcp/core/Tool"
import * as AppView from "@effect-mcp/extensions/AppView"
import { Schema } from "effect"

const Days = Schema.Struct({ city: Schema.String, celsius: Schema.Array(Schema.Int) })

export const Forecast = Tool.make("forecast", {
  description: "The temperature of the next days.",
  parameters: { city: Schema.String },
  success: Days,
  annotations: { readOnlyHint: true }
})

export const Chart = AppView.make("chart", { uri: "ui://weather/chart.html", prefersBorder: true })

export const Later = Tool.make("later", {
  description: "The days after a forecast.",
  parameters: { city: Schema.String, from: Schema.Int },
  success: Days
})
