/** An `HttpContext` for tests of single modules of a legacy endpoint. */
import type { HttpOptions } from "@effect-mcp/server/HttpOptions"
import { Effect } from "effect"
import * as EndpointContext from "../../src/http/EndpointContext.js"
import * as HttpContext from "../../src/legacy/HttpContext.js"

export const makeContext = (options: HttpOptions = {}) =>
  Effect.flatMap(EndpointContext.make(options), HttpContext.make)
