/** An `HttpContext` for tests of single modules of a legacy endpoint. */
import * as Version from "@effect-mcp/core/protocol/Version"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Effect } from "effect"
import * as EndpointContext from "../../../src/server/http/EndpointContext.js"
import * as HttpContext from "../../../src/server/legacy/HttpContext.js"
import * as Entrances from "../Entrances.js"

export const makeContext = (options: HttpOptions = {}) =>
  Effect.flatMap(Entrances.entrances, ({ open, versions }) =>
    Effect.flatMap(
      EndpointContext.make(options),
      (context) => HttpContext.make(context, versions.filter(Version.isLegacy), open)
    ))
