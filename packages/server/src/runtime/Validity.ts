/**
 * The place for what `Authenticator.validFor` says, which `Authentication` provides to each search for the user of an HTTP request.
 */
import * as Context from "effect/Context"

/** In milliseconds; there is no place outside of HTTP. */
export class Validity extends Context.Reference<Validity>()("@effect-mcp/server/Authenticator/Validity", {
  defaultValue: (): { life: number; recheckAfter: number } | undefined => undefined
}) {}
