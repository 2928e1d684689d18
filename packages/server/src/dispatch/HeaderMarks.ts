/**
 * Refuses a tool whose marks for HTTP headers (`x-mcp-header`) are not valid: clients from 2026-07-28 on would leave it out
 * of their list over HTTP. The rules are in `modern/ParamHeaders` of `@effect-mcp/protocol`.
 */
import * as ParamHeaders from "@effect-mcp/protocol/modern/ParamHeaders"
import type { Tool } from "@effect-mcp/protocol/Tools"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

/** Dies with the reason when a mark is not valid. */
export const check = ({ inputSchema, name }: Tool): Effect.Effect<void> =>
  Either.match(ParamHeaders.of(inputSchema), {
    onLeft: (why) => Effect.dieMessage(`The tool "${name}" cannot be registered: ${why} (x-mcp-header)`),
    onRight: () => Effect.void
  })
